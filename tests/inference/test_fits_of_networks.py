"""Inference for programs with networks: those given are used, trained by `variational`, and stay with the fit."""
from __future__ import annotations

import pickle
import sys
import types

import numpy as np
import pytest

import stanimport
from stanimport.inference.fits.fit import Fit

SOURCE = """
    networks { matrix net(matrix x); }
    data { int N; matrix[N, 2] x; matrix[N, 1] y; }
    parameters { real<lower=0> s; }
    model { s ~ exponential(1); y ~ normal(net(x), s); }
    generated quantities { matrix[N, 1] f = net(x); }
"""
GUIDED = SOURCE + "guide parameters { real m; } guide { s ~ lognormal(m, 0.1); }"
X = np.array([[0.5, -1.0], [1.0, 2.0], [0.0, 1.5], [-2.0, 0.3]])
Y = X @ np.array([[2.0], [-1.0]]) + 0.5
DATA = {"N": 4, "x": X, "y": Y}
# The least squares are exact; s would be as small as can be, so that training only has to come near.
NEAR = 0.2


def flax_net():
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    net = nnx.Linear(2, 1, rngs=nnx.Rngs(0))
    return net, lambda n: (np.asarray(n.kernel.get_value()).ravel(), np.asarray(n.bias.get_value()))


def equinox_net():
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")
    import jax.numpy as jnp

    class Rows(eqx.Module):
        weight: object
        bias: object

        def __call__(self, x):
            return x @ self.weight + self.bias

    return Rows(jnp.zeros((2, 1)), jnp.zeros(1)), lambda n: (np.ravel(n.weight), np.asarray(n.bias))


def torch_net():
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    torch.manual_seed(1)
    return torch.nn.Linear(2, 1), lambda n: (n.weight.detach().numpy().ravel(), n.bias.detach().numpy())


LIBRARIES = {"flax": flax_net, "equinox": equinox_net, "torch": torch_net}


def loaded(source, library):
    return stanimport.loads(source, backend="pyro" if library == "torch" else "numpyro", name=f"of_{library}")


def predicted(weights):
    weight, bias = weights
    return X @ np.reshape(weight, (2, 1)) + bias


@pytest.mark.sampled(6)
@pytest.mark.parametrize("library, source", [
    ("flax", SOURCE), ("equinox", GUIDED), ("torch", SOURCE), ("torch", GUIDED),
])  # fmt: skip
def test_variational_trains_the_networks_that_are_given(library, source, tmp_path):
    net, weights_of = LIBRARIES[library]()
    fit = stanimport.variational(
        loaded(source, library), DATA, seed=1, iter=600, eta=0.1, draws=4, networks={"net": net},
        require_converged=False,
    )  # fmt: skip
    trained = weights_of(fit.networks["net"])
    np.testing.assert_allclose(np.concatenate(trained), [2.0, -1.0, 0.5], atol=NEAR)
    np.testing.assert_allclose(fit.stan_variable("f")[0], predicted(trained), rtol=1e-4, atol=1e-4)
    saved = fit.save(tmp_path / "fit.nc")
    restored = Fit.load(saved)
    kept = [v for n, v in restored.info["params"].items() if n.startswith("net")]
    np.testing.assert_allclose(sorted(np.concatenate([np.ravel(k) for k in kept])), sorted(np.concatenate(trained)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", ["flax", "torch"])
def test_sampling_and_optimizing_use_networks_as_they_are(library):
    net, weights_of = LIBRARIES[library]()
    module, before = loaded(SOURCE, library), np.concatenate(weights_of(net))
    fit = stanimport.sample(module, DATA, seed=1, chains=1, iter_warmup=20, iter_sampling=5, networks={"net": net})
    np.testing.assert_allclose(fit.stan_variable("f")[0], predicted(weights_of(net)), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(np.concatenate(weights_of(net)), before)
    mode = stanimport.optimize(module, DATA, seed=1, networks={"net": net})
    residuals = Y - predicted(weights_of(net))
    s = float(mode.stan_variable("s"))  # where 4 log(s) + sum / (2 s^2) + s is least
    np.testing.assert_allclose(4 / s - np.sum(residuals**2) / s**3 + 1, 0.0, atol=1e-3)
    np.testing.assert_allclose(mode.stan_variable("f"), predicted(weights_of(net)), rtol=1e-5, atol=1e-5)


def test_unknown_networks_are_refused():
    with pytest.raises(stanimport.StanError, match="declares no network 'nett', but net"):
        stanimport.sample(loaded(SOURCE, "flax"), DATA, networks={"nett": flax_net()[0]})


def test_models_pickle_with_their_networks(torch_double):
    net, _ = torch_net()
    model = pickle.loads(pickle.dumps(loaded(SOURCE, "torch").model.with_networks(net=net)))
    np.testing.assert_array_equal(model.networks["net"].weight.detach(), net.weight.detach())


def fresh(library):
    """A network of other weights than that of `LIBRARIES` begins with."""
    net, weights_of = LIBRARIES[library]()
    if library == "flax":
        net.kernel.set_value(net.kernel.get_value() + 7)
    if library == "torch":
        net.weight.data += 7
    return net, weights_of


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", ["flax", "equinox", "torch"])
def test_quantities_are_those_of_the_trained_networks(library, tmp_path):
    """Of the fit, of the saved fit with networks of other weights, of a fit that travelled to another process."""
    module = loaded(SOURCE, library)
    fit = stanimport.variational(module, DATA, seed=1, iter=50, draws=4, networks={"net": LIBRARIES[library]()[0]},
                                 require_converged=False)  # fmt: skip
    expected = fit.stan_variable("f")
    assert not np.allclose(expected[0], predicted(fresh(library)[1](fresh(library)[0])), atol=0.1)
    path = fit.save(tmp_path / "fit.nc")
    saved = Fit.load(path, networks={"net": fresh(library)[0]})
    for previous in (fit, saved):
        for given in (module, None):
            made = stanimport.generate_quantities(given, DATA if given else None, previous_fit=previous)
            np.testing.assert_allclose(made.stan_variable("f"), expected, rtol=1e-6)
        np.testing.assert_allclose(previous.posterior_predictive(DATA, seed=3).stan_variable("y"),
                                   fit.posterior_predictive(DATA, seed=3).stan_variable("y"), rtol=1e-6)
    own = stanimport.generate_quantities(module, DATA, previous_fit=fit, networks={"net": fresh(library)[0]})
    assert not np.allclose(own.stan_variable("f"), expected, atol=0.1)


@pytest.mark.slow
def test_networks_that_a_program_finds_get_the_weights_of_the_fit(tmp_path, monkeypatch):
    """Silently they would be the untrained ones."""
    holder = types.ModuleType("holder_of_networks")
    holder.net = flax_net()[0]
    monkeypatch.setitem(sys.modules, "holder_of_networks", holder)
    monkeypatch.setenv("STANIMPORT_NETWORK_PACKAGES", "holder_of_networks")
    module = stanimport.loads(SOURCE.replace("matrix net(", "matrix holder_of_networks.net("), name="finds")
    fit = stanimport.variational(module, DATA, seed=1, iter=50, draws=4, require_converged=False)
    expected, path = fit.stan_variable("f"), fit.save(tmp_path / "fit.nc")
    for previous in (fit, path, Fit.load(path), pickle.loads(pickle.dumps(fit))):
        for given in (module, None):
            made = stanimport.generate_quantities(given, DATA if given else None, previous_fit=previous)
            np.testing.assert_allclose(made.stan_variable("f"), expected, rtol=1e-6)
    sampled = stanimport.sample(module, DATA, networks=fit.networks, chains=1, iter_warmup=20, iter_sampling=3, seed=1)
    again = stanimport.generate_quantities(module, DATA, previous_fit=sampled.save(tmp_path / "sampled.nc"))
    np.testing.assert_allclose(again.stan_variable("f"), expected[:3], rtol=1e-6)


def test_networks_of_pyro_are_loaded_with_their_weights(tmp_path):
    net, weights_of = torch_net()
    fit = stanimport.variational(loaded(SOURCE, "torch"), DATA, seed=1, iter=50, draws=4, networks={"net": net},
                                 require_converged=False)  # fmt: skip
    trained, other = np.concatenate(weights_of(net)), torch_net()[0]
    saved = Fit.load(fit.save(tmp_path / "fit.nc"), networks={"net": other})
    np.testing.assert_allclose(np.concatenate(weights_of(saved.networks["net"])), trained)
    assert not np.allclose(np.concatenate(weights_of(other)), trained)


def test_a_fit_keeps_its_networks_when_they_are_trained_further():
    net, _ = torch_net()
    settings = {"seed": 1, "iter": 30, "draws": 2, "networks": {"net": net}, "require_converged": False}
    module = loaded(SOURCE, "torch")
    first, sampled = stanimport.variational(module, DATA, **settings), stanimport.sample(
        module, DATA, seed=1, chains=1, iter_warmup=5, iter_sampling=2, networks={"net": net})  # fmt: skip
    further = stanimport.variational(module, DATA, eta=0.3, **settings)
    assert not np.allclose(further.stan_variable("f"), first.stan_variable("f"), atol=0.1)
    for fit in (first, sampled):
        again = stanimport.generate_quantities(previous_fit=fit)
        np.testing.assert_allclose(again.stan_variable("f"), fit.stan_variable("f"), rtol=1e-6)


def changed_in_place(library, net):
    """As further training does."""
    if library == "flax":
        net.kernel[...] = net.kernel[...] + 7
    else:
        net.weight.data += 7


@pytest.mark.parametrize("library", ["flax", "torch"])
@pytest.mark.parametrize("method, options", [
    ("sample", {"chains": 1, "iter_warmup": 5, "iter_sampling": 2}), ("optimize", {}),
    ("variational", {"iter": 30, "draws": 2, "require_converged": False}),
])  # fmt: skip
def test_what_is_computed_of_a_fit_stays_when_its_networks_are_changed(library, method, options, tmp_path):
    """Given the program, without it, and of the file: it was that of the networks as they had become since."""
    net, _ = LIBRARIES[library]()
    module = loaded(SOURCE, library)
    fit = getattr(stanimport, method)(module, DATA, seed=1, networks={"net": net}, **options)
    changed_in_place(library, net)
    saved = Fit.load(fit.save(tmp_path / "fit.nc"), networks={"net": net})
    for previous, given in [(fit, module), (fit, None), (saved, module)]:
        again = stanimport.generate_quantities(given, DATA if given else None, previous_fit=previous)
        expected = np.broadcast_to(fit.stan_variable("f"), again.stan_variable("f").shape)
        np.testing.assert_allclose(again.stan_variable("f"), expected, rtol=1e-5, atol=1e-5)


def test_a_fit_keeps_weights_that_are_arrays_of_numpy():
    net, _ = equinox_net()
    net = type(net)(np.ones((2, 1)), np.zeros(1))
    fit = stanimport.sample(loaded(SOURCE, "equinox"), DATA, seed=1, networks={"net": net}, chains=1, iter_warmup=5,
                            iter_sampling=2)  # fmt: skip
    net.weight[:] = 7
    again = stanimport.generate_quantities(previous_fit=fit)
    np.testing.assert_allclose(again.stan_variable("f")[0], X.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-5)


def test_networks_given_as_classes_are_made_once():
    torch = pytest.importorskip("torch", reason="the pyro extra is not installed")

    class Made(torch.nn.Linear):
        def __init__(self):
            super().__init__(2, 1)

    mode = stanimport.optimize(loaded(SOURCE, "torch"), DATA, seed=1, networks={"net": Made})
    weights = mode.networks["net"].weight.detach().numpy().ravel(), mode.networks["net"].bias.detach().numpy()
    np.testing.assert_allclose(mode.stan_variable("f"), predicted(weights), rtol=1e-5, atol=1e-5)


def test_networks_of_another_shape_are_refused(tmp_path):
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    fit = stanimport.variational(loaded(SOURCE, "flax"), DATA, seed=1, iter=5, draws=4, networks={"net": flax_net()[0]},
                                 require_converged=False)  # fmt: skip
    path = fit.save(tmp_path / "fit.nc")
    with pytest.raises(stanimport.StanError, match="network net of the fit has '.*' of shape .*, this one has it of"):
        Fit.load(path, networks={"net": nnx.Linear(2, 3, rngs=nnx.Rngs(0))})
    with pytest.raises(stanimport.StanError, match="declares no network 'nett'"):
        Fit.load(path, networks={"nett": flax_net()[0]})


BATCHED = """
    networks { matrix net(matrix x); }
    data { int N; matrix[N, 2] x; matrix[N, 2] y; }
    parameters { real<lower=0> s; }
    model { s ~ exponential(1); to_vector(y) ~ normal(to_vector(net(x)), s); }
    generated quantities { matrix[N, 2] f = net(x); }
"""
GUIDED_BATCHED = BATCHED.replace("generated", "guide parameters { real m; } guide { s ~ lognormal(m, 1); } generated")


def normalising(library):
    """A network that keeps means and variances of what it sees, and how to ask for both."""
    if library == "torch":
        torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
        return torch.nn.BatchNorm1d(2), lambda n: (n.running_mean.numpy(), n.running_var.numpy())
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")

    class Normalising(nnx.Module):
        def __init__(self):
            self.layer = nnx.BatchNorm(2, momentum=0.9, rngs=nnx.Rngs(0))

        def __call__(self, x):
            return self.layer(x)

    return Normalising(), lambda n: (np.asarray(n.layer.mean.get_value()), np.asarray(n.layer.var.get_value()))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", ["flax", "torch"])
@pytest.mark.parametrize("source", [BATCHED, GUIDED_BATCHED])
@pytest.mark.parametrize("minibatch", [None, {"N": 6}])
def test_what_networks_keep_beside_weights_is_trained_and_saved(library, source, minibatch, tmp_path):
    """Means of batches stayed those of untrained networks, or were lost with the file: wrong silently."""
    net, kept = normalising(library)
    rng = np.random.default_rng(0)
    x = rng.normal([3, -2], [1, 2], size=(6, 2))
    fit = stanimport.variational(loaded(source, library), {"N": 6, "x": x, "y": rng.normal(size=(6, 2))}, seed=1,
                                 iter=120, draws=3, networks={"net": net}, minibatch=minibatch, khat=False,
                                 require_converged=False)  # fmt: skip
    means, variances = kept(fit.networks["net"])
    np.testing.assert_allclose(means, x.mean(axis=0), rtol=1e-3)
    np.testing.assert_allclose(variances, x.var(axis=0, ddof=int(library == "torch")), rtol=1e-2)
    path = fit.save(tmp_path / "fit.nc")
    for other in (Fit.load(path, networks={"net": normalising(library)[0]}), pickle.loads(pickle.dumps(fit))):
        if other.networks:
            np.testing.assert_array_equal(np.stack(kept(other.networks["net"])), np.stack([means, variances]))


DROPPED = """
networks { matrix net(matrix x); }
data { int N; matrix[N, 2] x; vector[N] y; }
parameters { real b; }
model { b ~ normal(0, 1); y ~ normal(to_vector(net(x)), 1); }
generated quantities { real first = net(x)[1, 1]; }
"""


@pytest.mark.slow
def test_a_network_with_dropout(tmp_path, x64):
    """Of a linear function it makes a ridge regression (Wager, Wang and Liang 2013); other methods keep one mask."""
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")

    class Net(nnx.Module):
        def __init__(self):
            self.dropout = nnx.Dropout(0.5, rngs=nnx.Rngs(1))
            self.linear = nnx.Linear(2, 1, use_bias=False, param_dtype=float, rngs=nnx.Rngs(0))

        def __call__(self, x):
            return self.linear(self.dropout(x))

    random = np.random.default_rng(0)
    x = random.normal(size=(40, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]])
    y = x @ [2.0, -1.0] + 0.1 * random.normal(size=40)
    module, data = stanimport.loads(DROPPED, name="dropped"), {"N": 40, "x": x, "y": y}
    chosen = {"networks": {"net": Net()}, "seed": 1, "require_converged": False}
    fit = stanimport.variational(module, data, iter=4000, draws=10, khat=False, **chosen)
    found = np.asarray(fit.networks["net"].linear.kernel[...])[:, 0]
    products = x.T @ x
    expected = np.linalg.solve(products + np.diag(np.diag(products)), x.T @ y)  # p / (1 - p) is 1
    np.testing.assert_allclose(found, expected, atol=0.15)
    assert np.abs(found - [2.0, -1.0]).max() > 0.5
    fit.save(tmp_path / "fit.nc")
    read = stanimport.Fit.load(tmp_path / "fit.nc", networks={"net": Net()})
    np.testing.assert_array_equal(np.asarray(read.networks["net"].linear.kernel[...])[:, 0], found)
    few = {"chains": 1, "iter_warmup": 100, "iter_sampling": 20, "seed": 1}
    drawn = stanimport.sample(module, data, networks={"net": Net()}, **few)
    assert np.ptp(drawn.stan_variable("first")) == 0
