"""Networks with layers that differ between training and evaluation: no density without a word, and what to write."""
from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import stanimport
from stanlib.networks import StanNetworkError

PROGRAM = """
    networks { matrix net(matrix x); }
    data { int N; matrix[N, 2] x; matrix[N, 1] y; }
    parameters { real<lower=0> s; }
    model { s ~ exponential(1); y ~ normal(net(x), s); }
    generated quantities { real first = net(x)[1, 1]; }
"""
LOOP = """
    networks { vector net(vector x); }
    data { int N; array[N] vector[2] x; array[N] vector[1] y; }
    parameters { real<lower=0> s; }
    model { s ~ exponential(1); for (n in 1:N) y[n] ~ normal(net(s * x[n]), s); }
"""
X = np.array([[0.5, -1.0], [1.0, 2.0], [0.0, 1.5]])
Y = X @ np.array([[2.0], [-1.0]]) + 0.5
DATA = {"N": 3, "x": X, "y": Y}
MORE = {"N": 6, "x": np.concatenate([X, X + 0.1]), "y": np.concatenate([Y, Y])}  # than loops that are unrolled
FEW = {"chains": 1, "iter_warmup": 10, "iter_sampling": 5, "seed": 1, "show_progress": False}
WITHOUT_TRAINING = {
    "sample": lambda m, nets: stanimport.sample(m, DATA, networks=nets, **FEW),
    "log_prob": lambda m, nets: stanimport.log_prob(m, DATA, params={"s": 1.0}, networks=nets),
    "optimize": lambda m, nets: stanimport.optimize(m, DATA, networks=nets, seed=1),
}


def torch_net(torch, layer):
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(2, 4), layer, torch.nn.Linear(4, 1))


def random_though_evaluated(torch):
    class Net(torch.nn.Module):
        def forward(self, x):
            return torch.nn.functional.dropout(x + 1.0)[:, :1]  # which drops in evaluation mode too

    return Net().eval()


@pytest.mark.parametrize("method", WITHOUT_TRAINING)
@pytest.mark.parametrize("layer, said", [
    ("dropout", "draws random numbers in training mode, as dropout does.*: pass it after net.eval.., or train it"),
    ("normalisation", "changes its '1.num_batches_tracked' in training mode, as batch normalisation.*after net.eval"),
    ("function", "draws random numbers in evaluation mode, too, .*: it must return the same every time"),
])  # fmt: skip
def test_torch_networks_that_are_no_functions_are_refused(method, layer, said, torch_double):
    torch = torch_double
    layers = {"dropout": torch.nn.Dropout(0.5), "normalisation": torch.nn.BatchNorm1d(4)}
    net = torch_net(torch, layers[layer]) if layer in layers else random_though_evaluated(torch)
    module = stanimport.loads(PROGRAM, backend="pyro")
    with pytest.raises(StanNetworkError, match=f"the network net .*line 2. {said}"):
        WITHOUT_TRAINING[method](module, {"net": net})


def test_torch_networks_in_evaluation_mode_are_taken(torch_double):
    torch = torch_double
    net = torch_net(torch, torch.nn.Dropout(0.5)).eval()
    module = stanimport.loads(PROGRAM, backend="pyro")
    mean = (net[2](net[0](torch.tensor(X)))).detach().numpy()
    given = {"networks": {"net": net}, "jacobian": False}
    first, second = (stanimport.log_prob(module, DATA, params={"s": s}, **given).lp for s in (1.5, 0.5))
    expected = [stats.norm.logpdf(Y, mean, s).sum() - s for s in (1.5, 0.5)]
    assert first - second == pytest.approx(expected[0] - expected[1])


@pytest.mark.parametrize("algorithm", ["meanfield", "guide"])
def test_fits_have_trained_networks_of_torch_in_evaluation_mode(algorithm, torch_double):
    """What is computed of a draw was that of a network which still drops."""
    torch = torch_double
    net = torch_net(torch, torch.nn.Dropout(0.5))
    guided = " guide parameters { real m; } guide { s ~ lognormal(m, 0.1); }" if algorithm == "guide" else ""
    module = stanimport.loads(PROGRAM + guided, backend="pyro")
    fit = stanimport.variational(module, DATA, networks={"net": net}, seed=1, iter=20, draws=8, khat=False,
                                 require_converged=False)  # fmt: skip
    own = fit.networks["net"]
    assert net.training and net[1].training and not own.training
    first = own[2](own[0](torch.tensor(X)))[0, 0].item()
    np.testing.assert_allclose(fit.stan_variable("first"), first)


# --- flax and equinox ------------------------------------------------------------------------------------------------


def of_equinox(layer):
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")
    import jax

    class Net(eqx.Module):
        linear: eqx.nn.Linear
        layer: eqx.Module

        def __call__(self, x):
            return jax.vmap(lambda r: self.layer(self.linear(r)), axis_name="batch")(x)

    key = jax.random.PRNGKey(0)
    layers = {"Dropout": lambda: eqx.nn.Dropout(0.5), "BatchNorm": lambda: eqx.nn.BatchNorm(1, "batch", mode="batch")}
    return Net(eqx.nn.Linear(2, 1, key=key), layers[layer]())


def of_nnx(layer):
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    rngs = nnx.Rngs(0)
    made = nnx.Dropout(0.5) if layer == "Dropout" else nnx.BatchNorm(4, rngs=rngs)
    return nnx.Sequential(nnx.Linear(2, 4, rngs=rngs), made, nnx.Linear(4, 1, rngs=rngs))


def of_linen(layer):
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    from flax import linen

    class Net(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.Dense(1)(getattr(linen, layer)(use_running_average=False)(linen.Dense(3)(x)))

    return nnx.bridge.ToNNX(Net(), rngs=nnx.Rngs(0)).lazy_init(np.ones((3, 2)))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("make, layer, source, said", [
    (of_equinox, "Dropout", PROGRAM, "a layer Dropout .*requires a key.*; pass equinox.nn.inference_mode.net."),
    (of_equinox, "BatchNorm", PROGRAM, "a layer BatchNorm .*'state'; a program hands over no state .*LayerNorm"),
    (of_nnx, "Dropout", PROGRAM, "a layer Dropout .*; pass it after net.eval.., or with random keys of its own"),
    (of_nnx, "BatchNorm", LOOP, "a layer BatchNorm in training mode, .*; pass it after net.eval"),
    (of_linen, "BatchNorm", PROGRAM, "a layer Net .*immutable.*; make it with use_running_average=True"),
])  # fmt: skip
def test_layers_that_ask_for_more_say_what_to_write(make, layer, source, said, x64):
    import jax
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO

    module = stanimport.loads(source)
    svi = SVI(module.model, numpyro.infer.autoguide.AutoNormal(module.model), numpyro.optim.Adam(0.1), Trace_ELBO())
    with pytest.raises(StanNetworkError, match=f"(?s)the network net .*line 2. has {said}"):
        svi.run(jax.random.PRNGKey(0), 2, progress_bar=False, net=make(layer), **module.transformed_data(**DATA))


def test_other_failures_of_such_networks_are_told_as_they_are(x64):
    module = stanimport.loads(PROGRAM.replace("net(x)", "net(x')"))
    with pytest.raises(stanimport.StanError) as caught:
        module.model(**DATA, net=of_nnx("BatchNorm"))
    assert "training mode" not in str(caught.value)


LIFTED = PROGRAM.replace("real<lower=0> s;", "real<lower=0> s; array[1] real net.layers.3.bias;").replace(
    "model {", "model { net.layers.3.bias ~ normal(0, 1);")
RECURRENCE = """
    networks { vector net(vector x); }
    data { int N; array[N] vector[2] x; array[N] vector[1] y; }
    parameters { real<lower=0> s; %s }
    model {
      vector[1] c = rep_vector(0, 1);
      s ~ exponential(1);
      for (n in 1:N) { c = s * c + net(x[n]); y[n] ~ normal(c, s); }
    }
"""


def of_both_layers():
    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    rngs = nnx.Rngs(0)
    layers = nnx.BatchNorm(4, rngs=rngs), nnx.Dropout(0.5, rngs=rngs)
    return nnx.Sequential(nnx.Linear(2, 4, rngs=rngs), *layers, nnx.Linear(4, 1, rngs=rngs))


def by_hand(N, x, y, net):
    import numpyro
    from numpyro import distributions as dist
    from numpyro.contrib.module import random_nnx_module

    s = numpyro.sample("s", dist.Exponential(1))
    called = random_nnx_module("net", net, prior={"layers.3.bias": dist.Normal(0, 1)}, scope_divider=".")
    numpyro.sample("y", dist.Normal(called(x), s), obs=y)


def trained_state(model, **inputs):
    """What five steps of a training leave of the network's state: means of batches and counts of keys."""
    import jax
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO

    guide = numpyro.infer.autoguide.AutoNormal(model)
    svi = SVI(model, guide, numpyro.optim.Adam(0.1), Trace_ELBO())
    last = svi.run(jax.random.PRNGKey(0), 5, progress_bar=False, net=of_both_layers(), **inputs).state
    state = last.mutable_state["net$state"]["state"]["layers"]
    return state[1]["mean"], state[1]["var"], state[2]["rngs"]["count"]


def test_networks_with_lifted_parameters_keep_their_state(x64):
    """They normalised by no batch, and dropped the same at every step."""
    module = stanimport.loads(LIFTED)
    found, expected = trained_state(module.model, **module.transformed_data(**DATA)), trained_state(by_hand, **DATA)
    for ours, own in zip(found, expected):
        np.testing.assert_allclose(ours, own, rtol=1e-5)
    assert found[2] == 6 and np.abs(found[0]).max() > 0.01  # one of SVI's own runs comes before the steps


@pytest.mark.sampled(2)
@pytest.mark.parametrize("lifted", ["", "array[1] real net.layers.3.bias;"])
def test_evaluated_networks_in_recurrences(lifted, x64):
    """Variational inference asks for the state that they leave: JAX said that a tracer escaped."""
    import jax
    import numpyro
    from numpyro.infer import SVI, Trace_ELBO
    from numpyro.infer.util import log_density

    net, module = of_both_layers(), stanimport.loads(RECURRENCE % lifted)
    net.eval()
    c, s, expected = 0.0, 0.7, stats.expon.logpdf(0.7)
    for x, y in zip(MORE["x"], MORE["y"]):
        c = s * c + np.asarray(net(x))
        expected += stats.norm.logpdf(y, c, s).sum()
    values = {"s": s, **({"net.layers.3.bias": np.zeros(1)} if lifted else {})}
    inputs = {**module.transformed_data(**MORE), "net": net}
    assert float(log_density(module.model, (), inputs, values)[0]) == pytest.approx(expected, rel=1e-6)
    guide = numpyro.infer.autoguide.AutoNormal(module.model)
    svi = SVI(module.model, guide, numpyro.optim.Adam(0.01), Trace_ELBO())
    assert np.isfinite(svi.run(jax.random.PRNGKey(0), 5, progress_bar=False, **inputs).losses).all()


def test_networks_that_change_in_recurrences_are_refused(x64):
    import jax
    from numpyro.infer.util import log_density

    module = stanimport.loads(RECURRENCE % "")
    inputs = {**module.transformed_data(**MORE), "net": of_both_layers()}
    with pytest.raises(StanNetworkError, match="a layer BatchNorm in training mode.*in a loop.*net.eval.., or call it"):
        jax.jit(lambda s: log_density(module.model, (), inputs, {"s": s})[0])(1.0)
