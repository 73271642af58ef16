"""Distributions of vectors: against SciPy, against each other, sizes, batches, edges."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, gradient, lift, numeric_gradient, plain

from stanlib import distribution, registry
from stanlib.errors import StanDomainError, StanIndexError

S = np.array([[2.0, 0.5, -0.3], [0.5, 1.5, 0.2], [-0.3, 0.2, 1.0]])
L = np.linalg.cholesky(S)
MU = np.array([0.5, -1.0, 2.0])
Y = np.array([[0.1, 0.2, 0.3], [-1.0, 2.0, 0.0], [3.0, -3.0, 1.0], [0.0, 0.5, 4.0], [1.0, 1.0, 1.0]])
NORMAL = scipy.stats.multivariate_normal(MU, S)
STUDENT = scipy.stats.multivariate_t(MU, S, 3.5)
COVARIANCE_LAWS = {
    "multi_normal": (NORMAL, (MU, S)),
    "multi_normal_prec": (NORMAL, (MU, np.linalg.inv(S))),
    "multi_normal_cholesky": (NORMAL, (MU, L)),
    "multi_student_t": (STUDENT, (3.5, MU, S)),
    "multi_student_t_cholesky": (STUDENT, (3.5, MU, L)),
}


def terms(library, name, y, *arguments):
    """One log density per observation."""
    with double(library):
        return plain(distribution.get(name).log_prob(lift(library, y), *(lift(library, a) for a in arguments)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", COVARIANCE_LAWS)
def test_one_term_per_observation(library, name):
    law, arguments = COVARIANCE_LAWS[name]
    got = terms(library, name, Y, *arguments)
    np.testing.assert_allclose(got, law.logpdf(Y), rtol=1e-12)
    assert terms(library, name, Y[0], *arguments) == pytest.approx(law.logpdf(Y[0]), rel=1e-12)
    assert call(library, f"{name}_lpdf", Y, *arguments) == pytest.approx(law.logpdf(Y).sum(), rel=1e-12)
    # one observation beside several locations, and one location for each
    locations = [np.tile(MU, (5, 1)) if a is MU else a for a in arguments]
    np.testing.assert_allclose(terms(library, name, Y, *locations), got, rtol=1e-12)
    shifted = [MU + Y if a is MU else a for a in arguments]
    np.testing.assert_allclose(terms(library, name, MU, *shifted), law.logpdf(MU - Y), rtol=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("name", COVARIANCE_LAWS)
def test_gradients_by_matrix_and_location(library, name):
    """Also where the matrix, or all but the matrix, is data."""
    f = registry.by_symbol(f"{name}_lpdf")
    arguments = COVARIANCE_LAWS[name][1]
    for i, a in enumerate(arguments):
        def at(x, i=i):
            return f(Y[:2], *arguments[:i], x, *arguments[i + 1 :])

        got = gradient(library, at, np.array(a))
        if name.endswith("cholesky") and got.ndim == 2:
            wanted = np.tril(numeric_gradient(lambda x, at=at: at(np.tril(x)), a))
            np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)
        elif got.ndim == 2:  # along symmetric changes
            wanted = numeric_gradient(lambda x, at=at: at((x + x.T) / 2), a)
            np.testing.assert_allclose((got + got.T) / 2, wanted, rtol=1e-6, atol=1e-7)
        else:
            np.testing.assert_allclose(got, numeric_gradient(at, a), rtol=1e-6, atol=1e-7)
    y = gradient(library, lambda y: f(y, *arguments), Y)
    np.testing.assert_allclose(y, numeric_gradient(lambda y: f(y, *arguments), Y), rtol=1e-6, atol=1e-7)


@pytest.mark.slow
def test_second_derivatives_and_vmap():
    f = registry.by_symbol("multi_normal_lpdf")
    with jax.enable_x64(True):
        direction = jnp.array([[0.3, 0.1, 0.0], [0.1, -0.2, 0.4], [0.0, 0.4, 0.1]])

        def along(t):
            return f(Y, MU, S + t * direction)

        slope = jax.grad(along)
        numeric = (slope(1e-5) - slope(-1e-5)) / 2e-5
        assert float(jax.grad(slope)(0.0)) == pytest.approx(float(numeric), rel=1e-6)
        scales = np.array([0.5, 1.0, 2.0])
        batched = jax.jit(jax.vmap(lambda s: f(Y, MU, s * S)))(scales)
        np.testing.assert_allclose(batched, [f(Y, MU, s * S) for s in scales], rtol=1e-12)


@pytest.mark.parametrize("name", COVARIANCE_LAWS)
def test_sizes(name):
    arguments = COVARIANCE_LAWS[name][1]
    f = registry.by_symbol(f"{name}_lpdf")
    with pytest.raises(StanIndexError, match="3"):
        f(Y[:, :2], *arguments)
    with pytest.raises(StanIndexError, match="lengths"):
        f(Y, *(np.tile(MU, (2, 1)) if a is MU else a for a in arguments))
    with pytest.raises(StanIndexError, match="rows"):
        f(Y, *arguments[:-1], arguments[-1][:2])


@pytest.mark.parametrize("name", COVARIANCE_LAWS)
def test_matrices_that_are_none(name):
    """Known ones raise, on torch too; traced ones make the density NaN."""
    *first, matrix = COVARIANCE_LAWS[name][1]
    f = registry.by_symbol(f"{name}_lpdf")
    bad = matrix - 3 * np.eye(3)
    if name == "multi_normal_cholesky":
        with np.errstate(invalid="ignore"):
            assert np.isnan(f(Y, *first, bad))
    else:
        with pytest.raises(StanDomainError, match="must be"):
            f(Y, *first, bad)
        with pytest.raises(StanDomainError, match="must be"):
            f(Y, *first, matrix + np.triu(np.ones((3, 3)), 1))
    with jax.enable_x64(True):
        assert np.isnan(jax.jit(f)(Y, *first, bad))
    with double("torch"):
        with pytest.raises(StanDomainError, match="must be|out of range"):
            f(Y, *first, lift("torch", bad))


@pytest.mark.parametrize("library", LIBRARIES)
def test_gaussian_processes(library):
    y, w = Y[:2], np.array([0.5, 2.0])
    wanted = [scipy.stats.multivariate_normal(np.zeros(3), S / s).logpdf(row) for s, row in zip(w, y)]
    np.testing.assert_allclose(terms(library, "multi_gp", y, S, w), wanted, rtol=1e-12)
    np.testing.assert_allclose(terms(library, "multi_gp_cholesky", y, L, w), wanted, rtol=1e-12)
    with pytest.raises(StanIndexError):
        call(library, "multi_gp_lpdf", y.T, S, w)
    with pytest.raises(StanIndexError):
        call(library, "multi_gp_cholesky_lpdf", y, L, w[:1])


ALPHA = np.array([0.3, 2.0, 1.0, 5.5])
THETA = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.1, 0.1, 0.1]])


@pytest.mark.parametrize("library", LIBRARIES)
def test_dirichlet(library):
    law = scipy.stats.dirichlet
    wanted = [law.logpdf(t, ALPHA) for t in THETA]
    np.testing.assert_allclose(terms(library, "dirichlet", THETA, ALPHA), wanted, rtol=1e-12)
    both = terms(library, "dirichlet", THETA[0], np.stack((ALPHA, ALPHA + 1)))
    np.testing.assert_allclose(both, [law.logpdf(THETA[0], ALPHA), law.logpdf(THETA[0], ALPHA + 1)], rtol=1e-12)
    # a component of 0 whose concentration is 1 changes nothing
    edge = call(library, "dirichlet_lpdf", np.array([0.0, 0.4, 0.6]), np.array([1.0, 2.0, 3.0]))
    assert edge == pytest.approx(np.log(60 * 0.4 * 0.6**2), rel=1e-12)
    with np.errstate(divide="ignore"):
        assert call(library, "dirichlet_lpdf", np.array([0.0, 0.4, 0.6]), np.array([2.0, 2.0, 3.0])) == -np.inf
    with pytest.raises(StanIndexError):
        call(library, "dirichlet_lpdf", THETA, ALPHA[:3])


def test_dirichlet_checks_known_simplexes():
    f = registry.by_symbol("dirichlet_lpdf")
    for theta in ([0.1, 0.2, 0.3, 0.5], [-0.1, 0.4, 0.3, 0.4]):
        with pytest.raises(StanDomainError, match="simplex"):
            f(np.array([THETA[0], theta]), ALPHA)
    with pytest.raises(StanDomainError, match="positive"):
        f(THETA, ALPHA - 0.3)
    assert np.isnan(jax.jit(f)(THETA, ALPHA - 0.5))


COUNTS = np.array([3, 0, 2, 6])


@pytest.mark.parametrize("library", LIBRARIES)
def test_counts(library):
    theta = THETA[0]
    wanted = scipy.stats.multinomial(11, theta).logpmf(COUNTS)
    assert call(library, "multinomial_lpmf", COUNTS, theta) == pytest.approx(wanted, rel=1e-12)
    assert call(library, "multinomial_logit_lpmf", COUNTS, np.log(theta) + 3) == pytest.approx(wanted, rel=1e-12)
    wanted = scipy.stats.dirichlet_multinomial(ALPHA, 11).logpmf(COUNTS)
    assert call(library, "dirichlet_multinomial_lpmf", COUNTS, ALPHA) == pytest.approx(wanted, rel=1e-12)
    # towards the multinomial for large concentrations
    limit = call(library, "dirichlet_multinomial_lpmf", COUNTS, 1e12 * theta)
    assert limit == pytest.approx(scipy.stats.multinomial(11, theta).logpmf(COUNTS), rel=1e-9)
    for name, argument in (("multinomial", theta), ("multinomial_logit", ALPHA), ("dirichlet_multinomial", ALPHA)):
        assert call(library, f"{name}_lpmf", 0 * COUNTS, argument) == 0
        with pytest.raises(StanIndexError):
            call(library, f"{name}_lpmf", COUNTS[:2], argument)
        with pytest.raises(StanDomainError, match="nonnegative"):  # known counts, beside tensors too
            call(library, f"{name}_lpmf", -COUNTS, argument)


@pytest.mark.parametrize("library", DIFFERENTIABLE)
def test_gradients_of_counts(library):
    for name, x in (("multinomial_logit", ALPHA), ("dirichlet_multinomial", ALPHA)):
        f = registry.by_symbol(f"{name}_lpmf")
        got = gradient(library, lambda a, f=f: f(COUNTS, a), x)
        np.testing.assert_allclose(got, numeric_gradient(lambda a, f=f: f(COUNTS, a), x), rtol=1e-6, atol=1e-7)
    f = registry.by_symbol("multinomial_lpmf")
    got = gradient(library, lambda t: f(np.array([0, 2, 3]), t), [0.0, 0.4, 0.6])
    np.testing.assert_allclose(got, [0, 5, 5], rtol=1e-12)
    g = registry.by_symbol("dirichlet_lpdf")
    got = gradient(library, lambda t: g(t, np.array([1.0, 2.0, 3.0])), [0.0, 0.4, 0.6])
    np.testing.assert_allclose(got, [0, 1 / 0.4, 2 / 0.6], rtol=1e-12)
    got = gradient(library, lambda a: g(THETA, a), ALPHA)
    np.testing.assert_allclose(got, numeric_gradient(lambda a: g(THETA, a), ALPHA), rtol=1e-6)


NATIVE = ("multi_normal", "multi_normal_prec", "multi_normal_cholesky", "multi_student_t_cholesky", "dirichlet",
          "wishart", "wishart_cholesky", "inv_wishart")  # fmt: skip


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", NATIVE)
def test_native_classes_have_the_same_law(name):
    from stanlib.ppl.numpyro.distributions import make

    record = distribution.get(name)
    with jax.enable_x64(True):
        y, *arguments = (np.array(a) if isinstance(a, list) else a for a in record.examples[0])
        made = make(record, arguments)
        inherited = type(made).__mro__[1].log_prob
        assert float(made.log_prob(y)) == pytest.approx(float(inherited(made, y)), rel=1e-10)
        assert made.sample(jax.random.PRNGKey(0), (2,)).shape == (2, *y.shape)


# As Stan 2.35 has it: an array of vectors without components is refused, one such vector is not.
EMPTY, ROWS, NONE = np.zeros(0), np.zeros((2, 0)), np.zeros((0, 0))
OF_EMPTY = {"one": (EMPTY, EMPTY), "several": (ROWS, EMPTY), "means": (EMPTY, ROWS), "no vector": (NONE, EMPTY)}


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", OF_EMPTY)
def test_several_empty_vectors_are_refused_by_cholesky_factor(library, case):
    y, mu = OF_EMPTY[case]
    if case in ("several", "means"):
        with pytest.raises(StanIndexError, match="L has size 0"):
            call(library, "multi_normal_cholesky_lpdf", y, mu, NONE)
    else:
        assert call(library, "multi_normal_cholesky_lpdf", y, mu, NONE) == 0
