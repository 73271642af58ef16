"""What does not converge says so in few lines: as an error of this package, in Python and in the shell."""
import os
import subprocess
import sys

import compilation
import pytest

import stanimport
from stanimport.errors import StanError
from stanimport.inference import ConvergenceError

PROGRAM = "parameters { real x; } model { x ~ normal(0, 1000); }"
CALLS = {
    "optimize": dict(iter=1, inits={"x": 900.0}, algorithm="bfgs"),
    "advi": dict(iter=50, eta=0.1, adapt_engaged=False, draws=10),
}


@pytest.mark.parametrize("method", CALLS)
def test_the_error_shows_no_lines_of_the_package(method):
    module = stanimport.loads(PROGRAM, name="wide")
    with pytest.raises(ConvergenceError, match="converge") as caught:
        getattr(stanimport.inference, method)(module, seed=1, **CALLS[method])
    assert isinstance(caught.value, StanError) and isinstance(caught.value, RuntimeError)
    assert len([e for e in caught.traceback if not e.ishidden(caught)]) == 1


def test_the_shell_prints_one_line(tmp_path):
    (tmp_path / "wide.stan").write_text(PROGRAM)
    (tmp_path / "inits.json").write_text('{"x": 900.0}')
    run = [sys.executable, "-m", "stanimport", "optimize", str(tmp_path / "wide.stan"), "--iter", "1", "--inits",
           str(tmp_path / "inits.json"), "--algorithm", "bfgs"]  # fmt: skip
    made = subprocess.run(run, capture_output=True, text=True, env=compilation.quickly(os.environ))
    assert made.returncode == 1 and made.stderr.count("\n") == 1 and "did not converge in 1 iterations: " in made.stderr
