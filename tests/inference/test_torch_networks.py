"""Networks of torch where a program for Pyro runs on NumPyro: values, derivatives, the methods that Pyro has not."""
from __future__ import annotations

import numpy as np
import pytest

import stanimport
from stanimport.inference import LogProb
from stanimport.inference.modules import with_networks

torch = pytest.importorskip("torch", reason="the pyro extra is not installed")
pyro = pytest.importorskip("pyro", reason="the pyro extra is not installed")

LIFTED = """
    networks { tuple(vector, real) net(vector x, array[] int k); }
    data { int N; vector[N] x; array[N] int k; vector[N] y; }
    parameters { real<lower=0> s; array[2, 1] real net.first.weight; vector[N] shift; }
    model {
      s ~ exponential(1);
      to_array_1d(net.first.weight) ~ normal(0, 1);
      shift ~ normal(0, 1);
      tuple(vector[N], real) t = net(x + shift, k);
      y ~ normal(t.1, s + t.2);
    }
"""
DATA = {"N": 3, "x": [0.5, -1.0, 2.0], "k": [1, 0, 1], "y": [1.0, 0.0, -1.0]}


class Net(torch.nn.Module):
    """Of reals, integers and a lifted layer, with a result that is a list."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.first, self.chosen, self.last = torch.nn.Linear(1, 2), torch.nn.Embedding(2, 2), torch.nn.Linear(2, 1)

    def forward(self, x, k):
        hidden = torch.tanh(self.first(x[:, None])) + self.chosen(k)
        return [self.last(hidden)[:, 0], torch.nn.functional.softplus(hidden.sum())]


class Plain(torch.nn.Module):
    """One without parameters but those that the program lifts, which are in double precision."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Module()
        self.first.weight = torch.nn.Parameter(torch.zeros(2, 1, dtype=torch.float64))

    def forward(self, x, k):
        return torch.sin(x) * self.first.weight.sum(), torch.exp(x * k).sum()


class Narrow(torch.nn.Module):
    """A network that insists on single precision."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(1, 2)

    def forward(self, x, k):
        return self.first(x[:, None].type(torch.float32)).sum(1) * k, self.first.weight.abs().sum()


@pytest.mark.parametrize("net, tolerance", [(Net().double(), 1e-10), (Plain(), 1e-10), (Net(), 1e-5), (Narrow(), 1e-5)])
def test_the_density_and_its_gradient_are_those_of_pyro(net, tolerance):
    from stanimport.inference.methods.pyro_methods import Density, double_precision

    module = stanimport.loads(LIFTED, backend="pyro", name="lifted")
    density = LogProb(module, DATA, networks={"net": net})
    point = np.random.default_rng(1).normal(size=density.size)
    found = density.at(point)
    with double_precision(1), pyro.get_param_store().scope():
        pyros = Density(with_networks(module, {"net": net}), DATA)
        at = torch.tensor(point, requires_grad=True)
        value = pyros(at)
        (slope,) = torch.autograd.grad(value, at)
    np.testing.assert_allclose(found.lp, value.item(), rtol=tolerance)
    np.testing.assert_allclose(found.gradient, slope.numpy(), rtol=100 * tolerance, atol=tolerance)


CURVED = """
    networks { vector net(vector x); }
    parameters { vector[2] b; }
    model { b ~ normal(0, 1); target += -sum(square(net(b))); }
    generated quantities { vector[2] f = net(b); }
"""


def test_methods_of_numpyro_take_networks_of_torch():
    """The network is a linear map, so that the posterior is a normal law."""
    module, net = stanimport.loads(CURVED, backend="pyro", name="curved"), torch.nn.Linear(2, 2)
    weight, bias = net.weight.detach().numpy().astype(float), net.bias.detach().numpy().astype(float)
    covariance = np.linalg.inv(np.eye(2) + 2 * weight.T @ weight)
    mean = -2 * covariance @ weight.T @ bias
    mode = stanimport.optimize(module, seed=1, networks={"net": net}, algorithm="newton")
    np.testing.assert_allclose(mode.stan_variable("b"), mean, atol=1e-5)
    np.testing.assert_allclose(mode.stan_variable("f"), weight @ mean + bias, atol=1e-5)
    fit = stanimport.laplace_sample(module, seed=1, networks={"net": net}, draws=2)
    rises = np.diff(fit.stats["log_p__"][0]), np.diff(fit.stats["log_q__"][0])
    np.testing.assert_allclose(rises[0], rises[1], rtol=1e-5)  # the approximation is exact


def test_observations_are_predicted_with_networks_of_torch():
    module = stanimport.loads("""
        networks { vector net(vector x); }
        data { int N; vector[N] x; vector[N] y; }
        parameters { real b; }
        model { b ~ normal(0, 1); y ~ normal(net(x * b), 1e-6); }
    """, backend="pyro", name="predicts")  # fmt: skip
    x = np.array([1.0, 2.0])

    class Each(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.line = torch.nn.Linear(1, 1)

        def forward(self, x):
            return self.line(x[:, None])[:, 0]

    net = Each()
    line = net.line.weight.item(), net.line.bias.item()
    prior = stanimport.prior_predictive(module, {"N": 2, "x": x}, draws=5, seed=1, networks={"net": net})
    expected = line[0] * prior.stan_variable("b")[:, None] * x + line[1]
    np.testing.assert_allclose(prior.stan_variable("y"), expected, atol=1e-4)


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("method", ["pathfinder", "advi"])
def test_approximations_find_the_posterior_of_a_linear_network(method):
    """Which is normal, so that its mean is known."""
    program = "networks { vector f(vector x); } data { vector[3] y; } parameters { vector[2] a; }"
    module = stanimport.loads(f"{program} model {{ a ~ normal(0, 1); y ~ normal(f(a), 1); }}", backend="pyro")
    torch.manual_seed(0)
    net, y = torch.nn.Linear(2, 3), np.array([0.5, -1, 2])
    run = getattr(stanimport.inference, method)
    found = run(module, {"y": y}, networks={"f": net}, seed=1).stan_variable("a").mean(axis=0)
    weights, bias = (p.detach().double().numpy() for p in (net.weight, net.bias))
    exact = np.linalg.solve(np.eye(2) + weights.T @ weights, weights.T @ (y - bias))
    np.testing.assert_allclose(found, exact, atol=0.15)
