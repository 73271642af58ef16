"""The same model on many data sets: in one program, on executors, with failures, restarted."""
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from conftest import MODELS

import stanimport

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
    from stanimport.inference import many

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


def test_threads_and_processes(coin):
    data = sets(3, 15)
    with ThreadPoolExecutor(2) as threads:
        in_threads = stanimport.sample_many(coin, data, executor=threads, seed=1, sampling=DRAWS)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes:
        (elsewhere,) = stanimport.sample_many(coin, data[:1], executor=processes, seed=1, sampling=DRAWS)
    check(in_threads, coin)
    np.testing.assert_array_equal(in_threads[0].variables["bias"], elsewhere.variables["bias"])


def test_restarted_from_what_is_done(coin, tmp_path, monkeypatch):
    from stanimport.inference import batches

    data = sets(3, 10, 18)
    first = stanimport.sample_many(coin, data[:1], seed=1, folder=tmp_path, sampling=DRAWS)
    (tmp_path / "0001.nc").write_text("half a file")
    made = []
    original = batches.groups_of
    monkeypatch.setattr(batches, "groups_of", lambda m, d, c: made.extend(d) or original(m, d, c))
    again = stanimport.sample_many(coin, data, seed=1, folder=tmp_path, sampling=DRAWS)
    assert made == [1, 2] and sorted(p.name for p in tmp_path.iterdir()) == ["0000.nc", "0001.nc", "0002.nc"]
    np.testing.assert_array_equal(again[0].variables["bias"], first[0].variables["bias"])
    check(again, coin)


def test_unknown_options_are_no_failures(coin):
    with pytest.raises(TypeError, match="'iter_warmup'"):
        stanimport.sample_many(coin, sets(3), sampling=dict(warmup=10))


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
