"""At loose tolerances a solver's errors show in the density: methods of inference see what Stan's samplers see."""
import numpy as np
import pytest

import stanimport
from stanimport.inference import LogProb

PREDATORS = """
functions {
  vector change(real t, vector z, real a, real b, real c, real d) {
    return [(a - b * z[2]) * z[1], (d * z[1] - c) * z[2]]';
  }
}
data {
  int N;
  array[N] real ts;
  array[N] vector<lower=0>[2] y;
}
parameters {
  vector<lower=0>[4] rate;
  vector<lower=0>[2] start;
}
model {
  array[N] vector[2] z = ode_rk45_tol(change, start, 0, ts, 1e-4, 1e-3, 500, rate[1], rate[2], rate[3], rate[4]);
  for (n in 1:N) y[n] ~ lognormal(log(z[n]), 0.25);
}
"""
DATA = {"N": 5, "ts": [1.0, 3.0, 5.0, 8.0, 12.0], "y": [[20, 5], [50, 12], [30, 40], [6, 15], [25, 4]]}
# On the unconstrained scale: Stan 2.35's log density without constants and its gradient.
STAN = [
    ([-0.6, -3.5, -0.2, -3.7, 3.4, 1.8], -43.25812623857327,
     [-130.87377726728553, 4.088678533862687, -61.16436902593336, -54.85555751249944, -96.72243733260188,
      -18.26331175010833]),
    ([0.55, -0.9, -1.8, -1.9, 1.25, 1.65], -672.014567323644,
     [716.9591164970782, -738.380479242442, 792.4163525208478, -719.3100598115892, -431.14506950659035,
      -667.9647019255862]),
]  # fmt: skip


def test_density_and_gradient_are_those_of_stans_samplers():
    log_prob = LogProb(stanimport.loads(PREDATORS), DATA)
    constants = []
    for point, value, gradient in STAN:
        x = np.exp(point)
        found = log_prob({"rate": x[:4], "start": x[4:]})
        np.testing.assert_allclose(found.gradient, gradient, rtol=1e-11)
        constants.append(found.lp - value)
    assert constants[0] == pytest.approx(constants[1], abs=1e-9)
