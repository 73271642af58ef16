"""Parameters of a point, without the rest of the model: what is behind the last one does not run for them."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference.density.posterior import Posterior

TEXT = """
parameters {
  real<lower=-1> a;
  complex c;
  tuple(real<upper=a>, vector[2]) t;
  simplex[3] s;
}
model {
  a ~ normal(0, 1);
  c.1 ~ normal(0, 1);
  print("behind the parameters");
  s ~ dirichlet([1, 2, 3]');
  t.2 ~ normal(a, 1);
}
""".replace("c.1", "get_real(c)")
FREE = {"a": 0.3, "c.real": -0.5, "c.imag": 0.2, "t.1": 1.1, "t.2": [0.4, -0.7], "s": [0.6, -0.2]}
SCHEMES = pytest.mark.parametrize("scheme", ["mixed", "comprehensive"])


def at(names: list[str]) -> np.ndarray:
    return np.concatenate([np.ravel(FREE[n]) for n in names])


def expected() -> dict[str, np.ndarray]:
    """Stan's transforms of what is free; the simplex's is that of an isometric log ratio."""
    a = -1 + np.exp(0.3)
    first, second = 0.6 / np.sqrt(2), -0.2 / np.sqrt(6)
    ratios = np.exp([first + second, second - first, -2 * second])
    return {"a": a, "c.real": -0.5, "c.imag": 0.2, "t.1": a - np.exp(1.1), "t.2": np.array([0.4, -0.7]),
            "s": ratios / ratios.sum()}  # fmt: skip


@SCHEMES
def test_jax_runs_no_further(scheme, x64, capfd):
    module = stanimport.loads(TEXT, scheme=scheme)
    posterior = Posterior(module, module.transformed_data())
    assert sorted(posterior.names) == sorted(FREE)
    point = at(posterior.names)
    made = posterior.constrain(point)
    free, inside = posterior.unconstrain(made, 0 * point)
    assert capfd.readouterr().out == ""
    assert all(map(bool, inside.values())) and all(map(bool, posterior.inside(made).values()))
    np.testing.assert_allclose(free, point, rtol=1e-12)
    for name, value in expected().items():
        np.testing.assert_allclose(made[name], value, rtol=1e-12, err_msg=name)
    posterior.log_density(point)
    assert "behind the parameters" in capfd.readouterr().out


@SCHEMES
def test_pyro_runs_no_further(scheme, torch_double, capfd):
    from stanimport.inference.methods.pyro_methods import Density

    density = Density(stanimport.loads(TEXT, backend="pyro", scheme=scheme), {})
    capfd.readouterr()
    made = density.constrain(torch_double.tensor(at(density.names)))
    assert capfd.readouterr().out == ""
    for name, value in expected().items():
        np.testing.assert_allclose(made[name], value, rtol=1e-12, err_msg=name)
