"""Plots by each of ArviZ's two forms: one package, and the split ones, of which a stand-in notes what it is asked."""
import sys
import types

import arviz
import matplotlib.pyplot as plt
import numpy as np
import pytest
import xarray as xr

import stanimport
from stanimport.inference.fits import arviz_packages, plots


@pytest.fixture(autouse=True)
def closing():
    yield
    plt.close("all")


@pytest.fixture
def split(monkeypatch):
    """ArviZ's split packages: the calls of plots, (function, data, variables, options)."""
    calls = []

    class Package(types.ModuleType):
        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return lambda data, var_names=None, **options: calls.append((name, data, var_names, options))

    module = Package("arviz_plots")
    module.__spec__ = types.SimpleNamespace(name="arviz_plots")
    monkeypatch.setitem(sys.modules, "arviz_plots", module)
    for where in (arviz_packages, plots):
        monkeypatch.setattr(where, "is_whole", lambda: False)
    return calls


def test_the_split_packages_get_a_tree_and_the_names_that_are_theirs(beta_fit, split):
    beta_fit.plot_trace(["theta"], figsize=(2, 2))
    beta_fit.plot_posterior()
    (trace, tree, names, options), (posterior, _, every, _) = split
    assert (trace, posterior) == ("plot_trace_dist", "plot_dist") and isinstance(tree, xr.DataTree)
    assert names == ["theta"] and every is None and options == {"figsize": (2, 2)}
    assert tree["posterior"]["theta"].shape == (2, 500)
    beta_fit.plot_ppc()
    name, tree, names, _ = split[-1]
    assert name == "plot_ppc_dist" and names == ["y"]
    assert {"posterior_predictive", "observed_data"} <= set(tree.children)


def test_without_the_split_package_of_plots(beta_fit, monkeypatch):
    monkeypatch.setattr(plots, "is_whole", lambda: False)
    monkeypatch.setattr(plots.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(stanimport.inference.fits.plots.MissingLibraryError, match="pip install arviz-plots"):
        beta_fit.plot_trace()


def test_replications_of_another_name_are_paired_by_shape():
    """Of several shapes; what is observed under its own name needs no pair."""
    rng = np.random.default_rng(1)
    replicated = {"short_rep": rng.normal(size=(1, 20, 2)), "mine_rep": rng.normal(size=(1, 20, 3))}
    data = arviz.from_dict(posterior_predictive=replicated, observed_data={"y": np.arange(3.0)})
    names, options = plots._paired(data, None, {}, True)
    assert (names, options) == (["y"], {"data_pairs": {"y": "mine_rep"}})
    assert plots.plot("ppc", lambda replicated: data, [], None, {"num_pp_samples": 5}) is not None
    same = arviz.from_dict(posterior_predictive={"y": replicated["mine_rep"]}, observed_data={"y": np.arange(3.0)})
    assert plots._paired(same, None, {}, True) == (["y"], {})


def test_there_must_be_replications():
    module = stanimport.loads("parameters { real x; } model { x ~ std_normal(); }", name="alone")
    fit = stanimport.sample(module, chains=1, iter_warmup=20, iter_sampling=20, seed=1)
    with pytest.raises(ValueError, match="no replicated data: name a generated quantity"):
        fit.plot_ppc()
    with pytest.raises(ValueError, match="there is no variable 'y'"):
        fit.plot_trace(["y"])


def test_figures_of_both_forms_are_saved(tmp_path):
    saved = []
    drawn = types.SimpleNamespace(savefig=lambda path: saved.append(path) or path.write_bytes(b"x"))
    plots.save_figure(drawn, tmp_path / "a.png")
    assert len(saved) == 1 and (tmp_path / "a.png").read_bytes() == b"x"
    _, axes = plt.subplots(2, 1)
    plots.save_figure(axes, tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(("name", "whole"), [("arviz", True), ("xarray", False)])
def test_the_split_packages_may_call_a_tree_inference_data(monkeypatch, name, whole):
    """As ArviZ 1.3 does to who asks for that attribute; groups of draws become the tree then."""
    tree = arviz.InferenceData if name == "arviz" else xr.DataTree
    module = types.ModuleType("arviz")
    setattr(module, "InferenceData" if whole else "__getattr__", tree if whole else lambda name: tree)
    monkeypatch.setitem(sys.modules, "arviz", module)
    monkeypatch.setattr(arviz_packages.importlib.util, "find_spec", lambda name: object())
    assert arviz_packages.is_whole() is whole
    made = arviz_packages.container({"posterior": xr.Dataset({"x": (("chain", "draw"), np.ones((1, 2)))})})
    assert isinstance(made, tree) and made["posterior"]["x"].shape == (1, 2)
