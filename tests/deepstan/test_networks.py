"""Networks: where they are found, what they compute, lifting, and what their errors say."""
from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

import stanimport
from stanlib.networks import StanNetworkError

LINEAR = """
    networks {{ vector {path}(vector x); }}
    data {{ int N; vector[N] x; vector[N] y; }}
    parameters {{ real<lower=0> s; {lifted} }}
    model {{ s ~ exponential(1); {laws} y ~ normal(net(x), s); }}
"""
LIFTED = "matrix[3, 3] net.weight; vector[3] net.bias;"
LAWS = "net.weight ~ normal(0, 1); net.bias ~ normal(0, 2);"
DATA = {"N": 3, "x": [0.5, -1.0, 2.0], "y": [1.0, 0.0, -1.0]}
WEIGHT = np.arange(9.0).reshape(3, 3) / 10


def source(path="net", lifted="", laws=""):
    return LINEAR.format(path=path, lifted=lifted, laws=laws)


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package on the path; call it with the text of its files by name."""

    def make(**files):
        folder = tmp_path / "nets_pkg"
        folder.mkdir()
        for name, text in files.items():
            suffix = ".stan" if "networks {" in text else ".py"
            (folder / f"{name}{suffix}").write_text(textwrap.dedent(text))
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setenv("STANIMPORT_BACKEND", "pyro")
        return "nets_pkg"

    yield make
    for name in [n for n in sys.modules if n.partition(".")[0] == "nets_pkg"]:
        del sys.modules[name]


DOUBLING = """
    import torch

    class net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = torch.nn.Parameter(torch.tensor({scale}))

        def forward(self, x):
            return self.scale * x
"""


def log_density(module, s=1.0, **more):
    from pyro import poutine

    torch = sys.modules["torch"]
    conditioned = poutine.condition(module.model, {"s": torch.tensor(s)})
    trace = poutine.trace(conditioned).get_trace(**module.transformed_data(**DATA), **more)
    return float(trace.log_prob_sum().detach())


def expected(scale, s=1.0):
    from scipy import stats

    residuals = np.array(DATA["y"]) - scale * np.array(DATA["x"])
    return stats.norm.logpdf(residuals, scale=s).sum() - s


@pytest.fixture(autouse=True)
def own_parameters(torch_double):
    import pyro

    with pyro.get_param_store().scope():
        yield


# --- where networks are found ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path, module", [
    ("net", "networks"), (".nets.net", "nets"), ("nets_pkg.nets.net", "nets"),
])  # fmt: skip
def test_paths(path, module, package):
    package(__init__="", model=source(path), **{module: DOUBLING.format(scale=2.0)})
    from nets_pkg import model

    np.testing.assert_allclose(log_density(model), expected(2.0))


def test_a_network_is_passed_by_keyword(package):
    import torch

    module = stanimport.loads(source(), backend="pyro", scheme="mixed")
    net = torch.nn.Linear(3, 3)
    with torch.no_grad():
        net.weight.copy_(3 * torch.eye(3))
        net.bias.zero_()
    np.testing.assert_allclose(log_density(module, net=net), expected(3.0))


def test_a_keyword_wins_over_the_package(package):
    import torch

    package(__init__="", model=source(), networks=DOUBLING.format(scale=2.0))
    from nets_pkg import model

    np.testing.assert_allclose(log_density(model, net=torch.nn.Identity()), expected(1.0))


@pytest.mark.parametrize("path, files, said", [
    ("net", {}, "there is no module 'nets_pkg.networks', so pass it: model(..., net=...)"),
    (".nets.net", {}, "can't be imported: module '.nets'"),
    ("nets_pkg.nets.net", {"nets": "other = 1"}, "module 'nets_pkg.nets' has no 'net'"),
    ("net", {"networks": "def net(size): pass"}, "is made by net(), which fails"),
    ("net", {"networks": "net = 3"}, "is a builtins.int: Pyro's networks are torch.nn.Module"),
])  # fmt: skip
def test_what_is_not_found_is_said_with_path_and_line(path, files, said, package):
    package(__init__="", model=source(path), **files)
    from nets_pkg import model  # finding it waits until it is called

    with pytest.raises(StanNetworkError) as caught:
        log_density(model)
    assert said in str(caught.value)
    assert f"the network {path} (" in str(caught.value) and "model.stan, line 2)" in str(caught.value)


def test_a_relative_path_needs_a_package():
    with pytest.raises(StanNetworkError, match="the program is in no package"):
        log_density(stanimport.loads(source(".nets.net"), backend="pyro"))


def test_networks_are_declared_in_old_syntax_too():
    text = "networks { real[,] net(real[] x, int[,] n); } model { }"
    assert [w.severity for w in stanimport.check("old.stan", source=text)] == ["deprecation"] * 3


def test_the_declared_dimensions_are_checked():
    import torch

    module = stanimport.loads(source(), backend="pyro")
    with pytest.raises(StanNetworkError, match=r"of shape \(3, 1\), declared are 1 dimensions; of a batch, write"):
        log_density(module, net=torch.nn.Unflatten(0, (3, 1)))


# --- training and lifting on Pyro ------------------------------------------------------------------------------------


def test_weights_are_trained(package):
    import pyro
    from pyro.infer import SVI, Trace_ELBO

    package(__init__="", model=source(), networks=DOUBLING.format(scale=0.1))
    from nets_pkg import model

    inputs = model.transformed_data(N=3, x=[1.0, 2.0, 3.0], y=[2.0, 4.0, 6.0])
    pyro.set_rng_seed(1)
    guide = pyro.infer.autoguide.AutoDelta(model.model)
    svi = SVI(model.model, guide, pyro.optim.Adam({"lr": 0.05}), Trace_ELBO())
    for _ in range(150):
        svi.step(**inputs)
    assert set(pyro.get_param_store()) == {"net$$$scale", "AutoDelta.s"}
    assert abs(pyro.param("net$$$scale").item() - 2) < 0.05


def test_generated_quantities_ask_for_trained_weights(package):
    import pyro

    quantities = "generated quantities { vector[N] f = net(x); }"
    package(__init__="", model=source() + quantities, networks=DOUBLING.format(scale=0.1))
    from nets_pkg import model

    inputs = model.transformed_data(**DATA)
    with pytest.raises(StanNetworkError, match="has no trained weights here: Pyro's store of parameters lacks some"):
        model.generated_quantities(s=1.0, **inputs)
    pyro.param("net$$$scale", sys.modules["torch"].tensor(3.0))
    found = model.generated_quantities(s=1.0, **inputs)["f"]
    np.testing.assert_allclose(found.detach(), 3 * np.array(DATA["x"]))


def lifted_density(module, weight, bias, **more):
    from pyro import poutine

    torch = sys.modules["torch"]
    values = {"s": torch.tensor(1.0), "net.weight": torch.tensor(weight), "net.bias": torch.tensor(bias)}
    trace = poutine.trace(poutine.condition(module.model, values)).get_trace(**module.transformed_data(**DATA), **more)
    return float(trace.log_prob_sum().detach()), {n for n, s in trace.nodes.items() if s["type"] == "param"}


def expected_lifted(weight, bias, laws=True):
    from scipy import stats

    mean = weight @ np.array(DATA["x"]) + bias
    prior = stats.norm.logpdf(weight).sum() + stats.norm.logpdf(bias, scale=2).sum() if laws else 0.0
    return stats.norm.logpdf(np.array(DATA["y"]) - mean).sum() - 1.0 + prior


@pytest.mark.parametrize("scheme", ["comprehensive", "mixed", "generative"])
def test_parameters_of_networks_are_random_variables(scheme):
    import torch

    module = stanimport.loads(source(lifted=LIFTED, laws=LAWS), backend="pyro", scheme=scheme)
    bias = np.array([0.1, -0.2, 0.3])
    value, trained = lifted_density(module, WEIGHT, bias, net=torch.nn.Linear(3, 3))
    np.testing.assert_allclose(value, expected_lifted(WEIGHT, bias))
    assert trained == set()


def test_only_the_declared_parameters_are_lifted():
    import torch

    weight_only = "array[3, 3] real net.weight;"
    module = stanimport.loads(source(lifted=weight_only, laws="net.weight ~ normal(0, 1);"), backend="pyro")
    net = torch.nn.Linear(3, 3)
    value, trained = lifted_density(module, WEIGHT, np.zeros(3), net=net)
    assert trained == {"net$$$bias"}
    bias = net.bias.detach().numpy()
    np.testing.assert_allclose(value, expected_lifted(WEIGHT, bias) - expected_bias(bias))


def expected_bias(bias):
    from scipy import stats

    return stats.norm.logpdf(bias, scale=2).sum()


@pytest.mark.parametrize("lifted, said", [
    ("vector[3] net.wieght;", "has no parameter 'wieght', but weight, bias"),
    ("vector[2] net.bias;", r"has a parameter 'bias' of shape \(3,\), declared is \(2,\)"),
])  # fmt: skip
def test_lifted_parameters_are_checked_against_the_module(lifted, said):
    import torch

    name = lifted.partition(" ")[2].rstrip(";")
    module = stanimport.loads(source(lifted=lifted, laws=f"{name} ~ normal(0, 1);"), backend="pyro", scheme="mixed")
    with pytest.raises(StanNetworkError, match=said):
        log_density(module, net=torch.nn.Linear(3, 3))


@pytest.mark.parametrize("text, said", [
    (source(lifted="vector[3] nett.bias;"), "there is no network 'nett'"),
    ("networks { real net(real x); } transformed data { real y = net(1); }", "can't be called in transformed data"),
    ("networks { real net(real x); } functions { real f(real x) { return net(x); } } parameters { real net.b; }",
     "has parameters of the program"),
])  # fmt: skip
def test_misplaced_networks_are_refused(text, said):
    with pytest.raises(stanimport.StanSemanticError, match=said):
        stanimport.translate("net.stan", source=text)
