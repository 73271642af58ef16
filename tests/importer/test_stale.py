"""A module is never that of other files: what its includes were found in, and where its own path leads."""
from __future__ import annotations

import importlib
import pickle
import subprocess
import sys

import pytest
from scipy import stats

import stanimport
from stanimport.compile import compile_package

PROGRAM = "functions {\n#include f.stan\n}\ntransformed data { real y = f(1); }\nparameters { real x; }\nmodel { }\n"
CACHED = pytest.mark.parametrize("cached", [True, False], ids=["cached", "not cached"])


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def write(folder, factor: int, name: str = "f.stan"):
    """An include file whose function multiplies by a factor."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(f"real f(real x) {{ return {factor} * x; }}\n")
    return folder


def program(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "m.stan").write_text(PROGRAM)
    return folder / "m.stan"


def factor(path, *include_paths) -> float:
    """What the program computes in this process."""
    module = stanimport.load(path, include_paths=include_paths)
    return float(module.transformed_data()["y"])


def in_new_process(path, *include_paths, cwd=None) -> float:
    code = (
        f"import stanimport; m = stanimport.load({str(path)!r}, include_paths={[str(p) for p in include_paths]!r});"
        "print(m.transformed_data()['y'])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return float(done.stdout)


def forget(cached: bool) -> None:
    """With an empty memory the translation comes from the disk."""
    if cached:
        stanimport.api._loaded.clear()


@CACHED
def test_an_include_that_appears_in_an_earlier_folder(tmp_path, cached):
    path, late = program(tmp_path), write(tmp_path / "late", 2)
    early = tmp_path / "early"
    early.mkdir()
    assert factor(path, early, late) == 2
    write(early, 3)
    forget(cached)
    assert factor(path, early, late) == 3
    (early / "f.stan").unlink()
    forget(cached)
    assert factor(path, early, late) == 2


@CACHED
def test_only_an_included_file_changes(tmp_path, cached):
    path = program(write(tmp_path / "here", 2))
    first = stanimport.load(path)
    assert stanimport.load(path) is first
    write(tmp_path / "here", 5)
    forget(cached)
    assert factor(path) == 5
    assert float(first.transformed_data()["y"]) == 2  # a module that is in use stays what it was


@CACHED
def test_an_include_of_an_include(tmp_path, cached):
    path = program(tmp_path)
    (tmp_path / "f.stan").write_text("#include g.stan\n")
    write(tmp_path, 2, "g.stan")
    assert factor(path) == 2
    write(tmp_path, 7, "g.stan")
    forget(cached)
    assert factor(path) == 7


@CACHED
def test_an_include_that_is_gone_is_an_error(tmp_path, cached):
    path = program(write(tmp_path, 2))
    assert factor(path) == 2
    (tmp_path / "f.stan").unlink()
    forget(cached)
    with pytest.raises(stanimport.StanSyntaxError, match="no file 'f.stan'"):
        stanimport.load(path)


@CACHED
def test_a_link_that_leads_elsewhere(tmp_path, cached):
    path = program(tmp_path)
    write(tmp_path, 2, "two.stan"), write(tmp_path, 3, "three.stan")
    try:
        (tmp_path / "f.stan").symlink_to("two.stan")
    except OSError:
        pytest.skip("no symbolic links here")
    assert factor(path) == 2
    (tmp_path / "f.stan").unlink()
    (tmp_path / "f.stan").symlink_to("three.stan")
    forget(cached)
    assert factor(path) == 3


@CACHED
def test_relative_include_paths_are_those_of_the_working_folder(tmp_path, monkeypatch, cached):
    path = program(tmp_path / "program")
    write(tmp_path / "one" / "inc", 2), write(tmp_path / "other" / "inc", 3)
    monkeypatch.chdir(tmp_path / "one")
    assert factor(path, "inc") == 2
    monkeypatch.chdir(tmp_path / "other")
    forget(cached)
    assert factor(path, "inc") == 3


def test_configured_include_paths_are_those_of_the_folder_they_were_given_in(tmp_path, monkeypatch):
    path = program(tmp_path / "program")
    write(tmp_path / "one" / "inc", 2), write(tmp_path / "other" / "inc", 3)
    monkeypatch.chdir(tmp_path / "one")
    stanimport.configure(include_paths="inc")
    try:
        monkeypatch.chdir(tmp_path / "other")
        assert factor(path) == 2
    finally:
        stanimport.configure(include_paths=None)


@CACHED
def test_the_same_relative_path_in_another_folder(tmp_path, monkeypatch, cached):
    """The same text; what it includes differs."""
    for name, number in (("one", 2), ("other", 3)):
        program(write(tmp_path / name, number))
    monkeypatch.chdir(tmp_path / "one")
    first = stanimport.load("m.stan")
    assert float(first.transformed_data()["y"]) == 2
    monkeypatch.chdir(tmp_path / "other")
    forget(cached)
    assert factor("m.stan") == 3
    assert first.stan.filename == str(tmp_path / "one" / "m.stan")
    again = pickle.loads(pickle.dumps(first.transformed_data))
    assert float(again()["y"]) == 2


def test_a_module_found_on_a_relative_path_stays_the_same(tmp_path, monkeypatch):
    program(write(tmp_path / "one" / "stale_models", 2))
    program(write(tmp_path / "other" / "stale_models", 3))
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setattr(sys, "path", ["stale_models", *sys.path])
    module = importlib.import_module("m")
    try:
        monkeypatch.chdir(tmp_path / "other")
        assert module.__loader__.get_filename("m") == str(tmp_path / "one" / "stale_models" / "m.stan")
        assert float(module.transformed_data()["y"]) == 2
    finally:
        sys.modules.pop("m", None)


def test_what_another_process_cached(tmp_path):
    """The cache on disk, read by processes that share nothing else."""
    path, late, early = program(tmp_path / "p"), write(tmp_path / "late", 2), tmp_path / "early"
    early.mkdir()
    assert in_new_process(path, early, late) == 2
    write(early, 3)
    assert in_new_process(path, early, late) == 3


@CACHED
def test_a_shipped_translation_notices_an_include_in_an_earlier_folder(tmp_path, monkeypatch, cached):
    monkeypatch.setenv("STANIMPORT_TRUSTED_FOLDERS", str(tmp_path))
    path, early = program(write(tmp_path / "package", 2)), tmp_path / "early"
    early.mkdir()
    compile_package(tmp_path / "package")
    folders = early, tmp_path / "package"
    assert factor(path, *folders) == 2
    write(early, 3)
    forget(cached)
    assert factor(path, *folders) == 3


def test_an_include_that_changes_while_it_is_translated(tmp_path, monkeypatch):
    """What is cached is known by the text that was read, not by the one that is there afterwards."""
    from stanimport import pipeline

    path, original = program(write(tmp_path, 2)), pipeline.translate

    def translate(*arguments):
        made = original(*arguments)
        write(tmp_path, 3)
        return made

    monkeypatch.setattr(pipeline, "translate", translate)
    assert factor(path) == 2
    monkeypatch.setattr(pipeline, "translate", original)
    forget(cached=True)
    assert factor(path) == 3


def test_threads_get_one_module(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    path = program(write(tmp_path, 2))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: stanimport.load(path), range(16)))
    assert all(float(m.transformed_data()["y"]) == 2 for m in found)
    assert len({id(m) for m in found}) == 1


ROWS = "data { int N; vector[N] y; vector[N] w; } parameters { real x; } model { y ~ normal(x, 1); target += %s; }\n"


def scaled(module, data, x: float, totals: int) -> float:
    """The density of a batch, of so many rows in all."""
    from numpyro.infer.util import log_density

    return float(log_density(module.model.minibatch(N=totals), (), module.transformed_data(**data), {"x": x})[0])


@pytest.mark.parametrize("now", ["-2 * x", "-x * sum(y[2:])", "not a program", None])
def test_edited_programs_of_imported_modules(tmp_path, monkeypatch, x64, now):
    """What a module is asked of its program is that of the text that it was made from, in closed form."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "rows_that_are_edited.stan"
    path.write_text(ROWS % "-x * sum(w)")
    module = importlib.import_module(path.stem)
    del sys.modules[path.stem]
    path.unlink() if now is None else path.write_text(ROWS % now)
    data = {"N": 2, "y": [1.0, 2.0], "w": [0.3, 0.4]}
    expected = 50 * (stats.norm.logpdf(data["y"], 0.5).sum() - 0.5 * 0.7)
    assert scaled(module, data, 0.5, 100) == pytest.approx(expected, rel=1e-12)
    assert [o.data for o in module.model.observations().unobserved] == [("w",)]
    assert module.model.computed_from("y") == frozenset() and module.model.undrawn().keys() == {"N", "w"}


def test_a_reloaded_module_has_nothing_of_its_text_before(tmp_path, monkeypatch, x64):
    """A guide that is gone is not what fits: independent normal laws are, whose mean is that of the posterior."""
    monkeypatch.syspath_prepend(str(tmp_path))
    path = tmp_path / "guide_that_goes.stan"
    text = "parameters { real x; } model { x ~ normal(4, 1); }"
    path.write_text(text + " guide parameters { real q; } guide { x ~ normal(q - q - 50, 1); }")
    module = importlib.import_module(path.stem)
    monkeypatch.setitem(sys.modules, path.stem, module)
    module.mine = "kept"
    assert callable(module.guide)
    path.write_text(text)
    assert importlib.reload(module) is module and not hasattr(module, "guide") and module.mine == "kept"
    fit = stanimport.variational(module, iter=3000, seed=1, require_converged=False, show_progress=False)
    assert fit.stan_variable("x").mean() == pytest.approx(4, abs=0.3)
    path.write_text(text + " guide { x ~ normal(1, 1); }")
    assert importlib.reload(module).guide.__module__ == path.stem


def test_edited_includes_of_loaded_modules(tmp_path, x64):
    text = ROWS.replace("target += %s;", "\n#include term.stan\n")
    (tmp_path / "term.stan").write_text("target += -x * sum(w);")
    made = [stanimport.loads(text, include_paths=[tmp_path]), stanimport.load(write_rows(tmp_path, text))]
    (tmp_path / "term.stan").write_text("target += -x * 2;")
    data = {"N": 2, "y": [1.0, 2.0], "w": [0.3, 0.4]}
    expected = 50 * (stats.norm.logpdf(data["y"], 0.5).sum() - 0.5 * 0.7)
    assert [scaled(m, data, 0.5, 100) for m in made] == pytest.approx([expected] * 2, rel=1e-12)


def write_rows(folder, text):
    (folder / "rows.stan").write_text(text)
    return folder / "rows.stan"


@CACHED
@pytest.mark.parametrize("now", ["return 7 * x;", "return not;", None])
def test_modules_that_travel_have_what_they_included(tmp_path, cached, now):
    """Edited, broken or gone: the module that arrives is that which was sent."""
    path = program(tmp_path)
    write(tmp_path, 3)
    made = [stanimport.load(path), stanimport.loads(PROGRAM, include_paths=[tmp_path])]
    sent = pickle.dumps(made)
    assert all(m is n for m, n in zip(pickle.loads(sent), made))
    if now is None:
        (tmp_path / "f.stan").unlink()
    else:
        (tmp_path / "f.stan").write_text(f"real f(real x) {{ {now} }}\n")
    forget(cached)
    code = "import pickle, sys; print(*[m.transformed_data()['y'] for m in pickle.load(sys.stdin.buffer)])"
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, timeout=120)
    assert done.stdout.split() == [b"3.0", b"3.0"], done.stderr
    assert [float(m.transformed_data()["y"]) for m in pickle.loads(sent)] == [3, 3]
