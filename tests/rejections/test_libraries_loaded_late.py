"""A library that is loaded while code runs changes no rejection: solvers of data alone load JAX, on Pyro too."""
import subprocess
import sys

import pytest

PROGRAM = """
functions {
  real terms(vector theta, array[] int y, real m) { return poisson_log_lpmf(y | theta + m); }
  matrix covariance(real s, real r) { return add_diag(rep_matrix(r, 2, 2), square(s)); }
}
data { array[2] int y; }
parameters { real<lower=0> s; real x; }
model {
  target += laplace_marginal(terms, (y, 0.5), 1, covariance, (0.7, 0.1));
  target += student_t_lpdf(x | 4, 0, s);
  if (x > 3) reject("too large");
}
"""
RUN = f"""
import sys, torch, pyro, stanimport
from pyro import poutine
torch.set_default_dtype(torch.float64)
module = stanimport.loads({PROGRAM!r}, backend="pyro")
inputs = module.transformed_data(y=[1, 3])
assert "jax" not in sys.modules
for x in (0.5, 0.5, 4.0):
    values = {{"s": torch.tensor(0.7), "x": torch.tensor(x)}}
    print(float(poutine.trace(pyro.condition(module.model, values)).get_trace(**inputs).log_prob_sum()))
assert "jax" in sys.modules
"""


@pytest.mark.slow
def test_the_first_run_of_a_process_is_like_the_second():
    """What is noted once JAX is there is collected by what began before."""
    run = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    first, second, rejected = map(float, run.stdout.split())
    assert first == second and abs(first) < 100 and rejected == -float("inf")
