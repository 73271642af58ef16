"""The same model on many data sets: in one program, on executors, with failures, restarted."""
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import compilation
import numpy as np
import pytest
from conftest import MODELS

import stanimport
from stanimport.inference.options import OptionError
from stanimport.inference.running import progress
from stanimport.inference.studies import batches, many, stacked

DRAWS = dict(chains=2, iter_warmup=200, iter_sampling=300)


def sets(*heads, flips=20):
    return [{"flips": flips, "heads": [1] * h + [0] * (flips - h)} for h in heads]


@pytest.fixture(scope="module")
def coin():
    return stanimport.load(MODELS / "coin.stan")


def beta_mean(fit, module):
    """The posterior mean of the coin with its beta(2, 2) prior."""
    heads = np.asarray(fit.data["heads"])
    return (2 + heads.sum()) / (4 + len(heads))


def check(fits, module):
    for fit in fits:
        assert fit.stan_variable("bias").mean() == pytest.approx(beta_mean(fit, module), abs=0.04)


def test_one_program_for_data_of_the_same_shape(coin, monkeypatch):
    alone = []
    original = many.fit_one
    monkeypatch.setattr(many, "fit_one", lambda *a: alone.append(a[1]) or original(*a))
    data = [*sets(3, 10, 18), {"flips": 2, "heads": [1, 7]}]
    fits = stanimport.sample_many(coin, data, seed=1, sampling=DRAWS)
    assert alone == [3] and [bool(f) for f in fits] == [True, True, True, False]
    check(fits[:3], coin)
    assert fits[3].index == 3 and "heads[2] is 7" in str(fits[3].error)
    assert len({f.seed for f in fits[:3]}) == 3
    flips = fits[0].stan_variable("next_flip")
    assert flips.mean() == pytest.approx(beta_mean(fits[0], coin), abs=0.1)


def test_threads_and_processes(coin, monkeypatch):
    data = sets(3, 15)
    with ThreadPoolExecutor(2) as threads:
        in_threads = stanimport.sample_many(coin, data, executor=threads, seed=1, sampling=DRAWS)
    monkeypatch.setenv("XLA_FLAGS", compilation.quickly(os.environ)["XLA_FLAGS"])
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        (elsewhere,) = stanimport.sample_many(coin, data[:1], executor=processes, seed=1, sampling=DRAWS)
    check(in_threads, coin)
    np.testing.assert_array_equal(in_threads[0].variables["bias"], elsewhere.variables["bias"])


@pytest.mark.slow
def test_restarted_from_what_is_done(coin, tmp_path, monkeypatch):
    data = sets(3, 10, 18)
    first = stanimport.sample_many(coin, data[:1], seed=1, folder=tmp_path, sampling=DRAWS)
    (tmp_path / "0001.nc").write_text("half a file")
    made = []
    original = batches.groups_of
    monkeypatch.setattr(batches, "groups_of", lambda m, d, *a: made.extend(d) or original(m, d, *a))
    again = stanimport.sample_many(coin, data, seed=1, folder=tmp_path, sampling=DRAWS)
    assert made == [1, 2] and sorted(p.name for p in tmp_path.iterdir()) == ["0000.nc", "0001.nc", "0002.nc"]
    np.testing.assert_array_equal(again[0].variables["bias"], first[0].variables["bias"])
    check(again, coin)


def test_fits_made_together_are_those_made_alone(coin, monkeypatch):
    """Also where the lanes are not full, and several programs' worth of chains run in turn."""
    monkeypatch.setattr(batches, "LANES", 4)
    monkeypatch.setattr(batches, "CHAINS", 8)
    fits = stanimport.sample_many(coin, sets(3, 10, 18, 4, 5, 6, 7), seed=1, sampling=DRAWS)
    check(fits, coin)
    for fit in (fits[0], fits[6]):
        alone = stanimport.sample(coin, {n: fit.data[n] for n in ("flips", "heads")}, seed=fit.seed, **DRAWS)
        np.testing.assert_allclose(fit.variables["bias"], alone.variables["bias"], rtol=1e-3)  # rounding
        assert np.mean(fit.variables["next_flip"] == alone.variables["next_flip"]) > 0.99
        np.testing.assert_allclose(fit.metric, alone.metric, rtol=1e-3)


@pytest.mark.slow
def test_integers_that_are_wrong_in_one_data_set_alone():
    """Indices are checked for each data set; one that can't start fails alone."""
    program = stanimport.loads("""data { array[3] int g; vector[3] y; } parameters { vector[4] m; }
      model { m ~ normal(0, 1); for (i in 1:3) y[i] ~ normal(m[g[i]], 1 + 0 * sqrt(y[i])); }""")
    data = [{"g": g, "y": y} for g, y in (([1, 2, 3], [1, 2, 3.0]), ([1, 2, 9], [1, 2, 3.0]), ([4, 4, 1], [1, -1, 3.0]),
                                          ([4, 3, 2], [2.0, 2, 2]))]  # fmt: skip
    fits = stanimport.sample_many(program, data, seed=1, sampling=dict(chains=1, iter_warmup=150, iter_sampling=400))
    assert [bool(f) for f in fits] == [True, False, False, True]
    assert "out of range" in str(fits[1].error) or "9" in str(fits[1].error)
    assert isinstance(fits[2].error, stanimport.StanError)
    assert fits[3].stan_variable("m")[:, 3].mean() == pytest.approx(1, abs=0.2)  # of two normal laws
    assert fits[0].stan_variable("m")[:, 3].mean() == pytest.approx(0, abs=0.25)


def test_data_sets_with_keys(coin, tmp_path):
    data = dict(zip(("few", "a/b", "wrong"), [*sets(3, 15), {"flips": 2, "heads": [1, 7]}]))
    fits = stanimport.sample_many(coin, data, seed=1, folder=tmp_path, sampling=DRAWS)
    assert list(fits) == list(data) and not fits["wrong"] and fits["wrong"].key == "wrong"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a_b.nc", "few.nc"]
    check([fits["few"], fits["a/b"]], coin)
    with pytest.raises(OptionError, match="same name of a file"):
        stanimport.sample_many(coin, {"a/b": data["few"], "a_b": data["few"]}, folder=tmp_path, sampling=DRAWS)


@pytest.mark.slow
def test_one_zarr_store(coin, tmp_path, monkeypatch):
    """A run that is killed goes on; fits are read one by one; failures are told by key."""
    pytest.importorskip("zarr", reason="zarr is not installed")
    monkeypatch.setattr(batches, "CHAINS", 4)
    monkeypatch.setattr(stacked, "_TOGETHER", 2)
    data = dict(zip("abcdef", [*sets(3, 10, 18, 7, 12), {"flips": 20, "heads": [7] * 20}]))
    kept, write = [], stacked.Stack.write

    def dies(self, fits):
        if len(kept) == 2:
            raise KeyboardInterrupt
        kept.append(list(fits))
        write(self, fits)

    path = tmp_path / "fits.zarr"
    with monkeypatch.context() as m, pytest.raises(KeyboardInterrupt):
        m.setattr(stacked.Stack, "write", dies)
        stanimport.sample_many(coin, data, seed=1, folder=path, sampling=DRAWS)
    made = []
    original = batches.groups_of
    monkeypatch.setattr(batches, "groups_of", lambda m, d, *a: made.extend(d) or original(m, d, *a))
    fits = stanimport.sample_many(coin, data, seed=1, folder=path, sampling=DRAWS)
    assert made == [4, 5] and len(fits) == 6 and list(fits.failures) == ["f"]
    assert fits.failures["f"][0] == "StanDataError" and not fits[5] and fits["f"].key == "f"
    check(fits[:5], coin)
    whole = stanimport.sample_many(coin, data, seed=1, sampling=DRAWS)
    for key in "abcde":
        np.testing.assert_allclose(fits[key].draws(), whole[key].draws(), rtol=1e-3, atol=1e-3)
        np.testing.assert_array_equal(fits[key].data["heads"], data[key]["heads"])
        assert fits[key].seed == whole[key].seed and fits[key].step_size.shape == (2,)
    found = fits.dataset()
    assert found["bias"].dims == ("fit", "chain", "draw") and list(found["fit"].values) == list("abcdef")
    np.testing.assert_array_equal(found["bias"].sel(fit="c"), fits["c"].variables["bias"])
    with pytest.raises(OptionError, match="other data sets"):
        stanimport.sample_many(coin, sets(3), folder=path, sampling=DRAWS)
    sizes = [*sets(3), *sets(2, flips=5)]
    long = stanimport.loads("""data { int flips; array[flips] int heads; } parameters { real m; }
      model { m ~ std_normal(); } generated quantities { vector[flips] y = zeros_vector(flips); }""")
    with pytest.raises(OptionError, match=r"y has the shape \(2, 300, 5\), in other fits \(2, 300, 20\)"):
        stanimport.sample_many(long, sizes, folder=tmp_path / "sizes.zarr", sampling=DRAWS)


@pytest.mark.parametrize("name", ["fits.zarr", "fits"])
def test_keys_of_one_text_are_refused(coin, tmp_path, name):
    """A store gave the first one's fit for both."""
    with pytest.raises(OptionError, match="two keys"):
        stanimport.sample_many(coin, dict.fromkeys((1, "1"), {"flips": 1, "heads": [1]}), folder=tmp_path / name)


def test_one_bar_counts_the_fits(coin, capsys, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    stanimport.sample_many(coin, sets(3, 15), seed=1, show_progress=True, sampling=DRAWS)
    assert "100%, 2 of 2" in capsys.readouterr().err


def test_unknown_options_are_no_failures(coin):
    with pytest.raises(TypeError, match="'iter_warmup'"):
        stanimport.sample_many(coin, sets(3), sampling=dict(warmup=10))


@pytest.mark.slow
def test_dask_on_a_local_cluster(coin):
    distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed")
    data = [*sets(3, 15), {"flips": 2, "heads": [1, 7]}]
    local = dict(n_workers=1, threads_per_worker=1, dashboard_address=None)
    with distributed.LocalCluster(**local) as cluster, distributed.Client(cluster) as client:
        fits = stanimport.sample_many(coin, data, executor=client.get_executor(), seed=1, sampling=DRAWS)
    check(fits[:2], coin)
    assert fits[2].index == 2 and "heads[2] is 7" in str(fits[2].error)
    here = stanimport.sample(coin, data[1], seed=fits[1].seed, **DRAWS)
    np.testing.assert_array_equal(fits[1].variables["bias"], here.variables["bias"])


def test_random_transformed_data_are_drawn_for_each_fit(monkeypatch):
    """Made together as made alone: a study may simulate its data there."""
    program = stanimport.loads("""data { int N; }
      transformed data { vector[N] y; for (n in 1:N) y[n] = normal_rng(0, 10); }
      parameters { real m; } model { y ~ normal(m, 1); } generated quantities { real first = y[1]; }""")
    fits = stanimport.sample_many(program, [{"N": 3}] * 3, seed=1, sampling=DRAWS)
    firsts = [fit.stan_variable("first")[0] for fit in fits]
    assert len(set(firsts)) == 3
    alone = [stanimport.sample(program, {"N": 3}, seed=fit.seed, **DRAWS) for fit in fits]
    assert firsts == [fit.stan_variable("first")[0] for fit in alone]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["fits", "fits.zarr"])
def test_fits_of_something_else_are_not_taken(coin, tmp_path, name):
    """What lies in a folder is of the same program, data, options and seed, or refused by name."""
    if name.endswith("zarr"):
        pytest.importorskip("zarr", reason="zarr is not installed")
    folder, data = tmp_path / name, sets(3, 10)
    first = stanimport.sample_many(coin, data, seed=1, folder=folder, sampling=DRAWS)
    other = stanimport.loads(coin.stan.source.replace("beta(1, 1)", "beta(2, 1)") + "\n// other", name="coin")
    for wrong, module, sets_, options in [
        ("another program", other, data, {}), ("another data", coin, data[::-1], {}),
        ("another iter_warmup", coin, data, {"sampling": DRAWS | {"iter_warmup": 400}}),
        ("another chains", coin, data, {"sampling": {n: v for n, v in DRAWS.items() if n != "chains"}}),
        ("another seed", coin, data, {"seed": 2}),
    ]:  # fmt: skip
        with pytest.raises(OptionError, match=wrong):
            stanimport.sample_many(module, sets_, folder=folder, **{"seed": 1, "sampling": DRAWS} | options)
    lists = [{n: np.asarray(v).tolist() for n, v in d.items()} for d in data]
    again = stanimport.sample_many(coin, lists, folder=folder, sampling=DRAWS | {"chain_method": "sequential"})
    for a, b in zip(first, again):
        np.testing.assert_array_equal(a.draws(), b.draws())


@pytest.mark.parametrize("declaration, term", [
    ("tuple(vector[N], real) t", "t.1"), ("complex_vector[N] t", "get_real(t)"),
])  # fmt: skip
def test_data_that_are_no_arrays_of_reals_tell_data_sets_apart(declaration, term):
    """Long ones too, of which a text would show the ends alone."""
    program = stanimport.loads(f"""data {{ int N; {declaration}; real s; }} parameters {{ real m; }}
      model {{ {term} ~ normal(m, s); }}""", name="apart")
    values = [np.zeros(1500), np.repeat([0.0, 3.0, 0.0], 500)]
    given = [(v, 0.0) if "tuple" in declaration else v + 0j for v in values]
    fits = stanimport.sample_many(program, [{"N": 1500, "t": t, "s": 1.0} for t in given], seed=1, sampling=DRAWS)
    assert [round(float(fit.stan_variable("m").mean()), 1) for fit in fits] == [0.0, 1.0]


def test_warmup_is_saved_where_it_is_asked_for(coin, tmp_path):
    fits = stanimport.sample_many(coin, sets(3, 10), seed=1, sampling=DRAWS | {"save_warmup": True})
    assert [fit.draws(inc_warmup=True).shape[0] for fit in fits] == [500, 500]
    with pytest.raises(OptionError, match="save_warmup: a zarr store"):
        stanimport.sample_many(coin, sets(3), folder=tmp_path / "fits.zarr", sampling={"save_warmup": True})
