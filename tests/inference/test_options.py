"""Options of `sample` in all the forms that CmdStanPy takes, and what they do."""
import inspect

import numpy as np
import pytest
from conftest import FLIPS

import stanimport
from stanimport.inference.options import OptionError
from stanimport.inference.samplers import adaptation

SHORT = dict(iter_warmup=60, iter_sampling=20)


@pytest.fixture(scope="module")
def four_chains(beta_module):
    return stanimport.sample(beta_module, FLIPS, chains=4, seed=5, **SHORT)


def test_numbers_of_numpy_and_none(beta_module, four_chains):
    same = stanimport.sample(beta_module, FLIPS, chains=np.int64(4), seed=np.int32(5), thin=None, metric=None,
                             max_treedepth=None, adapt_delta=None, step_size=None, iter_warmup=np.int16(60),
                             iter_sampling=20)  # fmt: skip
    np.testing.assert_array_equal(same.draws(), four_chains.draws())


def test_chains_in_several_processes_are_those_of_one(beta_module, four_chains):
    """The same random numbers for a chain of a number, whatever the others are."""
    two = stanimport.sample(beta_module, FLIPS, chains=2, chain_ids=[2, 4], seed=5, restart_stranded=False, **SHORT)
    np.testing.assert_array_equal(two.variables["theta"], four_chains.variables["theta"][[1, 3]])
    np.testing.assert_array_equal(two.variables["noise"], four_chains.variables["noise"][[1, 3]])
    assert two.chain_ids == [2, 4] and set(two.draws_pd()["chain__"]) == {2, 4}
    assert two.draws_xr("theta").chain.values.tolist() == [2, 4]


SIMULATED = """transformed data { real y = normal_rng(0, 1); }
parameters { real mu; }
model { y ~ normal(mu, 1); }
generated quantities { real data_ = y; real replicated = normal_rng(mu, 1); }"""


@pytest.mark.sampled(8)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("options", [{}, {"fixed_param": True}, {"save_warmup": True}], ids=str)
def test_chains_of_one_seed_have_one_posterior(options, backend):
    """Random transformed data are those of the seed, as in CmdStan, whatever numbers the chains of a process have."""
    if backend == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
        if "save_warmup" in options:
            pytest.skip("Pyro's NUTS keeps no warm-up")
    module = stanimport.loads(SIMULATED, backend=backend)
    given = dict(seed=5, iter_warmup=20, iter_sampling=10) | options
    whole = stanimport.sample(module, chains=3, **given)
    last = stanimport.sample(module, chains=1, chain_ids=3, **given)
    of, found = ((f.with_warmup() if f.has_warmup else f.variables) for f in (whole, last))
    for name, draws in of.items():
        np.testing.assert_array_equal(found[name][0], draws[2], err_msg=name)
    assert (whole.variables["replicated"][0] != whole.variables["replicated"][2]).all()
    assert last.seed == whole.seed == 5


@pytest.mark.slow
def test_samplers_that_move_all_chains_know_their_numbers(beta_module):
    """Chains of one seed in another process are other chains; their seed is told, and makes them again."""
    given = dict(method="chees", chains=8, **SHORT)
    first = stanimport.sample(beta_module, FLIPS, seed=5, **given)
    next_ones = stanimport.sample(beta_module, FLIPS, seed=5, chain_ids=9, **given)
    assert next_ones.seed == 5 and (next_ones.variables["theta"] != first.variables["theta"]).any(1).all()
    drawn = stanimport.sample(beta_module, FLIPS, chain_ids=9, **given)
    again = stanimport.sample(beta_module, FLIPS, chain_ids=9, seed=drawn.seed, **given)
    np.testing.assert_array_equal(again.draws(), drawn.draws())


def test_a_seed_for_each_chain(beta_module, four_chains):
    fit = stanimport.sample(beta_module, FLIPS, chains=2, seed=[6, 5], restart_stranded=False, **SHORT)
    np.testing.assert_array_equal(fit.variables["theta"][1], four_chains.variables["theta"][1])
    assert (fit.variables["theta"][0] != four_chains.variables["theta"][0]).any()


def test_a_step_size_and_a_metric_for_each_chain(beta_module, four_chains):
    metric = four_chains.metric
    assert metric.shape == (4, 1)
    fit = stanimport.sample(beta_module, FLIPS, chains=4, seed=1, adapt_engaged=False, step_size=[0.1, 0.2, 0.3, 0.4],
                            metric=metric, iter_warmup=0, iter_sampling=10)  # fmt: skip
    np.testing.assert_array_equal(fit.step_size, [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(fit.stats["stepsize__"][:, -1], [0.1, 0.2, 0.3, 0.4])
    np.testing.assert_array_equal(fit.metric, metric)
    for given in ([{"inv_metric": m} for m in metric], list(metric)):
        again = stanimport.sample(beta_module, FLIPS, chains=4, seed=1, adapt_engaged=False, inv_metric=given,
                                  iter_warmup=0, iter_sampling=10, step_size=(0.1, 0.2, 0.3, 0.4))  # fmt: skip
        np.testing.assert_array_equal(again.draws(), fit.draws())


def test_warm_up_alone(beta_module):
    fit = stanimport.sample(beta_module, FLIPS, chains=2, iter_warmup=50, iter_sampling=0, save_warmup=True, seed=1)
    assert fit.draws().shape == (0, 2, 20) and fit.draws(inc_warmup=True).shape == (50, 2, 20)
    assert fit.step_size.shape == (2,) and fit.stan_variable("m").shape == (0, 2, 3)
    assert "theta" not in str(fit.diagnose())


def test_windows_of_the_warm_up():
    """Those of CmdStan for these options: an initial phase, windows that double, a final phase."""
    assert [s.end for s in adaptation.schedule(1000, 50, 100, 150)] == [50, 150, 350, 850, 1000]
    assert [s.end for s in adaptation.schedule(1000)] == [75, 100, 150, 250, 450, 950, 1000]


WRONG = [
    ({"chains": 0}, "chains must be at least 1"), ({"chains": 2.5}, "chains must be an integer"),
    ({"iter_sampling": -1}, "iter_sampling must be at least 0"), ({"seed": "a"}, "seed must be an integer"),
    ({"seed": -1}, "seed must be at least 0"), ({"seed": [1, 2, 3]}, "seed has 3 values for 2 chains"),
    ({"step_size": [0.1, -1]}, "step_size must be positive"), ({"step_size": "x"}, "step_size must be positive"),
    ({"step_size": float("inf")}, "step_size must be positive and finite"),
    ({"chain_ids": [1, 1]}, "chain_ids must be different"), ({"metric": [[1.0], [2.0], [3.0]]}, "metric"),
    ({"metric": [1.0], "inv_metric": [1.0]}, "one of them is enough"),
    ({"thin": True}, "thin must be an integer, not True"),
    ({"save_warmup": "no"}, "save_warmup must be True or False, not 'no'"),
    ({"iter_warmup": 0, "iter_sampling": 0}, "nothing to do"),
    ({"method": "numpyro", "step_size": [0.1, 0.2]}, "needs method='nuts'"),
]  # fmt: skip


@pytest.mark.parametrize("wrong, told", WRONG)
def test_errors_name_the_option(beta_module, wrong, told):
    with pytest.raises(OptionError, match=told):
        stanimport.sample(beta_module, FLIPS, **{"chains": 2, **SHORT, **wrong})


def test_options_that_pyros_sampler_has_not(beta_module):
    """They are refused, not passed over."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads(beta_module.stan.source, backend="pyro")
    with pytest.raises(ValueError, match="save_warmup"):
        stanimport.sample(module, FLIPS, chains=1, iter_warmup=2, iter_sampling=2, seed=1, save_warmup=True)


@pytest.mark.parametrize("percentiles", [[120], [-1], [None], ["5"]])
def test_percentiles_that_are_none(beta_fit, percentiles):
    with pytest.raises(ValueError, match="percentiles must be numbers from 0 to 100"):
        beta_fit.summary(percentiles=percentiles)


def test_tracebacks_tell_the_lines_of_the_user_and_of_the_program():
    """Not the dozen of this package between them."""
    refused = "functions { real f(real x) { if (x < 5) reject(x); return x; } } data { real z; } transformed data { " \
              "real u = f(z); } parameters { real a; } model { a ~ normal(u, 1); }"  # fmt: skip
    module = stanimport.loads(refused)
    for method in (stanimport.sample, stanimport.optimize, stanimport.variational):
        with pytest.raises(stanimport.StanError) as caught:
            method(module, {"z": 1})
        names = [f.name for f in caught.traceback]
        assert names[-2:] == ["transformed_data", "f"] and len(names) < 6, names
        with pytest.raises(stanimport.StanDataError) as caught:
            method(module, {"Z": 1})
        assert len(caught.traceback) < 5
    with pytest.raises(OptionError) as caught:
        stanimport.sample(module, {"z": 7}, chains=0)
    assert len(caught.traceback) < 4


@pytest.mark.parametrize("method", ["optimize", "variational", "advi", "pathfinder", "laplace_sample",
                                    "prior_predictive", "generate_quantities"])  # fmt: skip
def test_seeds_and_counts_of_every_method_are_whole(beta_module, beta_fit, method):
    """They were cut to integers, or refused by an error that named nothing."""
    previous = {"previous_fit": beta_fit} if method == "generate_quantities" else {}

    def run(**options):
        return getattr(stanimport, method)(beta_module, beta_fit.data, **previous, **options)

    for seed, told in ((1.5, "an integer, not 1.5"), ("a", "an integer"), (-1, "at least 0"), (True, "an integer")):
        with pytest.raises(OptionError, match=f"seed must be {told}"):
            run(seed=seed)
    count = {"optimize": "iter", "variational": "iter"}.get(method, "draws")
    if not previous:
        for wrong, told in ((1.5, "must be an integer"), (0, "must be at least 1"), (True, "must be an integer")):
            with pytest.raises(OptionError, match=f"{count} {told}"):
                run(**{count: wrong})


def test_none_is_the_default(beta_module):
    """As in CmdStanPy, of every method."""
    settings = [stanimport.optimize(beta_module, FLIPS, seed=1, **given).settings for given in (
        {}, {"iter": None, "history_size": None, "tol_grad": None, "jacobian": None, "show_progress": None})]
    assert settings[0] == settings[1] and settings[1]["iter"] == 2000
    draws = [stanimport.laplace_sample(beta_module, FLIPS, seed=1, **given).draws() for given in (
        {"draws": None, "jacobian": None}, {"draws": np.int64(1000), "jacobian": np.True_})]
    np.testing.assert_array_equal(*draws)


def test_tolerances_are_not_negative(beta_module):
    with pytest.raises(OptionError, match="tol_grad must be at least 0, not -1"):
        stanimport.optimize(beta_module, {}, tol_grad=-1)


METHODS = ("sample", "optimize", "variational", "advi", "pathfinder", "laplace_sample", "generate_quantities",
           "prior_predictive", "log_prob", "sample_many", "sbc", "leave_groups_out")  # fmt: skip
WRONG_KINDS = {
    "bool": ("no", 2, [], np.array([1, 2])), "SupportsIndex": ("x", 2.5, True, [1], 2**40, {}),
    "float": ("x", [1.0], True, 1j, None.__class__), "str": (3, [], {}, np.array([1, 2])),
    "Names": (3, [1], [None], b"x"), "Mapping[str, object]": ([1], "x", np.array([1, 2])),
    "Mapping[str, Any]": ([1], "x"), "str | os.PathLike[str]": (3, [1], b"x"),
    "Place": (3, [1], b"x"),
}  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_values_of_another_kind_are_told_for_every_option(beta_module, method):
    """Before anything runs, and by the option's name."""
    function, tried = getattr(stanimport, method), 0
    for p in inspect.signature(function).parameters.values():
        kind = str(p.annotation).removesuffix(" | None")
        for wrong in WRONG_KINDS.get(kind, ()) if p.kind is p.KEYWORD_ONLY else ():
            if p.name == "seed" and wrong == 2**40:  # which is one
                continue
            tried += 1
            with pytest.raises(OptionError, match=f"^{p.name} must be "):
                function(beta_module, FLIPS, **{p.name: wrong})
    assert tried or method in ("log_prob",)


NAMED = {"stan_variable": {"name": "theta"}, "save": {"path": "fit.nc"}, "discrete_probabilities": {"name": "theta"},
         "most_probable": {"name": "theta"}, "load": {"path": "fit.nc"}}  # fmt: skip
METHODS_OF_FITS = [n for n, m in inspect.getmembers(stanimport.Fit, inspect.isroutine) if not n.startswith("_")]


@pytest.mark.parametrize("method", sorted({*METHODS_OF_FITS} - {"of"}))
def test_so_are_those_of_the_methods_of_a_fit(beta_fit, method):
    function = getattr(beta_fit, method)
    wrong = WRONG_KINDS | {
        "Sequence[str] | str": WRONG_KINDS["Names"], "bool | Sequence[str] | str": (3, [1], b"x"),
        "Mapping[str, Sequence[str]]": ([1], "x", {"theta": 1}, {"theta": [1]}),
        "Mapping[str, Sequence[object]]": ([1], "x", {"theta": 1}),
    }  # fmt: skip
    for p in inspect.signature(function).parameters.values():
        kind = str(p.annotation).removesuffix(" | None")
        assert kind in (*wrong, "object", "Sequence[float]") or p.kind is p.VAR_KEYWORD
        for value in wrong.get(kind, ()) if p.kind is not p.VAR_KEYWORD else ():
            if p.name == "seed" and value == 2**40:
                continue
            with pytest.raises(OptionError, match=f"^{p.name} must be "):
                function(**{**NAMED.get(method, {}), p.name: value})


def test_one_name_is_a_name(beta_fit):
    """Of whoever takes several: a text is not taken for its letters."""
    pytest.importorskip("arviz", reason="the inference extra is not installed")
    assert len(np.ravel(beta_fit.plot_trace("theta"))) == 2
    with pytest.raises(ValueError, match="there is no variable 'thta'; did you mean 'theta'"):
        beta_fit.plot_posterior("thta")
    with pytest.raises(ValueError, match="there is no variable 'nois'"):
        beta_fit.to_arviz(posterior_predictive="nois")
    with pytest.raises(ValueError, match="there are no observations of 'theta'"):
        beta_fit.plot_ppc("theta")
    assert "noise" in beta_fit.to_arviz(posterior_predictive="noise").posterior_predictive


def test_significant_digits_are_positive(beta_fit, tmp_path):
    with pytest.raises(OptionError, match="sig_figs must be at least 1, not 0"):
        beta_fit.summary(sig_figs=0)
    with pytest.raises(OptionError, match="sig_figs must be at least 1, not -2"):
        beta_fit.save_csvfiles(tmp_path, sig_figs=-2)


FILES = [("sample", "inits", "no.json"), ("sample", "inits", ["no.json"] * 4), ("sample", "inits", "no.nc"),
         ("sample", "resume", "no"), ("sample", "inv_metric", "no.json"), ("optimize", "inits", "no.R"),
         ("laplace_sample", "mode", "no.csv"), ("log_prob", "params", "no.json"),
         ("generate_quantities", "previous_fit", "no.nc"),
         ("generate_quantities", "previous_fit", "no.csv")]  # fmt: skip


@pytest.mark.parametrize("method, option, path", FILES)
def test_files_that_are_not_there_are_told_with_the_option(beta_module, method, option, path):
    with pytest.raises(stanimport.StanDataError, match=rf"^(metric, or )?{option}: no\.?\w*[: ]"):
        getattr(stanimport, method)(beta_module, FLIPS, **{option: path})
