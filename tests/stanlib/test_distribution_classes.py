"""Stan's laws as classes of NumPyro and Pyro: shapes, supports, draws and expansion, as those libraries mean them."""
import itertools

import numpy as np
import pytest
from libraries import as_array

from stanlib import distribution, registry
from stanlib.errors import StanDomainError

registry.load()
BACKENDS = ("numpyro", "pyro")
NO_DRAWS = {"wiener", "lkj_cov", "gaussian_dlm_obs"}  # Stan has no random numbers for them
UNKNOWN_TRIALS = {"multinomial", "multinomial_logit", "dirichlet_multinomial"}  # their rng takes the number of trials
LAWS = [d.name for d in distribution.DISTRIBUTIONS.values() if d.name not in NO_DRAWS | UNKNOWN_TRIALS]
COUNT = 3


WITH_NUMBERS = [n for n in LAWS if any(distribution.get(n).vectorized)]


# JAX compiles the draws of every law: these few are of every kind, the others are drawn in the slow tests.
ON_NUMPYRO = {
    "bernoulli", "uniform", "yule_simon", "std_normal", "ordered_logistic", "categorical", "poisson_log_glm",
    "multi_normal_prec", "multi_gp", "lkj_corr_cholesky",
}  # fmt: skip


@pytest.fixture(params=BACKENDS)
def backend(request, torch_double, x64):
    return Backend(request.param)


def one_of_each(backend, name):
    """One case, which is slow where JAX would compile for one law more."""
    slow = backend == "numpyro" and name not in ON_NUMPYRO
    return pytest.param(backend, name, marks=[pytest.mark.slow] if slow else [])


class Backend:
    """What the tests ask of both libraries, under one name."""

    def __init__(self, name):
        self.name = name
        if name == "numpyro":
            from stanlib.ppl.numpyro import distributions as classes
        else:
            from stanlib.ppl.pyro import distributions as classes
        self.classes = classes

    def make(self, name, arguments, shape=None):
        law = self.classes.make(distribution.get(name), [as_array(a) for a in arguments])
        return law if shape is None else self.classes.of_shape(law, shape)

    def sample(self, law, shape=()):
        if self.name == "numpyro":
            import jax

            return law.sample(jax.random.PRNGKey(3), shape)
        import torch

        torch.manual_seed(3)
        return law.sample(torch.Size(shape))

    def inside(self, law, x):
        """Whether the law's support says that draws are in it, one truth value per draw."""
        return np.asarray(law.support(x) if self.name == "numpyro" else law.support.check(x))


def example(name):
    """The first example of a law, and the shape of its outcome."""
    y, *arguments = distribution.get(name).examples[0]
    return y, arguments, np.shape(y)


def cases(names):
    """Every law on both backends."""
    given = [one_of_each(b, n) for b in BACKENDS for n in names]
    return pytest.mark.parametrize("backend, name", given, indirect=["backend"])


@cases(LAWS)
def test_draws_have_the_shape_that_the_class_says_and_lie_in_its_support(backend, name):
    _, arguments, shape = example(name)
    law = backend.make(name, arguments, shape)
    assert tuple(law.batch_shape) + tuple(law.event_shape) == shape
    assert len(law.event_shape) == distribution.get(name).event_dims == law.support.event_dim
    x = backend.sample(law, (COUNT,))
    assert tuple(x.shape) == (COUNT, *shape)
    terms = np.asarray(law.log_prob(x))
    assert terms.shape == (COUNT, *law.batch_shape) and np.isfinite(terms).all()
    assert backend.inside(law, x).shape == terms.shape and backend.inside(law, x).all()


@pytest.mark.sampled(4)
@cases(["uniform", "categorical", "multi_normal", "wishart", "lkj_corr_cholesky"])
def test_expanded_laws_draw_and_score_every_entry(backend, name):
    _, arguments, shape = example(name)
    law = backend.make(name, arguments, shape)
    wide = law.expand((2, *law.batch_shape))
    x = backend.sample(wide, (COUNT,))
    assert tuple(x.shape) == (COUNT, 2, *shape)
    terms = np.asarray(wide.log_prob(x))
    assert terms.shape == (COUNT, 2, *law.batch_shape)
    for i in range(COUNT):
        for j in range(2):
            np.testing.assert_allclose(terms[i, j], np.asarray(law.log_prob(x[i, j])), rtol=1e-10)


NATIVE = {b: [n for n in LAWS if getattr(distribution.get(n).native, "on", lambda b: None)(b)] for b in BACKENDS}


@pytest.mark.parametrize(
    "backend, name", [one_of_each(b, n) for b in BACKENDS for n in NATIVE[b]], indirect=["backend"]
)
def test_the_backends_class_has_the_same_law(backend, name):
    """The density that the class itself has, in place of Stan's."""
    _, arguments, shape = example(name)
    law = backend.make(name, arguments)
    x = backend.sample(law, (COUNT,))
    own = type(law).__mro__[1].log_prob(law, x)
    np.testing.assert_allclose(np.asarray(own), np.asarray(law.log_prob(x)), rtol=1e-6, atol=1e-6)


SMALL = 1e-3
CORNERS = {  # laws whose draws lie in the corners, the number of these, and the greatest value of an entry
    "beta": ((SMALL, SMALL), 2, 1.0), "dirichlet": ((np.full(3, SMALL),), 3, 1.0),
    "beta_binomial": ((10, SMALL, SMALL), 2, 10.0),
}  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend, name", [(b, n) for b in BACKENDS for n in CORNERS], indirect=["backend"])
def test_draws_of_small_concentrations_lie_in_the_corners(backend, name):
    """Between them lies less than 1 % of the probability, and every corner has the same."""
    arguments, corners, most = CORNERS[name]
    x = np.asarray(backend.sample(backend.make(name, arguments), (2000,))) / most
    first = x[:, 0] if x.ndim > 1 else x
    assert np.mean((first > 0.05) & (first < 0.95)) < 0.01
    assert np.mean(first > 0.5) == pytest.approx(1 / corners, abs=5 * 0.5 / np.sqrt(len(x)))


# Parameters of several observations, whose leading axes are the batch.
BATCHED = {
    "categorical": ([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]],),
    "ordered_logistic": ([0.3, -0.2], [-1.0, 0.5]),
    "dirichlet": ([[1.0, 2.5, 0.5], [1.0, 1.0, 2.0]],),
    "multi_normal": ([[0.1, 0.2], [0.3, 0.1]], [[2.0, 0.5], [0.5, 1.5]]),
    "multi_student_t": (4.0, [[0.1, 0.2], [0.3, 0.1]], [[2.0, 0.5], [0.5, 1.5]]),
    "wishart": (4.5, [[[1.0, -0.2], [-0.2, 0.8]], [[2.0, 0.0], [0.0, 1.0]]]),
}


@cases(BATCHED)
def test_a_batch_of_parameters_gives_a_batch_of_laws(backend, name):
    law = backend.make(name, BATCHED[name])
    assert tuple(law.batch_shape) == (2,)
    x = backend.sample(law, (COUNT,))
    assert tuple(x.shape) == (COUNT, 2, *law.event_shape)
    terms = np.asarray(law.log_prob(x))
    record = distribution.get(name)
    for j in range(2):
        one = [as_array(a) for a in BATCHED[name]]
        one = [a[j] if np.ndim(a) > d else a for a, d in zip(one, record.dims[1:])]
        for i in range(COUNT):
            expected = record.log_prob(np.asarray(x)[i, j], *one)
            np.testing.assert_allclose(terms[i, j], expected, rtol=1e-8)


@pytest.mark.parametrize("name", sorted(NO_DRAWS | UNKNOWN_TRIALS))
def test_laws_without_random_numbers_say_so_and_have_densities(backend, name):
    y, arguments, shape = example(name)
    law = backend.make(name, arguments, shape)
    with pytest.raises(NotImplementedError, match=name):
        backend.sample(law)
    expected = distribution.get(name).log_prob(*map(as_array, (y, *arguments)))
    lifted = as_array(y) if backend.name == "numpyro" else backend.classes.tensors([as_array(y)])[0]
    np.testing.assert_allclose(np.asarray(law.log_prob(lifted)), expected, rtol=1e-10)


def test_every_argument_of_an_rng_is_one_of_the_density_or_a_size():
    from stanlib.ppl import laws

    for d in distribution.DISTRIBUTIONS.values():
        extra = set(laws.rng_names(d)) - set(d.argument_names) - set(d.sizes)
        assert not extra or d.name in UNKNOWN_TRIALS, f"{d.name}: {extra}"


def test_supports_that_depend_on_the_parameters(backend):
    assert not backend.inside(backend.make("uniform", (1.0, 3.0)), lift(backend, 4.0)).any()
    assert not backend.inside(backend.make("pareto", (1.0, 3.0)), lift(backend, 0.5)).any()
    assert not backend.inside(backend.make("pareto_type_2", (1.0, 3.0, 2.0)), lift(backend, 0.5)).any()
    assert not backend.inside(backend.make("ordered_logistic", (1.0, [0.1, 0.2])), lift(backend, 4)).any()
    assert not backend.inside(backend.make("multinomial", ([0.5, 0.5],)), lift(backend, [1, -1])).any()


def lift(backend, x):
    if backend.name == "numpyro":
        import jax.numpy as jnp

        return jnp.asarray(x)
    import torch

    return torch.as_tensor(x)


# --- parameters that are integers ------------------------------------------------------------------------------------


def whole_numbers(name):
    """Parameters of a law that are integers wherever its domains let them, as in `normal(1, 2)`."""
    record = distribution.get(name)
    outcome, *example_parameters = record.examples[0]
    options = [
        (i + 3, 1, 0, a) if single and isinstance(a, float) else (a,)
        for i, (a, single) in enumerate(zip(example_parameters, record.vectorized))
    ]
    for chosen in itertools.product(*options):
        try:
            record.check_parameters(chosen)
            density = record.log_prob(as_array(outcome), *map(as_array, chosen))
        except StanDomainError:
            continue
        if np.isfinite(density).all():
            return list(chosen)
    raise AssertionError(f"no parameters for {name}")


@cases(WITH_NUMBERS)
def test_draws_with_integers_for_parameters(backend, name):
    given = whole_numbers(name)
    as_reals = [float(a) if isinstance(a, int) and not c else a for a, c in zip(given, distribution.get(name).counts)]
    law, expected = (backend.classes.make(distribution.get(name), a) for a in (given, as_reals))
    drawn = np.asarray(backend.sample(law, (2,)))
    np.testing.assert_array_equal(drawn, np.asarray(backend.sample(expected, (2,))))
    np.testing.assert_array_equal(law.log_prob(backend.sample(law)), expected.log_prob(backend.sample(expected)))

