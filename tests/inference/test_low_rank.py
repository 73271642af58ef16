"""The metric of a diagonal and a few directions: its algebra, its estimates, its law, and how it is kept."""
import numpy as np
import pytest
from scipy import stats

import stanimport
from stanimport.inference import from_csv
from stanimport.inference.options import OptionError
from stanimport.inference.precision import double_precision
from stanimport.inference.samplers import low_rank, packed, stranding, tree
from stanimport.inference.samplers.metric import log_volume, size_of

FACTORS = """
data { int D; int K; vector[D] s; matrix[D, K] V; vector[K] v; }
parameters { vector[D] x; }
model {
  vector[D] z = x ./ s;
  vector[K] f = V' * z;
  target += -0.5 * (dot_self(z) + dot_product(square(f), inv(v) - 1));
}
"""


def structured(size=50, variances=(400.0, 100.0, 0.02), seed=0):
    """Data of a normal law whose covariance matrix is a diagonal with three directions, and that matrix."""
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(size, len(variances))))[0]
    scales = np.exp(rng.normal(size=size))
    data = {"D": size, "K": len(variances), "s": scales, "V": directions, "v": np.array(variances)}
    middle = np.eye(size) + (directions * (np.array(variances) - 1)) @ directions.T
    return data, middle * np.outer(scales, scales)


def sample_of(covariance, count, seed=1):
    """Draws of the normal law and the gradients there."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(count, len(covariance))) @ np.linalg.cholesky(covariance).T
    return points, -np.linalg.solve(covariance, points.T).T


def metric_of(size=7, k=3):
    rng = np.random.default_rng(2)
    array = np.zeros((size + 1, k + 1))
    array[0, 1:], array[1:, 0] = rng.uniform(0.1, 9, size=k), rng.uniform(0.1, 9, size=size)
    array[1:, 1:] = np.linalg.qr(rng.normal(size=(size, k)))[0]
    return array


def test_its_products_are_those_of_the_matrix():
    array = metric_of()
    metric, whole, vector = low_rank.LowRank.of(array), packed.matrix(array), np.arange(1.0, 8.0)
    np.testing.assert_allclose(metric.velocity(vector), whole @ vector)
    factor = np.stack([metric.shaped(e) for e in np.eye(7)], axis=1)
    np.testing.assert_allclose(factor @ factor.T, np.linalg.inv(whole))
    np.testing.assert_allclose(packed.matrix(metric.inverse), whole)
    with double_precision():
        _, drawn = tree.drawn(metric, np.uint64(3))
    assert np.asarray(drawn).shape == (7,) and metric.size == size_of(array) == 7
    np.testing.assert_allclose(log_volume(array), np.linalg.slogdet(whole)[1] / 2)
    np.testing.assert_allclose(stranding.length(0.5, array), stranding.length(0.5, whole))
    plain = low_rank.LowRank.of(np.arange(1.0, 4.0))
    np.testing.assert_allclose(plain.velocity(np.ones(3)), [1, 2, 3])
    np.testing.assert_allclose(packed.matrix(plain.inverse), np.diag([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("count", [60, 400])
def test_gradients_tell_the_directions(count):
    """Of hardly more draws than parameters, whose covariances have a condition number of 8000 and no directions."""
    _, covariance = structured()
    made = packed.matrix(low_rank.estimate(*sample_of(covariance, count)))
    ratios = np.linalg.eigvals(np.linalg.solve(covariance, made)).real
    assert ratios.min() > 1 / 2.5 and ratios.max() < 2.5
    diagonal = np.linalg.eigvals(np.linalg.solve(covariance, np.diag(np.diag(covariance)))).real
    assert diagonal.max() / diagonal.min() > 500


def test_of_independent_parameters_it_is_the_diagonal():
    scales = 10.0 ** np.linspace(-1, 3, 100)
    for count in (4, 30, 300):
        made = low_rank.estimate(*sample_of(np.diag(scales**2), count))
        assert made.shape == (101, 1)
        np.testing.assert_allclose(made[1:, 0] / scales**2, 1, rtol=0.5)


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 1e200, 0.0])
@pytest.mark.parametrize("count", [3, 20, 200])
def test_of_what_is_no_number_it_is_sound(spoilt, count):
    points, gradients = sample_of(np.diag([1.0, 16.0, 0.01, 4.0]), count)
    gradients[:, 1] = spoilt
    assert packed.is_sound(low_rank.estimate(points, gradients), 4)
    points[:, 1] = spoilt if np.isfinite(spoilt) else 0.0
    assert packed.is_sound(low_rank.estimate(points, gradients), 4)


def gradients_of(fit):
    return int(sum(s["n_leapfrog__"].sum() for s in (fit.stats, fit.warmup[1])))


@pytest.fixture(scope="module")
def fits():
    """The data, the covariance matrix, and a fit by each metric."""
    data, covariance = structured()
    module = stanimport.loads(FACTORS, name="factors")
    options = dict(seed=3, chains=2, iter_warmup=400, iter_sampling=1000, save_warmup=True)
    made = {m: stanimport.sample(module, data, metric=m, **options) for m in ("low_rank", "diag_e")}
    return module, data, covariance, made


def effective(squares):
    """Effective draws of a chain statistic, (chains, draws), by ArviZ."""
    return float(pytest.importorskip("arviz").ess({"x": squares})["x"])


@pytest.mark.slow
def test_the_law_of_a_correlated_normal_law(fits):
    _, _, covariance, made = fits
    fit = made["low_rank"]
    x = fit.stan_variable("x")
    scales = np.sqrt(np.diag(covariance))
    np.testing.assert_allclose(x.mean(axis=0) / scales, 0, atol=0.12)
    np.testing.assert_allclose(np.cov((x / scales).T), covariance / np.outer(scales, scales), atol=0.15)
    squares = np.einsum("ni,ij,nj->n", x, np.linalg.inv(covariance), x)[::10]
    assert stats.kstest(squares, stats.chi2(50).cdf).pvalue > 1e-3
    assert fit.divergences.sum() == 0 and 0.7 < fit.stats["accept_stat__"].mean() < 0.97


def test_it_saves_gradients(fits):
    """Per effective draw of the widest direction, warm-up included."""
    _, data, _, made = fits
    costs = {}
    for name, fit in made.items():
        along = (fit.variables["x"] / data["s"]) @ data["V"][:, 0]
        costs[name] = gradients_of(fit) / effective(along)
    assert costs["low_rank"] < costs["diag_e"] / 10


def test_it_is_kept_and_given(fits, tmp_path):
    """`fit.metric` is what `metric` takes: it samples on, without adaptation, and to the last bit after `resume`."""
    module, data, _, made = fits
    fit = made["low_rank"]
    assert fit.metric.shape == (2, 51, 17) and all(packed.is_sound(m, 50) for m in fit.metric)
    options = dict(seed=3, chains=2, metric="low_rank", iter_warmup=400, save_warmup=True)
    part = stanimport.sample(module, data, iter_sampling=20, **options)
    part.save(tmp_path / "fit.nc")
    whole = stanimport.sample(module, resume=tmp_path / "fit.nc", iter_sampling=1000)
    np.testing.assert_array_equal(whole.variables["x"], fit.variables["x"])
    again = stanimport.sample(module, data, seed=4, chains=2, metric=fit.metric, step_size=list(fit.step_size),
                              iter_warmup=0, adapt_engaged=False, iter_sampling=100, journal=tmp_path / "journal")
    np.testing.assert_array_equal(again.metric, fit.metric)
    assert 0.7 < again.stats["accept_stat__"].mean() and again.stats["n_leapfrog__"].mean() < 20
    read = stanimport.sample(module, resume=tmp_path / "journal", iter_sampling=120)
    np.testing.assert_array_equal(read.variables["x"][:, :100], again.variables["x"])
    one = stanimport.sample(module, data, seed=4, metric=fit.metric[0], iter_warmup=20, iter_sampling=10, chains=1)
    assert one.metric.shape == (1, 51, 17)
    paths = again.save_csvfiles(tmp_path)
    np.testing.assert_allclose(from_csv(paths).metric[0], packed.matrix(fit.metric[0]), rtol=1e-5, atol=1e-8)


def test_what_is_no_such_metric_and_who_has_none(fits):
    module, data, _, made = fits
    wrong = made["low_rank"].metric[0].copy()
    wrong[1:, 1] *= 2
    with pytest.raises(OptionError, match="shape"):
        stanimport.sample(module, data, metric=wrong, chains=1)
    for method in ("numpyro", "blackjax", "nutpie"):
        with pytest.raises(OptionError, match="does not take metric='low_rank'"):
            stanimport.sample(module, data, metric="low_rank", method=method)
    with pytest.raises(OptionError, match="low_rank"):
        stanimport.sample(module, data, metric="lowrank")


@pytest.mark.slow
def test_lanes_and_walnuts_have_it_too(fits):
    module, data, _, made = fits
    given = dict(metric=made["low_rank"].metric, step_size=0.3, adapt_engaged=False, iter_warmup=0)
    options = dict(seed=3, chains=2, iter_sampling=5) | given
    own, walnuts = (stanimport.sample(module, data, method=m, **options) for m in ("nuts", "walnuts"))
    lanes = stanimport.sample(module, data, chain_method="vectorized", **options)
    np.testing.assert_allclose(lanes.variables["x"], own.variables["x"], rtol=1e-6, atol=1e-6)
    assert walnuts.metric.shape == lanes.metric.shape == (2, 51, 17)
    assert walnuts.stats["accept_stat__"].mean() > 0.7 and walnuts.stats["n_leapfrog__"].mean() < 40
