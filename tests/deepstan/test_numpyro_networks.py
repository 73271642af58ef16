"""Networks under NumPyro: modules of flax and equinox, lifted and trained; other modules are refused with advice."""
from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.networks import StanNetworkError

PROGRAM = """
    networks {{ matrix net(matrix x); }}
    data {{ int N; matrix[N, 2] x; matrix[N, 1] y; }}
    parameters {{ {lifted} }}
    model {{ {laws} y ~ normal(net(x), 0.5); }}
"""
X = np.array([[0.5, -1.0], [1.0, 2.0], [0.0, 1.5]])
Y = X @ np.array([[2.0], [-1.0]]) + 0.5
KERNEL, BIAS = np.array([[0.3], [-0.2]]), np.array([0.1])


def flax_module():
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    return nnx.Linear(2, 1, rngs=nnx.Rngs(0)), "kernel", KERNEL


def equinox_module():
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")

    class Rows(eqx.Module):
        weight: jax.Array
        bias: jax.Array

        def __call__(self, x):
            return x @ self.weight.T + self.bias

    return Rows(jnp.zeros((1, 2)), jnp.zeros(1)), "weight", KERNEL.T


MODULES = {"flax": flax_module, "equinox": equinox_module}


@pytest.mark.parametrize("library", MODULES)
def test_lifted_parameters(library, x64):
    from numpyro.infer.util import log_density

    net, name, weight = MODULES[library]()
    shape = ", ".join(map(str, weight.shape))
    lifted = f"matrix[{shape}] net.{name}; vector[1] net.bias;"
    laws = f"net.{name} ~ normal(0, 1); net.bias ~ cauchy(0, 1);"
    module = stanimport.loads(PROGRAM.format(lifted=lifted, laws=laws), scheme="mixed")
    inputs = module.transformed_data(N=3, x=X, y=Y)
    values = {f"net.{name}": weight, "net.bias": BIAS}
    value, sites = log_density(module.model, (), {**inputs, "net": net}, values)
    prior = stats.norm.logpdf(KERNEL).sum() + stats.cauchy.logpdf(BIAS).sum()
    expected = stats.norm.logpdf(Y, X @ KERNEL + BIAS, 0.5).sum() + prior
    np.testing.assert_allclose(value, expected, rtol=1e-6)
    assert not [s for s in sites.values() if s["type"] == "param"]


@pytest.mark.parametrize("library", MODULES)
def test_weights_are_trained(library, x64):
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO

    net, name, _ = MODULES[library]()
    module = stanimport.loads(PROGRAM.format(lifted="", laws=""), scheme="mixed")
    inputs = module.transformed_data(N=3, x=X, y=Y)
    svi = SVI(module.model, lambda **inputs: None, numpyro.optim.Adam(0.05), Trace_ELBO())
    result = svi.run(jax.random.PRNGKey(0), 1500, progress_bar=False, net=net, **inputs)
    leaves = [np.ravel(v) for v in jax.tree_util.tree_leaves(result.params)]
    np.testing.assert_allclose(sorted(np.concatenate(leaves)), [-1.0, 0.5, 2.0], atol=0.05)


@pytest.mark.parametrize("library", MODULES)
def test_only_the_declared_parameters_are_lifted(library, x64):
    from numpyro.handlers import seed, substitute, trace

    net, name, weight = MODULES[library]()
    module = stanimport.loads(PROGRAM.format(lifted="vector[1] net.bias;", laws="net.bias ~ normal(0, 1);"))
    inputs = module.transformed_data(N=3, x=X, y=Y)
    sites = trace(seed(substitute(module.model, {"net.bias": BIAS}), 0)).get_trace(net=net, **inputs)
    (learned,) = [s for s in sites.values() if s["type"] == "param"]
    assert list(learned["value"]) == [name]


@pytest.mark.parametrize("backend, library, said", [
    ("numpyro", "torch", "load the program with backend='pyro' to use this one"),
    ("numpyro", None, "NumPyro's networks are modules of flax.nnx or equinox"),
    ("pyro", "flax", "load the program with backend='numpyro' to use this one"),
    ("pyro", "equinox", "load the program with backend='numpyro' to use this one"),
])  # fmt: skip
def test_a_module_of_another_library_is_refused_with_advice(backend, library, said, torch_double, x64):
    others = {"torch": lambda: (torch_double.nn.Linear(2, 1),), None: lambda: (3,)}
    net = {**MODULES, **others}[library]()[0]
    module = stanimport.loads(PROGRAM.format(lifted="", laws=""), backend=backend)
    inputs = module.transformed_data(N=3, x=X, y=Y)
    with pytest.raises(StanNetworkError, match=said):
        module.model(net=net, **inputs)


@pytest.mark.parametrize("library", MODULES)
def test_lifted_parameters_are_checked_against_the_module(library, x64):
    from numpyro.handlers import seed

    net, name, _ = MODULES[library]()
    for lifted, said in (
        ("vector[1] net.bais;", f"has no parameter 'bais', but .*{name}"),
        ("vector[2] net.bias;", r"has a parameter 'bias' of shape \(1,\), declared is \(2,\)"),
    ):
        parameter = lifted.partition(" ")[2].rstrip(";")
        module = stanimport.loads(PROGRAM.format(lifted=lifted, laws=f"{parameter} ~ normal(0, 1);"), scheme="mixed")
        with pytest.raises(StanNetworkError, match=said):
            seed(module.model, 0)(net=net, N=3, x=X, y=Y)


@pytest.mark.parametrize("library", MODULES)
def test_generated_quantities_ask_for_trained_weights(library, x64, monkeypatch):
    """Under a seed alone a network that the program finds would be the untrained one."""
    from numpyro.handlers import seed, substitute, trace

    from stanlib.networks import Network

    net, _, _ = MODULES[library]()
    text = PROGRAM.format(lifted="", laws="") + " generated quantities { matrix[N, 1] f = net(x); }"
    module = stanimport.loads(text, scheme="mixed")
    monkeypatch.setattr(Network, "_imported", lambda self: net)
    inputs = module.transformed_data(N=3, x=X, y=Y)
    quantities = seed(module.generated_quantities, 0)
    with pytest.raises(StanNetworkError, match="has no trained weights here: run under numpyro.handlers.substitute"):
        quantities(**inputs)
    sites = trace(seed(module.model, 0)).get_trace(**inputs)
    (weights,) = ({n: s["value"]} for n, s in sites.items() if s["type"] == "param")
    trained = jax.tree_util.tree_map(lambda w: w + 1.0, weights)
    found = substitute(quantities, trained)(**inputs)["f"]
    assert not np.allclose(found, quantities(net=net, **inputs)["f"])
