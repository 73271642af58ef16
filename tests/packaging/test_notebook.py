"""The cell magic `%%stan`, in IPython's own shell."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = "parameters { real<lower=0> x; }\nmodel { x ~ exponential(2); }\ngenerated quantities { real y = 2 * x; }\n"


@pytest.fixture
def shell():
    pytest.importorskip("IPython", reason="IPython is not installed")
    from IPython.core.interactiveshell import InteractiveShell

    made = InteractiveShell()
    made.run_line_magic("load_ext", "stanimport")
    yield made
    InteractiveShell.clear_instance()


def test_a_cell_becomes_a_module(shell):
    assert shell.run_cell(f"%%stan waiting\n{PROGRAM}").success
    assert shell.run_cell("result = waiting.generated_quantities(x=0.25)").success
    assert shell.user_ns["result"] == {"y": 0.5}
    assert shell.user_ns["waiting"].stan.name == "waiting"


def test_options(shell, capsys):
    result = shell.run_cell(f"%%stan waiting --backend pyro --show\n{PROGRAM}")
    assert result.success
    assert shell.user_ns["waiting"].stan.backend == "pyro"
    assert "backend('pyro'" in capsys.readouterr().out


def test_a_wrong_program_names_its_line(shell, capsys):
    result = shell.run_cell("%%stan wrong\nparameters { real x; }\nmodel { y ~ normal(0, 1); }\n")
    assert type(result.error_in_exec).__name__ == "StanSemanticError"
    assert result.error_in_exec.lineno == 2
    assert "y ~ normal(0, 1)" in capsys.readouterr().out
    assert "wrong" not in shell.user_ns


@pytest.mark.parametrize("name", ["two-words", "1st", "lambda"])
def test_a_name_that_python_refuses(shell, name):
    assert isinstance(shell.run_cell(f"%%stan {name}\n{PROGRAM}").error_in_exec, ValueError)


def test_a_changed_cell_replaces_the_module(shell):
    shell.run_cell(f"%%stan waiting\n{PROGRAM}")
    shell.run_cell(f"%%stan waiting\n{PROGRAM.replace('2 * x', '3 * x')}")
    shell.run_cell("result = waiting.generated_quantities(x=1.0)['y']")
    assert shell.user_ns["result"] == 3.0


def test_autoreload(shell, tmp_path, monkeypatch):
    """An edited program, or a file that it includes, is loaded anew before the next cell; a wrong one is told."""
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "part.stan").write_text("real half(real x) { return x / 2; }\n")
    program = "functions {\n#include part.stan\n}\ngenerated quantities { real y = half(3); }\n"
    (tmp_path / "edited_often.stan").write_text(program)
    shell.run_line_magic("load_ext", "autoreload")
    shell.run_line_magic("autoreload", "2")

    def value():
        shell.run_cell("import edited_often; y = float(edited_often.generated_quantities()['y'])").raise_error()
        return shell.user_ns["y"]

    try:
        assert value() == 1.5
        (tmp_path / "edited_often.stan").write_text(program.replace("half(3)", "half(5)"))
        assert value() == 2.5
        (tmp_path / "part.stan").write_text("real half(real x) { return x / 2 + 1; }\n")
        assert value() == 3.5
        (tmp_path / "edited_often.stan").write_text(program.replace("half(3)", "hlf(5)"))
        assert value() == 3.5  # as it was
        (tmp_path / "edited_often.stan").write_text(program.replace("half(3)", "half(7)"))
        assert value() == 4.5
        shell.run_line_magic("autoreload", "0")
        (tmp_path / "edited_often.stan").write_text(program)
        assert value() == 4.5
    finally:
        shell.run_line_magic("autoreload", "0")
        sys.modules.pop("edited_often", None)


def test_autoreload_needs_no_extension(tmp_path):
    """In a shell of its own, since that of these tests has the extension."""
    pytest.importorskip("IPython", reason="IPython is not installed")
    (tmp_path / "session.py").write_text("""
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
program = Path("edited.stan")
program.write_text("generated quantities { real y = 1.5; }")
shell.run_cell("%load_ext autoreload\\n%autoreload 2").raise_error()
shell.run_cell("import sys; sys.path.insert(0, ''); import stanimport, edited").raise_error()
program.write_text("generated quantities { real y = 20.5; }")
shell.run_cell("print(edited.generated_quantities()['y'])").raise_error()
""")
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "IPYTHONDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "session.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "20.5", done.stdout + done.stderr
