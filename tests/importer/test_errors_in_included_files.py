"""Errors while running tell the line of the included file in which they arose, and where it was included."""
import traceback

import numpy as np
import pytest

import stanimport
from stanimport.inference.failures import InitialValueError
from stanlib.errors import StanError

PROGRAM = """functions {
#include first.stan
  // another line
#include second.stan
}
data { int n; vector[2] y; real top; }
transformed data { real chosen = second(y, n); }
parameters { real<upper=top> x; }
model {
  #include prior.stan
  y ~ normal(x, 1);
}
generated quantities { real z = first(y, n); real w = second(y, n); }
"""
FILES = {
    "first.stan": "// an index\nreal first(vector y, int n) {\n  return sum(y) +\n    y[n];\n}\n",
    "second.stan": "real second(vector y, int n) {\n#include deep.stan\n}",
    "deep.stan": "if (n > 1)\r\n  reject(\"n is \", n); /* \N{LINE SEPARATOR} \x0c */\r\nreturn first(y, n);",
    "prior.stan": "  x ~\n    beta(1, 1);\n",
}


@pytest.fixture(params=["numpyro", "pyro"])
def module(request, tmp_path):
    if request.param == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    (tmp_path / "program.stan").write_text(PROGRAM)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, newline="")
    return stanimport.load(tmp_path / "program.stan", backend=request.param)


@pytest.mark.parametrize(
    "n, name, line, column, text, included",
    [(0, "first.stan", 4, 5, "y[n]", 2), (2, "deep.stan", 2, 3, 'reject("n is ", n);', 4)],
)
def test_the_innermost_line_is_told_with_the_directive(module, n, name, line, column, text, included):
    with pytest.raises(StanError) as caught:
        module.transformed_data(n=n, y=np.ones(2), top=2.0)
    place = caught.value.place
    assert (place.filename, place.line, place.column, place.text) == (name, line, column, text)
    assert (place.in_main.filename, place.in_main.line) == (module.stan.filename, included)
    assert place.in_main.text == f"#include {'first' if n == 0 else 'second'}.stan"
    where = f"in `{text}`, {name}, line {line}, column {column}, included from {module.stan.filename}, line {included}"
    assert str(caught.value).endswith(where)


@pytest.mark.sampled(2)
def test_why_a_chain_can_not_start_is_told_at_the_included_statement(module):
    data = {"n": 1, "y": [0.5, 1.0], "top": -1.0}
    with pytest.raises(InitialValueError) as caught:
        stanimport.sample(module, data, seed=1, chains=1, iter_warmup=5, iter_sampling=5, show_progress=False)
    assert f"in `x ~`, prior.stan, line 1, column 3, included from {module.stan.filename}, line 10" in str(caught.value)
    assert caught.value.line == 10


def test_python_s_own_tracebacks_show_the_directive(module):
    with pytest.raises(StanError) as caught:
        module.transformed_data(n=0, y=np.ones(2), top=2.0)
    lines = "".join(traceback.format_exception(caught.value))
    assert f'{module.stan.filename}", line 2' in lines and "#include first.stan" in lines
