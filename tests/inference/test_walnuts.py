"""WALNUTS: its trajectories beside a recursive construction, its law on closed forms, and that it runs as NUTS does."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from conftest import FLIPS
from scipy import stats
from scipy.special import logsumexp
from split_mix import SplitMix

import stanimport
from stanimport.inference.options import OptionError
from stanimport.inference.precision import double_precision
from stanimport.inference.samplers import tree, walnuts
from stanimport.inference.samplers.metric import Metric


def funnel(x):
    """Neal's, of two dimensions: the logarithm of the variance, normal(0, 3), and what has that variance."""
    return jax.value_and_grad(lambda x: -(x[0] ** 2) / 18 - x[0] / 2 - x[1] ** 2 * jnp.exp(-x[0]) / 2)(x)


def by_hand(x):
    """The same in NumPy."""
    square = x[1] ** 2 * np.exp(-x[0])
    return -(x[0] ** 2) / 18 - x[0] / 2 - square / 2, np.array([-x[0] / 9 - 0.5 + square / 2, -x[1] * np.exp(-x[0])])


class Recursive:
    """A transition over a list of states, the number of leapfrog steps by trying all: what the program has to equal."""

    def __init__(self, metric, size, max_depth):
        self.metric, self.size, self.max_depth = metric, size, max_depth
        self.divided = self.irreversible = 0

    def leapfrogs(self, leaf, size, count):
        """The last of so many steps and whether the energy stayed, which may be known earlier."""
        energies = [self.energy(leaf)]
        for _ in range(count):
            q, p, _, g = leaf
            half = p + size / count / 2 * g
            q = q + size / count * self.metric.velocity(half)
            value, g = by_hand(q)
            leaf = q, half + size / count / 2 * g, value, g
            energies.append(self.energy(leaf))
            self.steps += 1
            if not np.ptp(energies) <= walnuts.LARGEST_ERROR:
                return leaf, False
        return leaf, True

    def energy(self, leaf):
        return 0.5 * leaf[1] @ self.metric.velocity(leaf[1]) - leaf[2]

    def macro(self, leaf, sign):
        """The next leaf; None if it is not the one before from its own place."""
        for number in 2 ** np.arange(walnuts.HALVINGS + 1):
            new, stays = self.leapfrogs(leaf, sign * self.size, number)
            if stays:
                break
        else:
            return None
        self.divided += number > 1
        for fewer in reversed(2 ** np.arange(np.log2(number).astype(int))):
            if self.leapfrogs(new, -sign * self.size, fewer)[1]:
                self.irreversible += 1
                return None
        return new

    @staticmethod
    def turns(a, b, sign):
        ahead = sign * (b[0] - a[0])
        return a[1] @ ahead < 0 or b[1] @ ahead < 0

    def build(self, depth, leaf, sign):
        """New leaves and whether they are valid."""
        if depth == 0:
            new = self.macro(leaf, sign)
            return ([], False) if new is None else ([new], True)
        left, valid = self.build(depth - 1, leaf, sign)
        if not valid:
            return left, False
        right, valid = self.build(depth - 1, left[-1], sign)
        return left + right, valid and not self.turns(left[0], right[-1], sign)

    def transition(self, random, q):
        random, self.steps = SplitMix(random), 0
        z = stats.norm.ppf([random.uniform() for _ in q])
        value, g = by_hand(q)
        whole, chosen, weight, depth = [(q, self.metric.factor * z, value, g)], q, 0.0, 0
        start = self.energy(whole[0])
        while depth < self.max_depth:
            drawn = random.uniform(), random.uniform()
            forward = drawn[0] < 0.5
            sign = 1 if forward else -1
            new, valid = self.build(depth, whole[-1] if forward else whole[0], sign)
            if not valid:  # the numbers that the program draws then are not compared
                break
            weights = [start - self.energy(leaf) for leaf in new]
            candidate = None
            for n, leaf in enumerate(new):
                if np.log(random.uniform()) < weights[n] - logsumexp(weights[: n + 1]):
                    candidate = leaf[0]
            depth += 1
            if np.log(drawn[1]) < logsumexp(weights) - weight:
                chosen = candidate
            weight = np.logaddexp(weight, logsumexp(weights))
            whole = whole + new if forward else new[::-1] + whole
            if self.turns(whole[0], whole[-1], 1):
                break
        return chosen, depth, self.steps


def test_trajectories_are_those_of_the_recursive_construction():
    metric, depth, found = Metric.of(np.array([4.0, 1.0])), 6, []
    recursive = Recursive(metric, 0.7, depth)
    with double_precision():
        room = tree.room(8, walnuts.AdaptiveLeapfrog(funnel, metric))
        one = jax.jit(lambda key, state: tree.transition(
            funnel, metric, key, state, room, 0.7, depth, walnuts.AdaptiveLeapfrog))  # fmt: skip
        for start in range(40):
            point = np.array([-4.0 + start % 8, 0.1 * np.exp(-2 + start % 8 / 2)])
            made = one(np.uint64(start), tree.State(point, *by_hand(point)))
            chosen, levels, steps = recursive.transition(np.uint64(start), point)
            assert (int(made[3].depth), int(made[3].steps)) == (levels, steps)
            np.testing.assert_allclose(made[1].point, chosen, rtol=1e-8, atol=1e-10)
            found.append(levels)
    assert len(set(found)) > 3 and recursive.divided > 50 and recursive.irreversible > 5


@pytest.fixture(scope="module")
def moved():
    """A function that makes a transition from exact draws of the funnel: before, after, leapfrog steps."""

    def one(start, size, depth, metric):
        random, point = start
        state = tree.State(point, *funnel(point))
        made = tree.transition(funnel, metric, random, state, tree.room(10, walnuts.AdaptiveLeapfrog(funnel, metric)),
                               size, depth, walnuts.AdaptiveLeapfrog)  # fmt: skip
        return made[1].point, made[3].steps

    compiled = jax.jit(lambda starts, *options: jax.lax.map(lambda start: one(start, *options), starts))

    def move(size, depth, inverse, count=20_000):
        rng = np.random.default_rng(5)
        log_variance = rng.normal(0, 3, size=count)
        exact = np.stack([log_variance, np.exp(log_variance / 2) * rng.normal(size=count)], axis=1)
        with double_precision():
            keys = rng.integers(0, 2**63, size=count).astype(np.uint64)
            after, steps = map(np.asarray, compiled((keys, exact), size, depth, Metric.of(np.array(inverse))))
        return exact, after, steps

    return move


@pytest.mark.slow
@pytest.mark.sampled(2)
@pytest.mark.parametrize("size, depth, inverse", [(0.9, 6, [9.0, 1.0]), (2.5, 2, [1.0, 1.0])])
def test_a_transition_leaves_the_funnel_as_it_is(moved, size, depth, inverse):
    """Exactly, also where most steps are divided, and many can't be reversed."""
    before, after, steps = moved(size, depth, inverse)
    assert (after != before).any(axis=1).mean() > 0.5 and steps.mean() > 2
    assert stats.kstest(after[:, 0], stats.norm(0, 3).cdf).pvalue > 1e-3
    assert stats.kstest(after[:, 1] * np.exp(-after[:, 0] / 2), stats.norm.cdf).pvalue > 1e-3


FUNNEL = """
parameters { real v; vector[5] x; } model { v ~ normal(0, 3); x ~ normal(0, exp(v / 2)); }
"""


@pytest.mark.slow
def test_the_neck_of_a_funnel():
    """The law of the log variance is normal(0, 3); NUTS never gets to the narrow third of it."""
    module = stanimport.loads(FUNNEL, name="funnel")
    below, at = stats.norm(0, 3).ppf([0.05, 0.15, 0.5, 0.85]), np.array([0.05, 0.15, 0.5, 0.85])
    found = {}
    for method in ("nuts", "walnuts"):
        fit = stanimport.sample(module, seed=2, method=method, iter_sampling=4000)
        found[method] = np.array([(fit.variables["v"] < b).mean() for b in below]), int(fit.divergences.sum())
    assert found["walnuts"][1] == 0 < found["nuts"][1]
    np.testing.assert_allclose(found["walnuts"][0], at, atol=0.03)
    assert found["nuts"][0][0] < 0.01 and found["nuts"][0][1] < 0.06


@pytest.mark.sampled(4)
@pytest.mark.parametrize("metric", ["auto", "diag_e", "dense_e", "unit_e"])
def test_moments_and_law_of_a_correlated_normal_law(metric):
    module = stanimport.loads("""
data { matrix[3, 3] S; } parameters { vector[3] x; } model { x ~ multi_normal([1, -2, 3]', S); }
""", name="correlated")
    covariance = np.array([[4.0, 1.5, 0.0], [1.5, 1.0, 0.3], [0.0, 0.3, 0.25]])
    fit = stanimport.sample(module, {"S": covariance}, seed=4, metric=metric, iter_sampling=4000, method="walnuts")
    x = fit.stan_variable("x")
    np.testing.assert_allclose(x.mean(axis=0), [1, -2, 3], atol=0.12)
    np.testing.assert_allclose(np.cov(x.T), covariance, rtol=0.12, atol=0.08)
    squares = np.einsum("ni,ij,nj->n", x - [1, -2, 3], np.linalg.inv(covariance), x - [1, -2, 3])[::10]
    assert stats.kstest(squares, stats.chi2(3).cdf).pvalue > 1e-3
    assert fit.divergences.sum() == 0 and 0.7 < fit.stats["accept_stat__"].mean() < 0.97


def test_a_constrained_parameter_has_its_law(beta_module):
    fit = stanimport.sample(beta_module, FLIPS, seed=3, method="walnuts", iter_sampling=3000)
    theta = fit.stan_variable("theta")[::5]
    counts, _ = np.histogram(stats.beta(8, 4).cdf(theta), bins=20, range=(0, 1))
    assert stats.chisquare(counts).pvalue > 1e-3 and counts.sum() == 2400


@pytest.mark.slow
def test_it_runs_as_nuts_does(beta_module, tmp_path):
    """Columns, seeds, chains in any arrangement, warm-up, a journal, and runs that go on, to the last bit."""
    options = dict(seed=5, chains=2, iter_warmup=100, method="walnuts", save_warmup=True)
    whole = stanimport.sample(beta_module, FLIPS, iter_sampling=60, journal=tmp_path / "journal", **options)
    nuts = stanimport.sample(beta_module, FLIPS, iter_sampling=60, **{**options, "method": "nuts"})
    assert list(whole.stats) == list(nuts.stats) and whole.settings["method"] == "walnuts"
    assert (whole.stats["n_leapfrog__"] >= whole.stats["treedepth__"]).all()
    part = stanimport.sample(beta_module, FLIPS, iter_sampling=20, **options)
    part.save(tmp_path / "fit.nc")
    lanes = stanimport.sample(beta_module, FLIPS, iter_sampling=60, chain_method="vectorized", **options)
    np.testing.assert_allclose(lanes.variables["theta"], whole.variables["theta"], rtol=1e-6)
    for other in (stanimport.sample(beta_module, resume=tmp_path / "fit.nc", iter_sampling=60),
                  stanimport.sample(beta_module, FLIPS, iter_sampling=60, parallel_chains=1, **options),
                  stanimport.sample(beta_module, resume=tmp_path / "journal")):  # fmt: skip
        assert other.settings["method"] == "walnuts"
        np.testing.assert_array_equal(other.variables["theta"], whole.variables["theta"])
        np.testing.assert_array_equal(other.stats["energy__"], whole.stats["energy__"])
    with pytest.raises(OptionError, match="method is 'walnuts' in the run"):
        stanimport.sample(beta_module, resume=part, iter_sampling=60, method="nuts")
