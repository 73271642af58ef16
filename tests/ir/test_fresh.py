"""Names that the translation makes: no program's identifiers, however chosen, change what it computes."""
from __future__ import annotations

import re

import numpy as np
import pytest
from numpyro import handlers
from numpyro.infer.util import log_density

import stanimport
from stanimport.inference.fits.observations import _merged
from stanimport.ir.fresh import Fresh, is_helper, stem

STAN_IDENTIFIER = re.compile(r"[a-zA-Z](\w*[a-zA-Z0-9]|_(?!_))*_?")


def density(text: str, data: dict, parameters: dict, scheme: str = "mixed") -> float:
    return float(log_density(stanimport.loads(text, scheme=scheme).model, (), data, parameters)[0])


def sites(text: str, data: dict, parameters: dict, scheme: str = "mixed") -> list[str]:
    model = handlers.substitute(handlers.seed(stanimport.loads(text, scheme=scheme).model, 0), parameters)
    return list(handlers.trace(model).get_trace(**data))


def test_what_is_made_is_no_identifier_of_a_program():
    names = Fresh()
    made = [names.again("x"), *(names.helper(n) for n in ("x", "x", "each")), names.again("x")]
    assert len(set(made)) == len(made)
    assert made[0] == "x" and not any(STAN_IDENTIFIER.fullmatch(n) for n in made[1:])
    assert [stem(n) for n in made] == ["x", "_x", "_x", "_each", "x"]
    assert [is_helper(n) for n in made] == [False, True, True, True, False]


def test_sites_of_statements_stand_apart_from_those_of_the_program():
    names = Fresh()
    names.occupy(["y__2", "mu"])
    assert [names.site(n) for n in ("y", "y", "mu", "reject__3", "reject__3")] == [
        "y", "y__3", "mu__2", "reject__3", "reject__3__2",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["v", "mu_", "mu__2", "mu_now", "mu_before", "each", "step", "n_", "container"])
def test_a_loop_variable_may_be_called_as_a_helper(x64, name):
    """The density of an autoregression whose rows are written twice, in closed form."""
    program = f"""data {{ int N; array[2] real w; vector[N] y; }} parameters {{ real b; }}
    model {{
      vector[N] mu;
      mu[1] = 0.5;
      for (n in 2:N) {{ mu[n] = mu[n - 1] * b; for ({name} in w) mu[n] += {name} * mu[n - 1]; }}
      y ~ normal(mu, 1);
    }}"""
    y, w, b = np.arange(1.0, 6.0), [0.3, 0.9], 0.7
    mu = 0.5 * (b + sum(w)) ** np.arange(5)
    expected = -0.5 * ((y - mu) ** 2).sum() - 2.5 * np.log(2 * np.pi)
    assert density(program, dict(N=5, w=w, y=y), {"b": b}, "comprehensive") == pytest.approx(expected)


def test_rejections_on_one_line_make_no_sites(x64):
    program = """parameters { real x; } model {
    if (x < 0) reject("negative"); if (x > 9) reject("large");
    x ~ normal(0, 1); }"""
    assert sites(program, {}, {"x": 1.0}) == ["x"]
    for x, reached in ((1.0, True), (-1.0, False), (10.0, False)):
        assert np.isfinite(density(program, {}, {"x": x})) == reached


def test_both_of_two_rejections_in_a_loop_count(x64):
    """Inside a lifted body terms are told apart by their sites."""
    program = """functions {
      void verify(vector v) { for (i in 1:2) { if (v[i] < 0) reject("negative"); if (v[i] > 9) reject("large"); } }
    } parameters { vector[2] x; } model { verify(x); x ~ normal(0, 1); }"""
    for x, reached in (([1.0, 2.0], True), ([-1.0, 2.0], False), ([1.0, -2.0], False), ([10.0, 2.0], False)):
        assert np.isfinite(density(program, {}, {"x": np.array(x)})) == reached


def test_sums_of_loops_and_branches_have_sites_of_their_own(x64):
    """Each is one site, called after the statement that it is the sum of."""
    loop = "{ real t = x; while (t < 4) { target += -t; t += 1; } } "
    branch = "if (x > 1) { real t = x; while (t < 2) { target += -1; t += 1; } } else target += -x; "
    program = "parameters { real x; } model { x ~ normal(0, 1); " + 2 * loop + 2 * branch + "}"
    found = sites(program, {}, {"x": 0.5})
    assert len(found) == len(set(found)) and sum(n.startswith("target__term") and ".sum" in n for n in found) == 4
    expected = -0.125 - 0.5 * np.log(2 * np.pi) - 2 * (0.5 + 1.5 + 2.5 + 3.5) - 2 * 0.5
    assert density(program, {}, {"x": 0.5}) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["i", "branch", "branch_", "value"])
def test_a_condition_lifted_out_of_a_branch_meets_no_variable(x64, name):
    program = f"""data {{ int c; array[3] real y; }} parameters {{ real x; }} model {{
      for ({name} in 1:3) y[{name}] ~ normal(0, 1);
      if (c) x ~ normal(1, 1); else x ~ normal(-1, 1);
    }}"""
    y, x = np.array([0.5, -1.0, 2.0]), 0.3
    expected = -0.5 * (y**2).sum() - 0.5 * (x - 1) ** 2 - 2 * np.log(2 * np.pi)
    given = dict(c=1, y=y)
    assert density(program, given, {"x": x}, "generative") == pytest.approx(expected)
    assert sites(program, given, {"x": x}, "generative") == ["y", "x"]


@pytest.mark.parametrize("name", ["f", "step", "loop", "terms", "each", "mu_now", "otherwise", "most"])
def test_a_function_may_be_called_as_a_helper_of_the_function_that_calls_it(x64, name):
    program = f"""functions {{ real {name}(real a, real b) {{ return a * b + 1; }} }}
    data {{ int N; vector[N] y; }} parameters {{ real b; }}
    model {{
      vector[N] mu;
      mu[1] = 0.5;
      for (n in 2:N) mu[n] = {name}(mu[n - 1], b);
      for (n in 1:N) if (mu[n] > -100) y[n] ~ normal({name}(mu[n], 1), 1);
    }}"""
    y, mu = np.arange(1.0, 6.0), [0.5]
    for _ in range(4):
        mu.append(mu[-1] * 0.7 + 1)
    expected = -0.5 * ((y - np.array(mu) - 1) ** 2).sum() - 2.5 * np.log(2 * np.pi)
    assert density(program, dict(N=5, y=y), {"b": 0.7}) == pytest.approx(expected)


def test_the_second_of_two_overloads_is_told_by_its_suffix(x64):
    """It adds to the target, as the first one does; a discrete law truncated from below counts its bound."""
    program = """functions {
      real pull_lp(real x) { target += -square(x); return x; }
      real pull_lp(vector x) { target += -sum(x); return x[1]; }
      real flat_lpmf(int k, int n) { return -log(n); }
      real flat_lpmf(int k, int n, int m) { return -log(n * m); }
      real flat_lcdf(int k, int n, int m) { return log(k * 1.0 / (n * m)); }
      real flat_lccdf(int k, int n, int m) { return log1m(k * 1.0 / (n * m)); }
    }
    data { int k; } parameters { real<lower=0> s; }
    model { s ~ normal(pull_lp([2.0, 1.0]'), 1) T[0, ]; k ~ flat(2, 3) T[2, ]; }"""
    from scipy import stats

    expected = -3 + stats.truncnorm(-2, np.inf, 2, 1).logpdf(1.5) - np.log(6) - np.log(1 - 1 / 6)
    assert density(program, {"k": 4}, {"s": 1.5}) == pytest.approx(expected)


def test_observations_are_told_by_the_variables_that_they_are_of(x64):
    """`y__2` is the second observation of y, unless the program has such a variable."""
    program = "data { real y; real y__2; } parameters { real x; } model { y ~ normal(x, 1); y ~ normal(x, 2); "
    given, at = {"y": 1.0, "y__2": 3.0}, {"x": 0.5}
    assert sites(program + "y__2 ~ normal(x, 3); }", given, at) == ["x", "y", "y__3", "y__2"]
    of_sites, stan = {"y": 1, "y__3": 2, "y__2": 3}, stanimport.loads(program + "}").stan
    assert _merged(of_sites, stan) == of_sites and _merged({"z__2": 1}, stan) == {"z": 1}
