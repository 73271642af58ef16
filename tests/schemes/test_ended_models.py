"""Draws that end the model early, where it has not sampled all parameters: none of them may be lost."""
from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import stanimport
from stanimport.errors import StanError
from stanimport.inference.density.posterior import Posterior

# At x = 0, where Pyro looks for the parameters, an index is out of range before y has its law.
BY_BRANCHES = """
parameters { real x; real y; }
transformed parameters {
  real z = x;
  {
    int k = 5;
    vector[2] v = [1, 2]';
    while (k > 1) {
      if (z > 0.05) { k -= 1; z += 1; } else break;
    }
    z += 0.1 * v[min({k, 3})];
  }
}
model { x ~ normal(1, 1); y ~ normal(z, 1); }
"""
BY_FUNCTIONS = """
functions {
  real f(real x) { if (x < 0.05) reject("low"); return x + 4.1; }
  real g(data int n, real x) { return n > 3 ? 0 : f(x); }
}
parameters { real x; real y; }
transformed parameters { real z = g(2, x); }
model { x ~ normal(1, 1); y ~ normal(z, 1); }
"""
BY_SIZES = """
parameters { real x; real y; }
transformed parameters {
  real z = x + 4.1;
  if (num_elements([x, 1]) == 2) { z -= x; z += x; }
}
model { x ~ normal(1, 1); y ~ normal(z, 1); }
"""


def pyro_density(text, scheme):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    from stanimport.inference.methods.pyro_methods import Density

    return Density(stanimport.loads(text, name="ended", backend="pyro", scheme=scheme), {})


@pytest.mark.parametrize("text", [BY_BRANCHES, BY_FUNCTIONS], ids=["branches", "functions"])
@pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])
def test_pyro_has_all_parameters(text, scheme, torch_double):
    import torch

    density = pyro_density(text, scheme)
    assert density.names == ["x", "y"]
    for x, y in ((0.5, 0.2), (1.3, 5.0)):
        wanted = norm.logpdf(x, 1, 1) + norm.logpdf(y, x + 4.1, 1)
        np.testing.assert_allclose(float(density(torch.tensor([x, y]))), wanted, rtol=1e-12)
    assert float(density(torch.tensor([-0.5, 0.2]))) == -np.inf


def test_branches_on_sizes_end_no_model():
    assert "ppl.sample('y'" in stanimport.translate("ended.stan", source=BY_SIZES)
    assert "ppl.sample('y'" not in stanimport.translate("ended.stan", source=BY_FUNCTIONS)


def test_models_that_end_before_a_parameter_are_refused(torch_double):
    with pytest.raises(StanError, match=r"before it samples parameter y.*`real y` in .*, line 2"):
        pyro_density(BY_BRANCHES, "generative")


def test_jax_has_all_parameters_where_data_end_the_model(x64):
    text = """
data { int n; }
parameters { real x; real y; }
transformed parameters {
  real z = x;
  while (z < 3) { z += 1; if (z > 2) { vector[2] v = [x, 1]'; z += v[n]; } }
}
model { x ~ normal(1, 1); y ~ normal(z, 1); }
"""
    module = stanimport.loads(text, name="ended")
    assert Posterior(module, module.transformed_data(n=2)).names == ["x", "y"]
    assert Posterior(module, module.transformed_data(n=2)).size == 2
