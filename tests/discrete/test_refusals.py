"""What can't be summed out is refused where it stands, when the program is translated."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.errors import StanSemanticError
from stanlib.errors import StanIndexError, StanUnsupportedError
from tests.random_programs.referee.ours import translated

Z = "parameters { real x; array[4] int<lower=0, upper=1> z; } "
REFUSED = {
    "parameters { int n; }": (1, "it needs finite bounds: declare lower="),
    "parameters { int<lower=0> n; }": (1, "it needs finite bounds: declare upper="),
    "parameters { int<lower=0, upper=2> n; int<lower=0, upper=n> m; }": (1, "can depend on data only, not on 'n'"),
    "parameters { int<lower=0, upper=2> n; vector[n] m; }": (1, "sizes can depend on data only"),
    "parameters { tuple(int, real) n; }": (1, "can't hold integers"),
    Z + 'model {\n  print(z[1]);\n}': (2, "print can't depend on a discrete parameter"),
    Z + 'model {\n  if (z[1] == 1)\n    reject("no");\n}': (3, "reject can't depend on a discrete parameter"),
    Z + "model {\n  vector[z[1]] m;\n}": (2, "size of a variable can't depend"),
    Z + "model {\n  x ~ normal(z[1] + target(), 1);\n}": (2, "target() can't be read"),
    Z + "model {\n  x ~ normal(sum(z), 1);\n  target += target() / 2;\n}": (3, "target() can't be read after terms"),
    Z + "model {\n  for (i in 1:4) {\n    if (i > 1 && target() > 0) target += x;\n    x ~ normal(z[i], 1);\n  }\n}":
        (3, "target() can't be read after terms"),
    "functions { void f_lp(real x) { target += x * target(); } }\n" + Z
        + "model {\n  x ~ normal(sum(z), 1);\n  f_lp(x);\n}": (4, "target() can't be read after terms"),
    Z + "model {\n  for (i in 1:4) {\n    if (z[i] == 1) break;\n    x ~ normal(i, 1);\n  }\n}": (3, "a loop is left"),
    "functions { void f_lp(int k) { for (i in 1:k) { if (i > 2) return; target += i; } } }\n" + Z
        + "model { f_lp(z[2]); }": (2, "returns nothing"),
    "functions { int f_lp(int k) { target += k; return 1; } }\n" + Z + "model { target += z[1] || f_lp(1); }":
        (2, "function that adds to the target"),
    "functions { real f_lp(int k) { target += k; return k ? 1 : f_lp(k - 1); } }\n" + Z
        + "model { target += f_lp(z[2]); }": (1, "function that adds to the target"),
    "functions { void f_lp(int k) { target += k; } }\n" + Z + "transformed parameters {\n f_lp(z[2]); }":
        (3, "returns nothing"),
    "functions { void f_lp(int k) { print(k); } }\n" + Z + "model { f_lp(z[2]); }": (1, "print can't depend"),
    "functions { void f_lp(int k) { target += k * target(); } }\n" + Z + "model { f_lp(z[2]); }":
        (1, "target() can't be read"),
    Z + "transformed parameters {\n  real y = x;\n  if (z[1] == 1) jacobian += x;\n}": (3, "jacobian += can't depend"),
    Z + "model {\n  int t = 1;\n  while (t < 4) {\n    x ~ normal(z[t], 1);\n    t += 1 + z[t];\n  }\n}":
        (3, "a while loop can't go over elements of 'z'"),
    "parameters { int<lower=0, upper=1> z; real x; } guide parameters { real m; } guide { x ~ normal(m, 1); }":
        (1, "a program with a guide"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    line, message = REFUSED[text]
    with pytest.raises(StanSemanticError) as caught:
        stanimport.loads(text)
    (found,) = caught.value.diagnostics
    assert found.span.line == line
    assert message in found.message


def log_density(text, data):
    from stanimport.inference.density.posterior import Posterior

    module = translated(text, "numpyro", "mixed")
    posterior = Posterior(module, module.transformed_data(**data))
    return float(posterior.log_density(np.zeros(posterior.size)))


def test_a_table_that_is_too_large_names_the_statement(x64):
    text = """data { int N; } parameters { array[N] int<lower=0, upper=1> z; real x; } model {
  x ~ normal(0, 1);
  x ~ normal(log_sum_exp(to_vector(z)), 1);
}"""
    assert np.isfinite(log_density(text, {"N": 5}))
    with pytest.raises(StanUnsupportedError, match=r"depends on 40 elements of z at once.*2\^40.*10000000.*line 3"):
        log_density(text, {"N": 40})


def test_values_for_all_iterations_that_would_not_fit(monkeypatch):
    text = """data { int T; } parameters { real x; int<lower=1, upper=T> a; int<lower=1, upper=T> b; } model {
  for (t in 1:T) x ~ normal(t < a ? 0 : t < b ? 1 : x, 1);
}"""
    monkeypatch.setenv("STANIMPORT_TABLE_LIMIT", "5000")
    assert np.isfinite(log_density(text, {"T": 20}))
    with pytest.raises(StanUnsupportedError, match=r"an array of 40 x 40 x 40 entries.*limit is 50000.*line 2"):
        log_density(text, {"T": 40})


def test_variables_that_are_all_coupled_are_named(x64):
    text = """data { int N; } parameters { array[N] int<lower=0, upper=1> z; real x; } model {
  for (i in 1:N) for (j in 1:N)
    target += x * z[i] * z[j];
}"""
    assert np.isfinite(log_density(text, {"N": 5}))
    with pytest.raises(StanUnsupportedError, match=r"the 40 discrete variables.*z\[1\].*line 3"):
        log_density(text, {"N": 40})


BOUNDS = {
    "int<lower=1, upper=N>": "z can have no value: its upper bound is below its lower bound",
    "int<lower=1, upper=2000000000>": "z has 2000000000 values between its bounds.*the limit is 10000000",
    "int<lower=-2147483647, upper=2147483647>": "z has 4294967295 values",
    "array[2] int<lower=1, upper={1, 2, 3}>": r"z has the sizes \[2\], its upper bound \[3\]",
}  # fmt: skip


@pytest.mark.parametrize("declared", BOUNDS)
def test_bounds_are_checked_where_they_are_declared(declared):
    text = f"data {{ int N; }} parameters {{ real x;\n  {declared} z;\n}} model {{ x ~ normal(z, 1); }}"
    with pytest.raises((StanIndexError, StanUnsupportedError), match=BOUNDS[declared] + "(.|\n)*line 2"):
        log_density(text, {"N": 0})


def test_the_target_before_terms_of_discrete_parameters(x64):
    text = """parameters { real x; array[2] int<lower=0, upper=1> z; } model {
  target += normal_lpdf(x | 1, 2); real before = target(); %s target += -square(before); }"""
    law, none = "z ~ bernoulli_logit(before);", "target += -2 * log(2);"  # either sums to 1
    assert log_density(text % law, {}) == pytest.approx(log_density(text % none, {}), abs=1e-12)


def test_containers_of_different_sizes_are_an_error():
    text = """data { int N; vector[N] y; } parameters { array[3] int<lower=1, upper=2> z; vector[2] m; }
    model { y ~ normal(m[z], 1); }"""
    with pytest.raises(Exception, match="sizes"):
        log_density(text, {"N": 2, "y": [0.0, 1.0]})


def test_pedantic_mode_says_nothing_of_discrete_parameters():
    text = """data { int N; vector[N] y; } parameters { vector[2] m; array[N] int<lower=1, upper=2> z; }
    model { m ~ normal(0, 1); for (n in 2:N) if (z[n] == z[n - 1]) target += -1; y ~ normal(m[z], 1); }"""
    assert stanimport.check("p.stan", source=text, pedantic=True) == []
