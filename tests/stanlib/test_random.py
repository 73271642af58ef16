"""Sources of random numbers, and the random numbers of every distribution against its law, with fixed seeds."""
import functools

import numpy as np
import pytest
from laws import CONTINUOUS, DISCRETE
from libraries import LIBRARIES, double, plain
from scipy import stats

from stanlib import distribution, registry
from stanlib.errors import StanDomainError
from stanlib.random.numpy import NumpyRandom

COUNT = 3000
LEAST_P = 1e-4  # of about three hundred tests, each with a seed of its own


def source(library, seed=4):
    if library == "numpy":
        return NumpyRandom(np.random.default_rng(seed))
    if library == "jax":
        import jax

        from stanlib.random.jax import JaxRandom

        return JaxRandom(jax.random.PRNGKey(seed))
    import torch

    from stanlib.random.torch import TorchRandom

    return TorchRandom(torch.Generator().manual_seed(seed), torch.float64)


def draws(library, name, parameters):
    """COUNT draws, from parameters repeated in arrays."""
    with double(library):
        return plain(registry.by_symbol(f"{name}_rng")(source(library), *(np.full(COUNT, p) for p in parameters)))


def p_value(x, law):
    """Of the Kolmogorov-Smirnov test, or of the chi-square test over the outcomes that are frequent enough."""
    if x.dtype.kind == "f":
        return stats.kstest(x, law.cdf).pvalue
    values, counts = np.unique(x, return_counts=True)
    support = np.arange(values[0], values[-1] + 1)
    expected, observed = law.pmf(support) * len(x), np.zeros(len(support))
    observed[np.searchsorted(support, values)] = counts
    often = expected > 5
    rest = len(x) - expected[often].sum(), len(x) - observed[often].sum()
    statistic = ((observed - expected)[often] ** 2 / expected[often]).sum() + (rest[1] - rest[0]) ** 2 / max(rest[0], 5)
    return stats.chi2.sf(statistic, often.sum())


# JAX compiles for every one: those that between them use every kind of draw.
ON_JAX = {
    "normal", "exponential", "gamma", "beta", "logistic", "von_mises", "binomial", "neg_binomial_2", "yule_simon",
    "discrete_range",
}  # fmt: skip
DRAWN = [law for law in CONTINUOUS + DISCRETE if law.parameters and "rng" in distribution.get(law.name).methods]
CASES = [(law, library) for law in DRAWN for library in LIBRARIES if library != "jax" or law.name in ON_JAX]


@pytest.mark.parametrize("law, library", CASES, ids=str)
def test_draws_follow_the_law(law, library):
    x = draws(library, law.name, law.parameters)
    assert x.shape == (COUNT,) and x.dtype.kind == ("f" if law in CONTINUOUS else "i")
    assert p_value(x, law.scipy) > LEAST_P


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_draw_without_parameters_is_one_number(library):
    with double(library):
        random = source(library)
        x = np.array([plain(registry.by_symbol("std_normal_rng")(random)) for _ in range(50)])
    assert x.shape == (50,) and len(set(x)) == 50 and abs(x.mean()) < 0.6


@pytest.mark.parametrize("library", LIBRARIES)
def test_draws_of_categories(library):
    cases = [
        ("categorical_rng", ([0.0, 0.2, 0.5, 0.3, 0.0],), [0.2, 0.5, 0.3]),
        ("categorical_logit_rng", ([-900.0, 1.0, 1.0],), [0.5, 0.5]),
        ("ordered_logistic_rng", (0.4, [-900.0, 0.4]), [0.5, 0.5]),
        ("ordered_probit_rng", (0.4, [-900.0, 0.4]), [0.5, 0.5]),
    ]
    with double(library):
        random = source(library)
        for symbol, parameters, probabilities in cases:
            one = functools.partial(registry.by_symbol(symbol), random, *map(np.asarray, parameters))
            counts = np.bincount([int(one()) for _ in range(300)], minlength=5)[2 : 2 + len(probabilities)]
            assert counts.sum() == 300
            assert stats.chisquare(counts, 300 * np.array(probabilities)).pvalue > LEAST_P, symbol


@pytest.mark.parametrize("library", LIBRARIES)
def test_draws_of_a_linear_model_and_of_hypergeometric_counts(library):
    with double(library):
        random = source(library)
        x = np.array([[1.0, 2.0], [0.5, -1.0], [50.0, 0.0]])
        y = plain(registry.by_symbol("bernoulli_logit_glm_rng")(random, x, np.zeros(3), np.array([1.0, 0.0])))
        assert y.shape == (3,) and y[2] == 1 and set(y) <= {0, 1}
        counts = [int(registry.by_symbol("hypergeometric_rng")(random, 5, 3, 6)) for _ in range(60)]
    assert set(counts) <= {0, 1, 2, 3} and abs(np.mean(counts) - 5 / 3) < 0.5


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("kappa, law", [(0.0, stats.uniform(-np.pi, 2 * np.pi)), (1e10, stats.norm(0, 1e-5))])
def test_extreme_concentrations(library, kappa, law):
    with double(library):
        assert p_value(plain(source(library).von_mises(kappa, (COUNT,))), law) > LEAST_P


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("rate", [1e-6, 3.0, 10.5, 300.0, 3e6, 1e9])
def test_counts_of_any_rate(library, rate):
    x = draws(library, "poisson", (rate,))
    if rate < 1e6:
        assert p_value(x, stats.poisson(rate)) > LEAST_P
    else:
        assert stats.kstest((x - rate) / np.sqrt(rate), stats.norm.cdf).pvalue > LEAST_P
        assert stats.chisquare(np.bincount(x % 8, minlength=8)).pvalue > LEAST_P  # all digits are random


TOO_GREAT = [
    ("poisson", (2.0**30,)), ("poisson", (np.inf,)), ("poisson_log", (20.9,)), ("neg_binomial", (2.0, 1e-12)),
    ("neg_binomial_2", (1e25, 2.0)), ("neg_binomial_2_log", (50.0, 2.0)), ("beta_neg_binomial", (2.0, 1e-9, 1e9)),
    ("yule_simon", (1e-9,)),
]  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name, parameters", TOO_GREAT, ids=str)
def test_counts_that_may_be_no_integers_of_stan_are_refused(name, parameters, library):
    with pytest.raises(StanDomainError, match=rf"^{name}_rng: .* must be less than 1073741824!"):
        draws(library, name, parameters)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name, parameters", TOO_GREAT, ids=str)
def test_traced_counts_that_may_be_no_integers_of_stan_are_none(name, parameters):
    import jax

    from stanlib.random.jax import JaxRandom

    with double("jax"):
        rng = registry.by_symbol(f"{name}_rng")
        drawn = jax.jit(lambda key, *given: rng(JaxRandom(key), *given))(jax.random.PRNGKey(1), *parameters)
        assert drawn == -(2**31)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name, parameters", [
    ("uniform", (1.0, 0.0)), ("discrete_range", (3, 2)), ("hypergeometric", (5, 2, 2)),
])  # fmt: skip
def test_parameters_that_do_not_go_together_are_refused(name, parameters, library):
    with double(library), pytest.raises(StanDomainError, match=f"^{name}"):
        registry.by_symbol(f"{name}_rng")(source(library), *parameters)


# What Stan Math's densities take, and its random numbers do not.
NARROWER = [
    ("normal", (0.0, np.inf)), ("gumbel", (0.0, np.inf)), ("rayleigh", (np.inf,)), ("skew_normal", (0.0, np.inf, 1.0)),
    ("bernoulli_logit", (np.inf,)), ("poisson", (0.0,)), ("poisson_log", (-np.inf,)), ("von_mises", (0.0, np.inf)),
    ("hypergeometric", (0, 1, 1)), ("hypergeometric", (1, 0, 1)), ("hypergeometric", (1, 1, 0)),
    ("ordered_logistic", (0.0, np.zeros(0))), ("ordered_probit", (0.0, np.zeros(0))),
    ("multi_normal_cholesky", (np.zeros(2), np.array([[1.0, 0.5], [0.0, 1.0]]))),
    ("multi_normal_cholesky", (np.zeros(2), np.array([[1.0, 0.0], [0.5, 0.0]]))),
]  # fmt: skip


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name, parameters", NARROWER, ids=str)
def test_what_stan_draws_nothing_for_is_refused(name, parameters, library):
    with double(library), pytest.raises(StanDomainError, match=f"^{name}_rng: "):
        registry.by_symbol(f"{name}_rng")(source(library), *parameters)


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_shapes_give_no_nan(library):
    x = draws(library, "beta", (1e-3, 2e-3))
    assert not np.isnan(x).any() and 0.5 < x.mean() * 3 < 1.5


@pytest.mark.parametrize("library", LIBRARIES)
def test_scalars_give_scalars_and_containers_arrays(library):
    with double(library):
        random = source(library)
        for symbol in ("cauchy_rng", "discrete_range_rng"):
            f = registry.by_symbol(symbol)
            assert plain(f(random, 2, 3)).shape == ()
            assert plain(f(random, np.array([2, 3]), 3)).shape == (2,)


def test_jax_keys_make_new_numbers_per_call_lane_and_iteration():
    import jax
    import jax.numpy as jnp

    from stanlib.random.jax import JaxRandom

    rng = registry.by_symbol("skew_normal_rng")

    def program(key):
        random = JaxRandom(key)
        first, second = rng(random, 3.0, 1.0, 1.0), rng(random, 3.0, 1.0, 1.0)
        each, other = random.split(), random.split()
        lanes = jax.vmap(lambda i: rng(each.at(i), 3.0, 1.0, 1.0))(jnp.arange(4))
        _, steps = jax.lax.scan(lambda c, i: (c, rng(other.at(i), 3.0, 1.0, 1.0)), 0, jnp.arange(4))
        return jnp.concatenate([jnp.array([first, second]), lanes, steps])

    keys = jax.random.split(jax.random.PRNGKey(1), 3)
    x = np.asarray(jax.jit(jax.vmap(program))(keys))
    assert len(set(x.ravel().tolist())) == x.size
    np.testing.assert_array_equal(x, jax.jit(jax.vmap(program))(keys))


def test_torch_draws_follow_the_type_of_their_parameters():
    import torch

    from stanlib.random.torch import TorchRandom

    random = TorchRandom(dtype=torch.float32)
    rng = registry.by_symbol("gamma_rng")
    assert rng(random, torch.tensor(2.0, dtype=torch.float64), 3.0).dtype == torch.float64
    assert rng(random, np.array([2.0, 1.0]), 3.0).dtype == torch.float32
