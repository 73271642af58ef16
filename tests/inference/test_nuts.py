"""The no-U-turn sampler: its trees beside a recursive construction, its law, its warm-up, its random numbers."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp
from split_mix import SplitMix

import stanimport
from stanimport.inference.precision import double_precision
from stanimport.inference.samplers import adaptation, curvature, low_rank, stranding, tree, uniforms
from stanimport.inference.samplers.metric import Metric, estimate

PRECISION = np.array([[2.0, 0.6, 0.0], [0.6, 1.5, -0.4], [0.0, -0.4, 0.7]])


def gaussian(x):
    return -0.5 * x @ PRECISION @ x, -PRECISION @ x


def banana(x):
    """A curved density with narrow places, where trees turn at every depth and some diverge."""

    def log_density(x):
        return -0.5 * x[0] ** 2 - 10.0 * (x[1] - x[0] ** 2) ** 2 - 0.5 * jnp.exp(x[2]) * x[0] ** 2 - 0.1 * x[2] ** 2

    return jax.value_and_grad(log_density)(x)


class Recursive:
    """A transition by recursion over halves, in NumPy: what `tree.transition` has to equal."""

    def __init__(self, density, metric, step_size, max_depth):
        self.density, self.metric, self.step_size, self.max_depth = jax.jit(density), metric, step_size, max_depth

    def step(self, leaf, sign):
        q, p, g = leaf
        eps = sign * self.step_size
        half = p + eps / 2 * g
        q = q + eps * self.metric.velocity(half)
        value, g = map(np.asarray, self.density(q))
        self.values.append(float(value))
        return q, half + eps / 2 * g, g

    def energy(self, leaf, value):
        return 0.5 * leaf[1] @ self.metric.velocity(leaf[1]) - value

    def straight(self, a, b, rho):
        return self.metric.velocity(a) @ rho > 0 and self.metric.velocity(b) @ rho > 0

    def joins(self, left, right):
        """Whether two stretches, lists of leaves, do not turn together."""
        p, r = [leaf[1] for leaf in left], [leaf[1] for leaf in right]
        return (self.straight(p[0], r[-1], sum(p) + sum(r)) and self.straight(p[0], r[0], sum(p) + r[0])
                and self.straight(p[-1], r[-1], p[-1] + sum(r)))  # fmt: skip

    def build(self, depth, leaf, sign):
        """Leaves and whether they are valid."""
        if depth == 0:
            new = self.step(leaf, sign)
            self.leaves.append(new)
            return [new], self.start - self.energy(new, self.values[-1]) >= -1000
        left, valid = self.build(depth - 1, leaf, sign)
        if not valid:
            return left, False
        right, valid = self.build(depth - 1, left[-1], sign)
        return left + right, valid and self.joins(left, right)

    def transition(self, random, q):
        random = SplitMix(random)
        z = stats.norm.ppf([random.uniform() for _ in q])
        value, g = map(np.asarray, self.density(q))
        p = np.asarray(self.metric.factor * z if self.metric.factor.ndim == 1 else self.metric.factor @ z)
        self.start = self.energy((q, p), value)
        whole, chosen, weight, depth, steps = [(q, p, g)], q, 0.0, 0, 0
        while depth < self.max_depth:
            drawn = random.uniform(), random.uniform()
            forward = drawn[0] < 0.5
            self.leaves, self.values = [], []
            new, valid = self.build(depth, whole[-1] if forward else whole[0], 1 if forward else -1)
            weights = [self.start - self.energy(leaf, v) for leaf, v in zip(self.leaves, self.values)]
            steps += len(weights)
            candidate = None
            for n, leaf in enumerate(self.leaves):
                if np.log(random.uniform()) < weights[n] - logsumexp(weights[: n + 1]):
                    candidate = leaf[0]
            if not valid:
                break
            depth += 1
            if np.log(drawn[1]) < logsumexp(weights) - weight:
                chosen = candidate
            weight = np.logaddexp(weight, logsumexp(weights))
            goes_on = self.joins(whole if forward else whole[::-1], new)
            whole = whole + new if forward else new[::-1] + whole
            if not goes_on:
                break
        return random.state, chosen, depth, steps


@pytest.mark.sampled(4)
@pytest.mark.parametrize("density, size, inverse", [
    (gaussian, 0.3, np.ones(3)), (gaussian, 0.15, np.linalg.inv(PRECISION)), (banana, 0.1, np.array([1.0, 2.0, 0.5])),
    (banana, 0.35, np.ones(3)),
], ids=["gaussian", "dense", "banana", "coarse"])  # fmt: skip
def test_trees_are_those_of_the_recursive_construction(density, size, inverse):
    metric, depth = Metric.of(inverse), 6
    recursive = Recursive(density, metric, size, depth)
    with double_precision():
        room = tree.room(8, tree.Leapfrog(density, metric))
        one = jax.jit(lambda key, state: tree.transition(density, metric, key, state, room, size, depth))
        random, point, depths = np.uint64(11), np.array([0.3, -0.2, 0.1]), set()
        for _ in range(12):
            found = one(random, tree.State(point, *map(np.asarray, density(point))))
            after, point, levels, steps = recursive.transition(random, point)
            assert (int(found[3].depth), int(found[3].steps)) == (levels, steps)
            np.testing.assert_allclose(found[1].point, point, rtol=1e-9, atol=1e-11)
            assert int(found[0]) == after
            depths.add(levels)
            point, random = np.asarray(found[1].point), np.asarray(found[0])
    assert len(depths) > 1


@pytest.fixture(scope="module")
def moved():
    """A function that makes a transition from exact draws of a Gumbel and of a normal law: before, after."""

    def density(x):
        return jax.value_and_grad(lambda x: -x[0] - jnp.exp(-x[0]) - x[1] ** 2 / 8)(x)

    def one(random, point, size, depth):
        state, metric = tree.State(point, *density(point)), Metric.of(np.array([1.0, 3.0]))
        room = tree.room(10, tree.Leapfrog(density, metric))
        return tree.transition(density, metric, random, state, room, size, depth)[1]

    compiled = jax.jit(jax.vmap(one, in_axes=(0, 0, None, None)))

    def move(size, depth, count=20_000):
        rng = np.random.default_rng(5)
        exact = np.stack([rng.gumbel(size=count), rng.normal(0, 2, size=count)], axis=1)
        with double_precision():
            keys = rng.integers(0, 2**63, size=count).astype(np.uint64)
            return exact, np.asarray(compiled(keys, exact, size, depth).point)

    return move


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size, depth", [(0.25, 10), (0.9, 10), (0.5, 2), (1.6, 1)])
def test_a_transition_leaves_the_posterior_as_it_is(moved, size, depth):
    """Whatever the step size and the depth."""
    before, after = moved(size, depth)
    assert (after != before).any(axis=1).mean() > 0.5
    assert stats.kstest(after[:, 0], stats.gumbel_r.cdf).pvalue > 1e-3
    assert stats.kstest(after[:, 1], stats.norm(0, 2).cdf).pvalue > 1e-3
    assert abs(stats.spearmanr(after[:, 0], after[:, 1]).statistic) < 4 / np.sqrt(len(after))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("metric", ["auto", "diag_e", "dense_e", "unit_e"])
def test_moments_of_a_correlated_normal_law(metric):
    module = stanimport.loads("""
data { matrix[3, 3] S; } parameters { vector[3] x; } model { x ~ multi_normal([1, -2, 3]', S); }
""")
    covariance = np.array([[4.0, 1.5, 0.0], [1.5, 1.0, 0.3], [0.0, 0.3, 0.25]])
    fit = stanimport.sample(module, {"S": covariance}, seed=4, metric=metric, iter_sampling=4000)
    x = fit.stan_variable("x")
    np.testing.assert_allclose(x.mean(axis=0), [1, -2, 3], atol=0.12)
    np.testing.assert_allclose(np.cov(x.T), covariance, rtol=0.12, atol=0.08)
    assert fit.divergences.sum() == 0 and 0.7 < fit.stats["accept_stat__"].mean() < 0.97


def test_the_schedule_of_warmup():
    def ends(iterations):
        return [s.end for s in adaptation.schedule(iterations)]

    assert ends(1000) == [75, 100, 150, 250, 450, 950, 1000]
    assert ends(300) == [75, 100, 150, 250, 300]
    assert ends(100) == [15, 90, 100]
    assert [ends(n) for n in (0, 1, 19)] == [[], [1], [19]]
    assert [s.in_window for s in adaptation.schedule(150)] == [False, True, False]


def test_the_early_schedule_of_warmup():
    def ends(iterations):
        return [s.end for s in adaptation.early_schedule(iterations)]

    assert ends(1000) == [15, 35, 75, 155, 315, 635, 950, 1000]
    assert ends(300) == [15, 35, 75, 155, 270, 300] and ends(20) == [18, 20]
    assert [ends(n) for n in (0, 1, 19)] == [[], [1], [19]]
    assert all(s.in_window for s in adaptation.early_schedule(150)[:-1])


def test_gradients_tell_the_covariances_of_a_normal_law():
    """Also where draws alone can't: 20 draws of 6 dimensions, whose scales differ by ten orders of magnitude."""
    rng = np.random.default_rng(2)
    scales = np.diag(10.0 ** np.linspace(-5, 5, 6))
    covariance = scales @ (np.eye(6) + 0.9 * (np.ones((6, 6)) - np.eye(6))) @ scales
    points = rng.multivariate_normal(np.ones(6), covariance, size=20, method="cholesky")
    gradients = -np.linalg.solve(covariance, (points - 1).T).T
    np.testing.assert_allclose(curvature.matrix(points, gradients), covariance, rtol=0.02)
    np.testing.assert_allclose(np.diag(curvature.matrix(points[:8], gradients[:8])),
                               points[:8].std(axis=0) / gradients[:8].std(axis=0), rtol=1e-10)  # fmt: skip


def test_where_curvature_varies_the_metric_is_that_of_the_variances():
    rng = np.random.default_rng(2)
    log_scale = rng.normal(0, 3, size=400)
    x = np.exp(log_scale / 2) * rng.normal(size=400)
    funnel = np.stack([log_scale, x], axis=1)
    gradients = np.stack([-log_scale / 9 - 0.5 + x**2 / 2 * np.exp(-log_scale), -x * np.exp(-log_scale)], axis=1)
    np.testing.assert_allclose(curvature.matrix(funnel, gradients), np.diag(estimate(funnel, False)))


def test_the_diagonal_from_gradients():
    """Of independent normal laws three draws tell the variances; of many draws it is Stan's estimate."""
    rng = np.random.default_rng(2)
    scales = 10.0 ** np.linspace(-5, 5, 100)
    points = rng.normal(size=(200, 100)) * scales
    np.testing.assert_allclose(curvature.diagonal(points[:3], -points[:3] / scales**2), scales**2)
    np.testing.assert_allclose(curvature.diagonal(points, -points / scales**2), estimate(points, False))


@pytest.mark.parametrize("spoilt", [np.nan, np.inf, 0.0])
def test_a_metric_from_what_is_no_number_is_finite(spoilt):
    rng = np.random.default_rng(3)
    points = rng.normal(size=(20, 3)) * [1.0, 4.0, 0.1]
    gradients = -points / [1.0, 16.0, 0.01]
    gradients[:, 1] = spoilt
    made = curvature.matrix(points, gradients)
    np.testing.assert_allclose(np.diag(made)[[0, 2]], [1.0, 0.01], rtol=0.2)
    assert np.linalg.eigvalsh(made)[0] > 0
    still = curvature.matrix(np.ones((20, 3)), gradients)
    assert np.linalg.eigvalsh(still)[0] > 0


@pytest.mark.parametrize("count", [20, 200])
def test_a_metric_from_draws_too_large_to_square_is_finite(count):
    """A chain that flew off: the variances of its draws overflow."""
    rng = np.random.default_rng(4)
    points, gradients = rng.normal(size=(2, count, 3))
    points[:, 1] *= 1e160
    made = curvature.matrix(points, gradients)
    assert np.isfinite(made).all() and np.linalg.eigvalsh(made)[0] > 0
    np.testing.assert_allclose(np.diag(made)[[0, 2]], points[:, [0, 2]].std(axis=0) / gradients[:, [0, 2]].std(axis=0),
                               rtol=0.1)  # fmt: skip


def test_a_metric_from_gradients_whose_products_overflow_is_finite():
    """A chain that hardly moves where the density is beyond measure: covariances are finite, their products are not."""
    rng = np.random.default_rng(5)
    points, gradients = 1e100 * rng.normal(size=(20, 6)), 1e140 * rng.normal(size=(20, 6))
    assert not np.isfinite(curvature.whole(points, gradients)).all()
    moves = rng.normal(size=(20, 1))
    points, gradients = 1 + moves * [0, 1e-15, 0, 0.03, 0.02, 1e-15], 1e146 * moves * [1, 1, 1, 10, 5, 0.3]
    for made in (curvature.matrix(points, gradients), low_rank.estimate(points, gradients)):
        assert np.isfinite(made).all()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("metric", ["auto", "diag_e", "dense_e", "low_rank"])
def test_a_chain_that_flies_off_does_not_end_the_run(metric):
    """Draws whose variances overflow have no metric: the chain keeps the one that it has."""
    module = stanimport.loads("parameters { vector[3] x; } model { target += 1e-170 * sum(x); }", name="plain")
    fit = stanimport.sample(module, inits={"x": [1e160, 1e160, 1e160]}, metric=metric, step_size=1e159, chains=1,
                            iter_warmup=100, iter_sampling=5, seed=1, restart_stranded=False)  # fmt: skip
    assert fit.metric.size and np.isfinite(fit.metric).all() and np.isfinite(fit.step_size).all()


CORRELATED = """
data { int N; vector[N] x; vector[N] y; }
parameters { real a; real b; real<lower=0> s; }
model { y ~ normal(a + b * x, s); }
"""


@pytest.mark.slow
def test_the_automatic_metric_saves_gradients():
    """A regression on a predictor far from zero: intercept and slope have a correlation of nearly -1."""
    rng = np.random.default_rng(1)
    x = rng.normal(100, 1, size=50)
    data = {"N": 50, "x": x, "y": 3 + 2 * x + rng.normal(size=50)}
    module = stanimport.loads(CORRELATED, name="correlated")
    auto, diagonal = (stanimport.sample(module, data, seed=1, metric=m, iter_warmup=500, iter_sampling=500)
                      for m in ("auto", "diag_e"))  # fmt: skip
    exact = np.polyfit(x, data["y"], 1)
    assert auto.metric.shape == (4, 3, 3) and diagonal.metric.shape == (4, 3)
    assert auto.stats["n_leapfrog__"].sum() < 0.2 * diagonal.stats["n_leapfrog__"].sum()
    error = np.std(x) * np.sqrt(50) / np.std(data["y"] - np.polyval(exact, x))  # of the slope, by least squares
    assert abs(auto.stan_variable("b").mean() - exact[0]) < 0.2 / error


def test_estimates_of_the_metric():
    points = np.random.default_rng(1).normal(size=(20, 3)) * [1.0, 5.0, 0.1]
    np.testing.assert_allclose(estimate(points, False), (20 * points.var(axis=0, ddof=1) + 0.005) / 25)
    np.testing.assert_allclose(np.diag(estimate(points, True)), estimate(points, False))
    metric = Metric.of(estimate(points, True))
    np.testing.assert_allclose(metric.factor @ metric.factor.T, np.linalg.inv(metric.inverse), rtol=1e-10)


def test_the_step_size_that_is_searched_crosses_the_acceptance():
    """On a normal law of four dimensions steps of about its scale do."""
    scale = 0.01
    rng = np.random.default_rng(3)

    def evaluate(point):
        return tree.State(point, -0.5 * float(point @ point) / scale**2, -point / scale**2)

    found = [
        adaptation.step_sizes(lambda points: [evaluate(*points)], [Metric.of(np.ones(4))],
                              [evaluate(np.full(4, scale))], [start], [rng])[0]  # fmt: skip
        for start in (1.0, 1e-6, 100.0)
    ]
    assert all(scale / 8 < size < 4 * scale for size in found)


ARMA = """
data { int T; array[T] real y; }
parameters { real mu; real phi; real theta; real<lower=0> sigma; }
model {
  vector[T] err;
  mu ~ normal(0, 10); phi ~ normal(0, 2); theta ~ normal(0, 2); sigma ~ cauchy(0, 2.5);
  err[1] = y[1] - (mu + phi * mu);
  for (t in 2:T) err[t] = y[t] - (mu + phi * y[t - 1] + theta * err[t - 1]);
  err ~ normal(0, sigma);
}
"""  # its residuals grow without bound where theta is above 1


@pytest.fixture(scope="module")
def arma():
    rng, y = np.random.default_rng(3), [0.0]
    for e in rng.normal(0, 0.15, size=199):
        y.append(0.95 * y[-1] + e)
    return stanimport.loads(ARMA, name="arma"), {"T": len(y), "y": y}


def test_stranded_chains_begin_anew_and_no_other_changes(arma):
    options = dict(seed=1, chains=8, iter_warmup=100, iter_sampling=20)
    fit = stanimport.sample(*arma, **options)
    kept = stanimport.sample(*arma, restart_stranded=False, **options)
    moved = {r.chain - 1 for r in fit.restarts}
    assert 0 < len(moved) < 8 and kept.restarts == ()
    assert all("steps shrank" in r.reason and r.iteration <= 100 for r in fit.restarts)
    for name, value in fit.variables.items():
        for chain in set(range(8)) - moved:
            np.testing.assert_array_equal(value[chain], kept.variables[name][chain])
    steps = [stranding.length(*pair) for pair in zip(kept.step_size, kept.metric)]
    assert max(steps[i] for i in moved) < 1e-8 and all(0.1 < size < 2 for size in fit.step_size)
    levels = fit.stats["lp__"].mean(axis=1)
    assert np.ptp(levels) < 10 and kept.stats["lp__"].mean(axis=1).min() < levels.min() - 1000


def test_chains_that_were_given_their_start_stay_there(arma):
    start = {"mu": 0.0, "phi": 1.0, "theta": 1.9, "sigma": 1.0}
    fit = stanimport.sample(*arma, seed=1, chains=1, inits=start, iter_warmup=100, iter_sampling=5, metric="diag_e")
    assert fit.restarts == () and fit.step_size[0] < 1e-10


def test_another_mode_stays_visible():
    """Two modes far apart for the sampler, one of a density 20 lower: chains stay where they are."""
    module = stanimport.loads("""
parameters { real x; } model { target += log_sum_exp(-50 * square(x - 1), -20 - 50 * square(x + 1)); }
""")
    fit = stanimport.sample(module, seed=2, chains=8, iter_warmup=200, iter_sampling=50)
    places = fit.variables["x"].mean(axis=1)
    assert fit.restarts == () and {-1, 1} == set(np.round(places).astype(int))


def test_what_is_stranded():
    rng = np.random.default_rng(1)
    sound, far = rng.normal(-50, 2, size=40), rng.normal(-5000, 2, size=40)

    def found(levels, step_sizes, is_last, scales=(1.0, 1.0, 1.0), size=4):
        metrics = [np.full(size, s**2) for s in scales[: len(levels)]]
        return set(stranding.stranded(levels, step_sizes, metrics, is_last))

    assert found([sound, sound], [0.5, 0.4], True) == set()
    assert found([sound, far, far - 900], [0.5, 1e-5, 0.4], False) == {1}
    assert found([sound, far, far - 900], [0.5, 0.4, 0.4], False, scales=(1.0, 1e-7, 1.0)) == {1}
    assert found([sound, far, sound], [0.5, 0.4, 1e-5], True) == {1}
    assert found([np.full(9, np.nan)], [1e-30], False) == {0}
    assert found([sound, np.full(9, np.inf)], [0.5, 1e-5], True) == {1}


def test_a_place_of_no_weight_is_told_by_its_integral():
    """Of two normal laws with scales 1 and s, and of densities exp(-a) apart, the weights are exp(-a) s^4 apart."""
    rng = np.random.default_rng(1)
    level = rng.normal(-50, 1, size=400)

    def found(apart, scale):
        metrics = [np.ones(4), np.full(4, scale**2)]
        return set(stranding.stranded([level, level - apart], [0.5, 0.5 * scale], metrics, True))

    assert found(23, 1.0) == set() and found(25, 1.0) == {1}
    assert found(50, np.exp(27 / 4)) == set() and found(50, np.exp(25 / 4)) == {1}
    assert found(0, np.exp(7)) == {0} and found(-20, np.exp(-25 / 4)) == set()


def test_the_integral_that_a_place_holds():
    """Of a normal law it is known; of any density the estimate is seldom far above it, wherever its draws come from."""
    rng = np.random.default_rng(2)
    covariance = np.array([[4.0, 1.0, 0.0], [1.0, 9.0, -2.0], [0.0, -2.0, 1.0]])
    law, metric, point = stats.multivariate_normal(np.ones(3), covariance), Metric.of(covariance), np.array([3.0, 0, 1])
    mean = point + covariance @ -np.linalg.solve(covariance, point - 1)
    found = stranding.integral(lambda x: law.logpdf(x) - 7, metric, covariance, (mean,), rng)
    np.testing.assert_allclose(found, -7, atol=1e-10)
    for scale in (0.2, 1.0, 30.0):
        other = Metric.of(np.full(3, scale))
        found = [stranding.integral(law.logpdf, other, other.inverse, (point, mean), rng) for _ in range(30)]
        assert max(found) < 3


def test_places_that_overlap_are_not_parted():
    """The draws of one chain reach from the neck of a funnel to its mouth, which no ellipsoid tells the volume of."""
    rng = np.random.default_rng(1)
    level, metrics = rng.normal(-50, 10, size=400), [np.full(20, 25.0), np.ones(20)]
    options = [level, level - 10], [0.5, 0.5], metrics, True
    assert set(stranding.stranded(*options)) == {1}
    held = stranding.stranded(*options, measure=lambda i: -40.0)
    assert held == {} and set(stranding.stranded(*options, measure=lambda i: 20.0)) == {1}


@pytest.mark.slow
def test_chains_in_the_neck_of_a_funnel_stay_there():
    """Groups without differences: where their scale is small, densities are high and volumes small."""
    module = stanimport.loads("""
data { int J; array[J] vector[5] y; }
parameters { real mu; real<lower=0> tau, sigma; vector[J] theta; }
model {
  mu ~ normal(0, 5); tau ~ cauchy(0, 1); sigma ~ normal(0, 2); theta ~ normal(mu, tau);
  for (j in 1:J) y[j] ~ normal(theta[j], sigma);
}
""")
    data = {"J": 20, "y": np.random.default_rng(7).normal(size=(20, 5))}
    fit = stanimport.sample(module, data, chains=40, iter_warmup=300, iter_sampling=10, seed=8)
    assert fit.restarts == ()


def test_the_length_of_a_step():
    assert np.isclose(stranding.length(0.5, np.array([4.0, 16.0, 64.0])), 0.5 * 4.0)
    assert np.isclose(stranding.length(0.5, np.array([[4.0, 1.0], [1.0, 9.0]])), 0.5 * 35.0**0.25)


def test_random_numbers():
    with double_precision():
        state, made = uniforms.uniforms(np.uint64(3), 50_000)
        again = [uniforms.uniforms(np.uint64(3), 1), None]
        again[1] = uniforms.uniforms(again[0][0], 1)
        _, normal = uniforms.normals(state, 50_000)
    made, normal = np.asarray(made), np.asarray(normal)
    assert (0 < made.min()) and (made.max() < 1) and stats.kstest(made, "uniform").pvalue > 1e-3
    np.testing.assert_array_equal([a[1][0] for a in again], made[:2])
    assert stats.kstest(normal, "norm").pvalue > 1e-3
    assert abs(np.corrcoef(made[:-1], made[1:])[0, 1]) < 0.02
    assert [hex(int(x)) for x in np.asarray(_bits(0, 3))] == ["0xe220a8397b1dcdaf", "0x6e789e6aa1b965f4",
                                                              "0x6c45d188009454f"]  # fmt: skip


def _bits(seed, count):
    with double_precision():
        return uniforms.bits(np.uint64(seed), count)[1]


CALIBRATION = {
    "normal": ("""
data { int N; vector[N] y; } parameters { real mu; real<lower=0> sigma; }
model { mu ~ normal(0, 2); sigma ~ gamma(3, 2); y ~ normal(mu, sigma); }
""", lambda rng: (lambda mu, sigma: ({"mu": mu, "sigma": sigma}, {"N": 8, "y": rng.normal(mu, sigma, size=8)}))(
        rng.normal(0, 2), rng.gamma(3, 1 / 2))),
    "logistic": ("""
data { int N; matrix[N, 2] x; array[N] int y; } parameters { vector[2] beta; }
model { beta ~ normal(0, 1.5); y ~ bernoulli_logit(x * beta); }
""", lambda rng: (lambda beta, x: ({"beta[1]": beta[0], "beta[2]": beta[1]},
                                   {"N": 15, "x": x, "y": rng.binomial(1, 1 / (1 + np.exp(-x @ beta)))}))(
        rng.normal(0, 1.5, size=2), rng.normal(size=(15, 2)))),
    "simplex": ("""
data { array[3] int counts; } parameters { simplex[3] p; }
model { p ~ dirichlet([1, 2, 3]'); counts ~ multinomial(p); }
""", lambda rng: (lambda p: ({"p[1]": p[0], "p[2]": p[1]}, {"counts": rng.multinomial(12, p)}))(
        rng.dirichlet([1, 2, 3]))),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CALIBRATION)
def test_calibration_by_simulation(name):
    """The rank of what data were simulated from among independent draws of its posterior is uniform.

    Source: Talts, Betancourt, Simpson, Vehtari and Gelman (2018), "Validating Bayesian Inference Algorithms with
    Simulation-Based Calibration", arXiv:1804.06788.
    """
    (program, simulate), rng, count = CALIBRATION[name], np.random.default_rng(8), 300
    truths, data = zip(*(simulate(rng) for _ in range(count)))
    options = {"chains": 1, "iter_warmup": 300, "iter_sampling": 1980, "thin": 20}
    fits = stanimport.sample_many(stanimport.loads(program), data, seed=5, sampling=options)
    for parameter in truths[0]:
        column = list(fits[0].column_names).index(parameter)
        ranks = [(f.draws()[:, 0, column] < t[parameter]).sum() for f, t in zip(fits, truths)]
        observed = np.histogram(ranks, bins=np.arange(11) * 10)[0]
        assert stats.chisquare(observed).pvalue > 1e-3, (parameter, observed)
