"""What networks return, and layers by their numbers: tuples, batches of one, shapes that are not those declared."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanlib.networks import StanNetworkError

ONE_IMAGE = """
    networks {
      array[,] real decoder(array[] real z);
      array[,] real encoder(array[,] int x);
    }
    data { int K; int side; array[side, side] int<lower=0, upper=1> x; }
    parameters { array[K] real z; }
    model {
      array[side, side] real mu;
      z ~ normal(0, 1);
      mu = decoder(z);
      x ~ bernoulli(mu);
    }
    guide {
      array[2, K] real encoded = encoder(x);
      array[K] real centre = encoded[1];
      array[K] real width = encoded[2];
      z ~ normal(centre, width);
    }
"""


def image_networks(torch):
    """An encoder that returns a tuple of batches, and a decoder that returns a batch of images with one channel."""
    nn = torch.nn

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.centre, self.width = nn.Linear(9, 2), nn.Linear(9, 2)

        def forward(self, x):
            x = x.reshape(-1, 9).to(self.centre.weight.dtype)
            return self.centre(x), nn.functional.softplus(self.width(x))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 9)

        def forward(self, z):
            return torch.sigmoid(self.layer(z)).view(-1, 1, 3, 3)

    return Encoder(), Decoder()


def test_a_tuple_of_batches_of_one_is_an_array(torch_double):
    import pyro
    from pyro import poutine

    torch = torch_double
    torch.manual_seed(1)
    encoder, decoder = image_networks(torch)
    module = stanimport.loads(ONE_IMAGE, backend="pyro", scheme="mixed")
    x = np.array([[0, 1, 0], [1, 1, 0], [0, 0, 1]])
    inputs = {**module.transformed_data(K=2, side=3, x=x), "encoder": encoder, "decoder": decoder}
    pyro.clear_param_store()
    sampled = poutine.trace(module.guide).get_trace(**inputs)
    trace = poutine.trace(poutine.replay(module.model, sampled)).get_trace(**inputs)
    z = sampled.nodes["z"]["value"]
    centre, width = encoder(torch.as_tensor(x))
    normal, bernoulli = torch.distributions.Normal, torch.distributions.Bernoulli
    expected = normal(centre[0], width[0]).log_prob(z).sum()
    np.testing.assert_allclose(sampled.log_prob_sum().item(), expected.item())
    image = bernoulli(decoder(z)[0, 0]).log_prob(torch.as_tensor(x, dtype=float)).sum()
    np.testing.assert_allclose(trace.log_prob_sum().item(), (normal(0, 1).log_prob(z).sum() + image).item())


PAIR = """
    networks { tuple(vector, real) net(vector x); }
    data { int N; vector[N] x; vector[N] y; }
    model { tuple(vector[N], real) t = net(x); y ~ normal(t.1, t.2); }
"""
X, Y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.0, -1.0])


class Returns:
    """A torch module that returns a value for every input."""

    def __new__(cls, torch, value):
        class Module(torch.nn.Module):
            def forward(self, x):
                return value(x)

        return Module()


def density(module, **networks):
    from pyro import poutine

    inputs = module.transformed_data(N=3, x=X, y=Y)
    return poutine.trace(module.model).get_trace(**inputs, **networks).log_prob_sum().item()


def test_a_declared_tuple_is_a_tuple(torch_double):
    from scipy import stats

    module = stanimport.loads(PAIR, backend="pyro")
    net = Returns(torch_double, lambda x: (2 * x, torch_double.tensor(0.5)))
    np.testing.assert_allclose(density(module, net=net), stats.norm.logpdf(Y, 2 * X, 0.5).sum())


NESTED = """
    networks { tuple(vector, tuple(real, array[] vector)) net(vector x); }
    data { int N; vector[N] x; vector[N] y; }
    model {
      tuple(vector[N], tuple(real, array[2] vector[N])) t = net(x);
      y ~ normal(t.1 + t.2.2[2], t.2.1);
    }
"""


def test_a_tuple_in_a_tuple_is_as_declared(torch_double):
    from scipy import stats

    module = stanimport.loads(NESTED, backend="pyro")
    net = Returns(torch_double, lambda x: [2 * x, (torch_double.tensor([0.5]), (x, x**2))])
    np.testing.assert_allclose(density(module, net=net), stats.norm.logpdf(Y, 2 * X + X**2, 0.5).sum())


def test_a_tuple_in_a_tuple_is_as_declared_on_numpyro(x64):
    import equinox
    from numpyro.infer.util import log_density
    from scipy import stats

    class Net(equinox.Module):
        def __call__(self, x):
            return 2 * x, (np.asarray([1]), [x, x**2])  # where reals are declared integers are such

    module = stanimport.loads(NESTED)
    found = log_density(module.model, (), {"N": 3, "x": X, "y": Y, "net": Net()}, {})[0]
    np.testing.assert_allclose(found, stats.norm.logpdf(Y, 2 * X + X**2, 1).sum())


VECTOR = """
    networks { vector net(vector x); }
    data { int N; vector[N] x; vector[N] y; }
    model { vector[N] mu = net(x); y ~ normal(mu, 1); }
"""


@pytest.mark.parametrize("source, value, said", [
    (VECTOR, lambda x: {"mean": x}, "returns a dict: return an array, or a tuple of arrays"),
    (VECTOR, lambda x: (x, x), r"returns 2 values, one of them of shape \(3,\), declared are 1 .*a tuple type"),
    (VECTOR, lambda x: x.repeat(2, 1), r"of shape \(2, 3\), declared are 1 dimensions; of a batch, write array\[\]"),
    (VECTOR, lambda x: x * 1j, "returns complex numbers, declared are real"),
    (NESTED, lambda x: (x, x[0]), "returns a Tensor, declared is a tuple of 2"),
    (PAIR, lambda x: x, "returns a Tensor, declared is a tuple of 2"),
    (PAIR, lambda x: (x, x, x), "returns 3 values, declared is a tuple of 2"),
    (VECTOR.replace("vector net", "matrix net").replace("net(x);", "net(x)[1]';"), lambda x: (x, x[:2]),
     r"returns arrays of the shapes \(2,\) and \(3,\), which are no array: declare a tuple"),
])  # fmt: skip
def test_what_is_not_as_declared_is_refused(source, value, said, torch_double):
    module = stanimport.loads(source, backend="pyro")
    with pytest.raises(StanNetworkError, match=said):
        density(module, net=Returns(torch_double, value))


@pytest.mark.parametrize("text, said", [
    ("networks { array[] tuple(real, real) net(vector x); }", r"can't return arrays of tuples \(array\[\] tuple"),
    ("networks { real net(tuple(real, real) x); }", r"takes arrays of numbers, 'x' is tuple\(real, real\): pass items"),
    ("networks { real net(vector x); } parameters { tuple(real, real) net.w; }",
     r"the parameters of a network are arrays of reals, not tuple\(real, real\)"),
    ("networks { real net(vector x); } parameters { complex net.w; }", "are arrays of reals, not complex"),
])  # fmt: skip
def test_types_that_networks_have_not_are_refused(text, said):
    with pytest.raises(stanimport.StanSemanticError, match=said):
        stanimport.loads(f"{text} model {{ }}", backend="pyro")


def test_a_result_of_another_length_names_statement_and_sizes(torch_double):
    module = stanimport.loads(VECTOR, backend="pyro")
    with pytest.raises(stanimport.StanError, match=r"(?s)\(2,\).*\(3,\).*vector\[N\] mu = net\(x\);.*line 4"):
        density(module, net=Returns(torch_double, lambda x: x[:2]))


# --- layers by their numbers -----------------------------------------------------------------------------------------

LAYERS = """
    networks {{ vector net(vector x); }}
    data {{ int N; vector[N] x; vector[N] y; }}
    parameters {{ {declared} }}
    model {{ {laws} y ~ normal(net(x), 1); }}
"""


def lifted(name, shape="matrix[3, 3]"):
    return LAYERS.format(declared=f"{shape} {name};", laws=f"{name} ~ normal(0, 1);")


def torch_layers(torch):
    return torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))


def numpyro_layers():
    import jax

    nnx = pytest.importorskip("flax.nnx", reason="flax is not installed")
    eqx = pytest.importorskip("equinox", reason="equinox is not installed")
    flax = nnx.Sequential(nnx.Linear(3, 3, rngs=nnx.Rngs(0)), nnx.tanh, nnx.Linear(3, 3, rngs=nnx.Rngs(1)))
    yield "net.layers.2.kernel", flax
    yield "net.layers.1.weight", eqx.nn.MLP(3, 3, 3, 1, key=jax.random.PRNGKey(0))


def test_layers_of_a_torch_sequential_are_lifted(torch_double):
    from pyro import poutine

    torch = torch_double
    net = torch_layers(torch)
    module = stanimport.loads(lifted("net.2.weight"), backend="pyro", scheme="mixed")
    weight = torch.arange(9.0).reshape(3, 3) / 10
    inputs = module.transformed_data(N=3, x=X, y=Y)
    conditioned = poutine.condition(module.model, {"net.2.weight": weight})
    found = poutine.trace(conditioned).get_trace(**inputs, net=net).log_prob_sum()
    normal = torch.distributions.Normal
    with torch.no_grad():
        net[2].weight.copy_(weight)
        expected = normal(0, 1).log_prob(weight).sum() + normal(net(torch.tensor(X)), 1).log_prob(torch.tensor(Y)).sum()
    np.testing.assert_allclose(found.item(), expected.item())


def test_layers_are_lifted_on_numpyro(x64):
    from numpyro.infer.util import log_density
    from scipy import stats

    for name, net in numpyro_layers():
        module = stanimport.loads(lifted(name), scheme="mixed")
        weight = np.arange(9.0).reshape(3, 3) / 10
        inputs = {**module.transformed_data(N=3, x=X, y=Y), "net": net}
        value, sites = log_density(module.model, (), inputs, {name: weight})
        assert name in sites
        zero = log_density(module.model, (), inputs, {name: 0 * weight})[0]
        prior = stats.norm.logpdf(weight).sum() - stats.norm.logpdf(0 * weight).sum()
        assert abs(float(value - zero) - prior) > 1e-3  # the network's output has changed, not the prior alone


@pytest.mark.parametrize("shape, said", [
    ("array[5] matrix[3, 3]", r"'2.weight' of shape \(3, 3\), declared is \(5, 3, 3\) in line 4"),
    ("array[3] real", r"'2.weight' of shape \(3, 3\), declared is \(3,\) in line 4"),
])  # fmt: skip
def test_lifted_parameters_of_another_shape_are_refused(shape, said, torch_double):
    source = lifted("net.2.weight", shape).replace("net.2.weight ~ normal(0, 1);", "")
    module = stanimport.loads(source, backend="pyro", scheme="comprehensive")
    with pytest.raises(StanNetworkError, match=said):
        density(module, net=torch_layers(torch_double))


def test_modules_of_flax_linen_are_refused_with_advice(x64):
    linen = pytest.importorskip("flax.linen", reason="flax is not installed")
    module = stanimport.loads(VECTOR)
    with pytest.raises(StanNetworkError, match="flax.linen, whose weights lie elsewhere: wrap it as flax.nnx.bridge"):
        module.model(**module.transformed_data(N=3, x=X, y=Y), net=linen.Dense(3))


def test_numbers_behind_a_name_stay_items_of_tuples():
    source = """
        data { tuple(real, tuple(real, int)) t; }
        parameters { real x; }
        model { x ~ normal(t.1, t.2.2 + .5); t.2.1 ~ normal(x, 1.5); }
    """
    from numpyro.infer.util import log_density
    from scipy import stats

    module = stanimport.loads(source, scheme="comprehensive")
    expected = stats.norm.logpdf(0.3, 0.5, 2.5) + stats.norm.logpdf(0.7, 0.3, 1.5)
    found = log_density(module.model, (), module.transformed_data(t=(0.5, (0.7, 2))), {"x": 0.3})[0]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
