"""Functions whose conditions differ between iterations that run at once on Pyro: those that go the same way together.

Values are Stan's, by stanli; that no iteration runs by itself is seen in what runs such.
"""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.lanes import mapping
from tests.random_programs.referee import ours
from tests.random_programs.referee.outcome import differences
from tests.random_programs.referee.stan import Stan, Unsupported
from tests.random_programs.referee.walk import Walker

pytest.importorskip("pyro", reason="the pyro extra is not installed")

FUNCTIONS = """functions {
    real early_lpmf(array[] int y, int n, real l, real p) {
        if (max(y) > n) return negative_infinity();
        return poisson_log_lpmf(n | l) + binomial_lpmf(y | n, p);
    }
    real several(real x, real a) {
        real out = 1;
        if (x < 0) out = log(a - x);
        else if (x < 1) { out = lgamma(a + x); if (a * x > 0.3) out += x; }
        return out * a;
    }
    vector steps(real x, real a) {
        real y = x;
        int n = 0;
        while (y > 0.5) { y = 0.5 * y + 0.1 * a; n += 1; }
        return [y, n]';
    }
    tuple(real, int) pair(real x, real a) { if (x > a) return (log1m_exp(a - x), 1); return (inv_logit(a), 0); }
    real sized(int k, real a) { vector[k] v = rep_vector(a, k); if (k > 2) return prod(v); return sum(v); }
}
data { int N; int K; vector[N] x; array[N, 2] int y; array[N] int k; }
parameters { real a; real<lower=0, upper=1> p; vector[N] b; }
"""
COPIES = 7  # so that there are more lanes than few
DATA = {
    "N": 5 * COPIES, "K": 6, "x": [-1.5, 0.2, 0.8, 2.5, -0.3] * COPIES,
    "y": [[1, 2], [0, 0], [4, 2], [3, 3], [6, 1]] * COPIES, "k": [1, 4, 3, 0, 2] * COPIES,
}  # fmt: skip
PRIORS = "p ~ beta(2, 2); b ~ normal(0, 1); a ~ normal(0, 1);"
TERMS = {
    "an early return":
        "vector[K + 1] lp; for (m in 0:K) lp[m + 1] = early_lpmf(y[n] | m, a, p); target += log_sum_exp(lp);",
    "several ways": "target += several(x[n], exp(b[n]));",
    "ways that parameters decide": "target += several(b[n], exp(a));",
    "steps": "target += sum(steps(exp(b[n]) + x[n], p));",
    "under a condition": "if (b[n] < 0.3) target += several(x[n], p); else target += several(-x[n], 2);",
    "under one on data": "if (x[n] < 0.3) target += several(b[n], p);",
    "two loops": "for (j in 1:2) target += several(x[n] + j, exp(b[n])) * j;",
    "tuples": "tuple(real, int) t = pair(x[n], b[n] - 1); target += t.1 * (1 + t.2);",
    "sizes": "target += sized(k[n], p) * b[n];",
}
QUANTITIES = """generated quantities {
    vector[N] of_data; vector[N] of_parameters; matrix[N, K + 1] lp; array[N] vector[2] s;
    for (n in 1:N) {
        of_data[n] = several(x[n], p);
        of_parameters[n] = several(b[n], exp(a));
        for (m in 0:K) lp[n, m + 1] = early_lpmf(y[n] | m, a, p);
        s[n] = steps(exp(b[n]), p);
    }
}"""


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The functions that ran one iteration after the other."""
    found: list[object] = []

    def loop(function, values, axes, wanted):
        if mapping.library_of(values) == "torch":
            found.append(function)
        return run(function, values, axes, wanted)

    run = mapping._loop
    monkeypatch.setattr(mapping, "_loop", loop)
    return found


def _compared(text: str) -> list[str]:
    try:
        stan: Stan | Walker = Stan(text, DATA)
    except Unsupported:  # it has no tuples
        stan = Walker(text, DATA)
    points = list(np.random.default_rng(3).uniform(-1, 1, (3, stan.size)))
    expected = [stan.at(p) if isinstance(stan, Stan) else stan.outcome(p, "lanes") for p in points]
    return differences(ours.outcomes(text, DATA, points, "pyro"), expected)


@pytest.mark.parametrize("term", TERMS)
def test_densities_and_gradients_are_stans(term: str, alone: list[object]) -> None:
    assert _compared(f"{FUNCTIONS} model {{ {PRIORS} for (n in 1:N) {{ {TERMS[term]} }} }}") == []
    assert alone == []


def test_quantities_are_stans(alone: list[object]) -> None:
    assert _compared(f"{FUNCTIONS} model {{ {PRIORS} }} {QUANTITIES}") == []
    assert alone == []


REJECTING = """functions {
    real scaled(real x, real a) { if (x < 0) return normal_lpdf(a | 0, x + 1); return x; }
}
data { int N; vector[N] x; }
parameters { real a; }
"""
REJECTED = {"N": 20, "x": [1.0, -0.5, -1.5, 2.0] * 5}


@pytest.mark.parametrize("x, is_rejected", [(-1.5, True), (-0.9, False), (1.5, False)])
def test_lanes_that_reject_the_draw(x: float, is_rejected: bool, alone: list[object]) -> None:
    text = f"{REJECTING} model {{ a ~ normal(0, 1); for (n in 1:N) target += scaled(x[n] + 0 * a, a); }}"
    data = {"N": 20, "x": [1.0, -0.5, x, 2.0] * 5}
    found, points = [], [np.array([0.3]), np.array([-0.4])]
    stan = Stan(text, data)
    for outcome, point in zip(ours.outcomes(text, data, points, "pyro"), points):
        assert bool(stan.at(point).rejected) == is_rejected
        assert (outcome.log_density == -np.inf) == is_rejected
        found.append(outcome)
    assert is_rejected or differences(found, [stan.at(p) for p in points]) == []
    assert alone == []


def test_an_error_of_quantities_tells_the_value() -> None:
    text = f"{REJECTING} model {{ }} generated quantities {{ vector[N] z; for (n in 1:N) z[n] = scaled(x[n], a); }}"
    module = stanimport.loads(text, backend="pyro")
    with pytest.raises(stanimport.StanError, match="normal_lpdf: sigma is -0.5, but must be positive"):
        module.generated_quantities(**module.transformed_data(**REJECTED), a=0.3)


def test_lanes_that_nobody_asks_for_are_no_errors(alone: list[object]) -> None:
    loop = "for (n in 1:N) { z[n] = 0; if (x[n] + 0 * a > -1) z[n] = scaled(x[n], a); }"
    text = f"{REJECTING} model {{ }} generated quantities {{ vector[N] z; {loop} }}"
    point = np.array([0.3])
    assert differences(ours.outcomes(text, REJECTED, [point], "pyro"), [Stan(text, REJECTED).at(point)]) == []
    assert alone == []


def test_lanes_each_of_which_goes_its_own_way(alone: list[object]) -> None:
    text = "functions { real many(real x) { real y = x; while (y > 1) y -= 1; return y; } }"
    text += "data { int N; vector[N] x; } parameters { real a; } model { for (n in 1:N) target += a * many(x[n] + a); }"
    data = {"N": 40, "x": [3.0 * n for n in range(40)]}
    points = [np.array([0.3]), np.array([-0.4])]
    stan = Stan(text, data)
    assert differences(ours.outcomes(text, data, points, "pyro"), [stan.at(p) for p in points]) == []
    assert alone != []
