"""What a run tells of itself: in a terminal, in a notebook's cell, and where its output is kept."""
import io
import sys
import time

import numpy as np
import pytest

import stanimport
from stanimport.inference.running import progress as bars
from stanimport.inference.samplers import display
from stanimport.inference.samplers.control import ChainProgress, Control
from stanimport.inference.samplers.tracks import Settings, Track

PROGRAM = "parameters { real x; } model { x ~ std_normal(); }"
FEW = {"chains": 2, "iter_warmup": 200, "iter_sampling": 20, "seed": 1, "show_progress": True}


class Screen(io.StringIO):
    """A terminal that keeps what it was told."""

    def isatty(self):
        return True


@pytest.fixture(scope="module")
def module():
    return stanimport.loads(PROGRAM, name="progress")


@pytest.fixture
def shown(monkeypatch):
    """What a notebook's cell showed: (whether it is new, its text)."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.displaypub import DisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell

    found = []

    class Publisher(DisplayPublisher):
        def publish(self, data, metadata=None, *, transient=None, update=False, **_):
            found.append((not update, data["text/plain"], transient["display_id"]))

    shell = InteractiveShell.instance(display_pub_class=Publisher)
    shell.kernel = object()  # as ipykernel's shell has
    yield found
    InteractiveShell.clear_instance()


def test_the_table_shows_every_chain(monkeypatch):
    control, settings = Control(), Settings(iter_warmup=100, iter_sampling=100)
    numbers = {"divergent__": np.array([True, False]), "stepsize__": np.array([0.5, 0.25]),
               "n_leapfrog__": np.array([3, 4]), "point": np.zeros((2, 1))}  # fmt: skip
    one, several = Track(settings, 0), Track(settings, 3)
    one.done = 99
    one.add(numbers, 2)  # the first of warm-up, where it diverged
    one.times[:] = [8.0, 2.1]
    control.tracks = [one, several]
    assert control.progress() == [
        ChainProgress((1,), "sampling", 101, 200, 0, 0.25, 3.5, pytest.approx(99 * 10.1 / 101)),
        ChainProgress((2, 3, 4), "waiting", 0, 200, 0, 0.0, 0.0, None),
    ]
    assert display.cells(control.progress()[0]) == ("1", "101/200 sampling", "0", "0.25", "3.5", "0:00:10")
    assert display.cells(control.progress()[1]) == ("2-4", "0/200 waiting", "0", "", "", "")
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with display.Table(control) as table:
        table._live.console.print(display._table(control))
    assert "101/200 sampling" in sys.stderr.getvalue()


def test_a_terminal_has_a_table_that_vanishes(module, monkeypatch):
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setenv("TERM", "xterm")
    stanimport.sample(module, **FEW)
    written = sys.stderr.getvalue()
    assert "step size" in written and written.rstrip().endswith("\x1b[2K")  # the last line is cleared


def test_without_rich_a_terminal_has_a_bar(monkeypatch):
    monkeypatch.setattr(display.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "stderr", Screen())
    with display.shown(Control(), 10, True) as progress:
        progress.advance(5, "warm-up")
    assert "warm-up:  50%" in sys.stderr.getvalue() and "\n" not in sys.stderr.getvalue()


@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["sample", "variational"])
def test_a_log_of_a_short_run_is_empty(module, capsys, method):
    few = FEW if method == "sample" else {"iter": 200, "seed": 1, "show_progress": True, "khat": False}
    getattr(stanimport.inference, method)(module, **few)
    assert capsys.readouterr().err == ""


def test_a_log_of_a_long_run_has_lines(capsys, monkeypatch):
    monkeypatch.setattr(bars, "SECONDS", 0.05)
    with display.shown(Control(), 40, True) as progress:
        for _ in range(4):
            time.sleep(0.06)
            progress.advance(10, "warm-up")
    text = capsys.readouterr().err
    lines = text.splitlines()
    assert lines[0].startswith("warm-up: 25%, 10 of 40, ") and lines[-1].startswith("warm-up: 100%, 40 of 40, ")
    assert len(lines) == 4 and not {"\r", "\x1b"} & set(text)


@pytest.mark.parametrize("rich", [True, False])
def test_a_cell_keeps_the_last_state(module, shown, capsys, monkeypatch, rich):
    if not rich:
        monkeypatch.setattr(display.importlib.util, "find_spec", lambda name: None)
    stanimport.sample(module, **FEW)
    new, texts, places = zip(*shown)
    assert new[0] and not any(new[1:]) and len(set(places)) == 1
    assert texts[-1].count("220/220 done") == 2 if rich else "100%" in texts[-1] and "440/440" in texts[-1]
    assert capsys.readouterr().err == ""


def test_step_sizes_are_told_all_through_warm_up():
    track = Track(Settings(iter_warmup=100, iter_sampling=100), 0)
    for step_size in (0.5, 0.25, 0.125):
        track.add({"divergent__": np.array([True, True]), "stepsize__": np.full(2, step_size),
                   "n_leapfrog__": np.array([3, 4]), "point": np.zeros((2, 1))}, 2)  # fmt: skip
        assert (track.tally.step_size, track.tally.leapfrog_steps, track.tally.divergences) == (step_size, 3.5, 0)


def test_a_cell_changes_while_chains_run(shown, monkeypatch):
    monkeypatch.setattr(display, "REFRESH", 0.01)
    control, settings = Control(), Settings(iter_warmup=100, iter_sampling=100)
    with display.shown(control, 400, True):
        assert not shown  # there are no chains yet
        control.tracks = [Track(settings, 0)]
        until = time.monotonic() + 10
        while not shown and time.monotonic() < until:
            time.sleep(0.01)
        control.tracks[0].done = 150
    assert "0/200 waiting" in shown[0][1] and "150/200 sampling" in shown[-1][1]


def test_ipython_in_a_terminal_is_no_notebook(shown, module, capsys):
    from IPython import get_ipython

    del get_ipython().kernel
    stanimport.sample(module, **FEW)
    assert not shown and capsys.readouterr().err == ""


def test_an_optimization_shows_its_steps(module, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    mode = stanimport.optimize(module, inits={"x": 3.0}, seed=1, iter=50, show_progress=True)
    lines = screen.getvalue().split("\r")
    assert any("log density" in t and f"{mode.info['iterations']}/50" in t for t in lines)


@pytest.mark.slow
def test_paths_are_counted(module, monkeypatch):
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    stanimport.pathfinder(module, num_paths=3, draws=10, num_single_draws=20, seed=1, show_progress=True)
    assert any("3/3" in t and "path" in t for t in screen.getvalue().split("\r"))


class _Unread(io.StringIO):
    """A pipe that nobody reads any more."""

    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("stream", [None, _Unread()], ids=["none", "unread"])
def test_a_run_goes_on_where_nobody_can_be_told(module, monkeypatch, stream):
    """The standard error of a process in the background may be none, or closed at its other end."""
    monkeypatch.setattr(bars, "SECONDS", 0.0)
    told = stanimport.sample(module, **FEW)
    monkeypatch.setattr(sys, "stderr", stream)
    untold = stanimport.sample(module, **FEW)
    assert (untold.stan_variable("x") == told.stan_variable("x")).all()
