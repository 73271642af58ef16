"""A law that has no meaning for combinations which other statements exclude does not reject the draw for them."""
from __future__ import annotations

import numpy as np
import pytest

from tests.discrete.small import Variable
from tests.discrete.styles import Style
from tests.discrete.trial import compared
from tests.random_programs.referee import ours

HEAD = """data { int T; array[T] int y; %given% }
parameters { real<lower=0.6, upper=1> phi; real<lower=0.5, upper=1> gamma; real<lower=0, upper=1> p; %discrete% }
model { target += bernoulli_lpmf(r[1] | 1) + bernoulli_lpmf(z[1] | gamma);
  for (t in 1:T) target += bernoulli_lpmf(y[t] | z[t] * p);
"""
ENTRY = "target += bernoulli_lpmf(z[t] | phi * z[t - 1] + gamma * r[t]);"  # above 1 where z[t - 1] and r[t] are
EXCLUDED = {
    "a branch": f"if (r[t] != r[t - 1] * (1 - z[t - 1])) target += negative_infinity(); {ENTRY}",
    "a condition": f"{ENTRY} target += r[t] == r[t - 1] * (1 - z[t - 1]) ? 0 : negative_infinity();",
    "a law": f"target += bernoulli_lpmf(r[t] | r[t - 1] * (1 - z[t - 1])); {ENTRY}",
}
VARIABLES = (Variable("z", (3,), 0, 2), Variable("r", (3,), 0, 2))
DATA = {"T": 3, "y": [0, 1, 0]}


@pytest.mark.sampled(12)
@pytest.mark.parametrize("name", EXCLUDED)
def test_excluded_by(name):
    pytest.importorskip("stanli", reason="stanli is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    text = f"{HEAD} for (t in 2:T) {{ {EXCLUDED[name]} }} }}"
    assert compared(Style(text, VARIABLES, DATA, 10**6), 3, ("pyro", "numpyro")) == ""


def test_a_possible_combination_rejects_the_draw():
    text = Style(f"{HEAD} for (t in 2:T) {{ {ENTRY} }} }}", VARIABLES, DATA, 10**6).text()
    (found,) = ours.outcomes(text, DATA, [np.zeros(3)], "numpyro", parts=("gradient",), jit=False)
    assert found.rejected or found.log_density == -np.inf
