"""Random vectors and matrices: moments of draws with fixed seeds, against the moments of the laws."""
import jax
import numpy as np
import pytest
import scipy.stats
from libraries import LIBRARIES, as_array, double, lift, plain

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError
from stanlib.random.jax import JaxRandom
from stanlib.random.numpy import NumpyRandom
from stanlib.random.torch import TorchRandom

S = np.array([[2.0, 0.5, -0.3], [0.5, 1.5, 0.2], [-0.3, 0.2, 1.0]])
L = np.linalg.cholesky(S)
MU = np.array([0.5, -1.0, 2.0])
ALPHA = np.array([0.3, 2.0, 1.0])
THETA = np.array([0.2, 0.5, 0.3])
COUNT = {"numpy": 2000, "jax": 6000, "torch": 800}


def draws(library, symbol, *arguments):
    """Many draws of an rng function from one seed, by rows."""
    f, n = registry.by_symbol(symbol), COUNT[library]
    with double(library):
        if library == "jax":
            keys = jax.random.split(jax.random.PRNGKey(7), n)
            return np.asarray(jax.jit(jax.vmap(lambda k: f(JaxRandom(k), *arguments)))(keys))
        if library == "numpy":
            source = NumpyRandom(np.random.default_rng(7))
            return np.array([f(source, *arguments) for _ in range(n)])
        import torch

        torch.set_num_threads(1)
        source = TorchRandom(torch.Generator().manual_seed(7), dtype=torch.float64)
        arguments = [lift(library, a) for a in arguments]
        return np.array([plain(f(source, *arguments)) for _ in range(n)])


def check_mean(sample, mean):
    """Every component's mean, within five standard errors."""
    error = sample.std(axis=0) / np.sqrt(len(sample))
    assert (abs(sample.mean(axis=0) - mean) <= 5 * error + 1e-12).all()


MEANS = {
    "multi_normal_rng": ((MU, S), MU),
    "multi_normal_cholesky_rng": ((MU, L), MU),
    "multi_student_t_rng": ((9.0, MU, S), MU),
    "multi_student_t_cholesky_rng": ((9.0, MU, L), MU),
    "dirichlet_rng": ((ALPHA,), ALPHA / ALPHA.sum()),
    "multinomial_rng": ((THETA, 10), 10 * THETA),
    "multinomial_logit_rng": ((np.log(THETA) - 2, 10), 10 * THETA),
    "dirichlet_multinomial_rng": ((ALPHA, 10), 10 * ALPHA / ALPHA.sum()),
    "lkj_corr_rng": ((3, 1.5), np.eye(3)),
    "wishart_rng": ((5.5, S), 5.5 * S),
    "inv_wishart_rng": ((11.5, S), S / 7.5),
}
# covariance of the first two components
COVARIANCES = {
    "multi_normal_rng": S[0, 1],
    "multi_student_t_rng": S[0, 1] * 9 / 7,
    "dirichlet_rng": scipy.stats.dirichlet(ALPHA).cov()[0, 1],
    "multinomial_rng": -10 * 0.2 * 0.5,
    "dirichlet_multinomial_rng": scipy.stats.dirichlet_multinomial(ALPHA, 10).cov()[0, 1],
}


# compiling the rejection samplers takes JAX seconds each, so that it draws from one law of every kind
IN_JAX = (
    "multi_normal_cholesky_rng", "multi_student_t_rng", "dirichlet_multinomial_rng", "lkj_corr_rng", "wishart_rng",
)  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    "library, symbol", [(b, s) for b in LIBRARIES for s in (IN_JAX if b == "jax" else MEANS)], ids=str
)
def test_means(library, symbol):
    arguments, mean = MEANS[symbol]
    sample = draws(library, symbol, *arguments)
    check_mean(sample, mean)
    if symbol in COVARIANCES:
        first, second = (sample[:, i] - np.asarray(mean)[i] for i in (0, 1))
        check_mean(first * second, COVARIANCES[symbol])
    if "multinomial" in symbol:
        assert sample.dtype.kind == "i" and (sample.sum(axis=1) == 10).all() and (sample >= 0).all()


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "symbol, arguments", [("wishart", (5.5,)), ("inv_wishart", (11.5,)), ("lkj_corr", (3,))], ids=lambda x: str(x)
)
def test_factors_have_the_law_of_their_product(symbol, arguments):
    """Two samples of one determinant's law."""
    lkj = symbol == "lkj_corr"
    whole = draws("numpy", f"{symbol}_rng", *arguments, *((1.5,) if lkj else (S,)))
    factors = draws("numpy", f"{symbol}_cholesky_rng", *arguments, *((1.5,) if lkj else (L,)))
    assert (np.triu(factors, 1) == 0).all()
    dets, half = np.linalg.det(whole), len(whole) // 2
    squares = np.prod(np.diagonal(factors, axis1=1, axis2=2), axis=1) ** 2
    assert scipy.stats.ks_2samp(dets[:half], squares[half:]).pvalue > 1e-3


INVERSE = {"inv_wishart_rng": S, "inv_wishart_cholesky_rng": L}


@pytest.mark.parametrize("symbol", INVERSE)
def test_inverses_of_nearly_singular_draws(symbol):
    """The last entry of an inverse Wishart matrix is inverse chi-square, with what its rows leave of nu."""
    sample = draws("numpy", symbol, 2.05, INVERSE[symbol])
    last = (sample[:, -1] ** 2).sum(axis=-1) if "cholesky" in symbol else sample[:, -1, -1]
    assert scipy.stats.kstest(S[-1, -1] / last, scipy.stats.chi2(0.05).cdf).pvalue > 1e-3


@pytest.mark.filterwarnings("ignore:(overflow|invalid value) encountered:RuntimeWarning")
@pytest.mark.parametrize("symbol", INVERSE)
def test_inverses_of_singular_draws_are_refused(symbol):
    """Most draws have no inverse in doubles: known ones raise, traced ones are NaN as a whole."""
    with pytest.raises(StanDomainError, match=rf"(?s)^{symbol}: .* must be finite"):
        draws("numpy", symbol, 2.0001, INVERSE[symbol])
    keys = jax.random.split(jax.random.PRNGKey(7), 40)
    with double("jax"):
        sample = jax.vmap(lambda k: registry.by_symbol(symbol)(JaxRandom(k), 2.0001, INVERSE[symbol]))(keys)
    missing = np.isnan(np.asarray(sample))
    assert missing.any() and (missing.all(axis=(1, 2)) | np.isfinite(sample).all(axis=(1, 2))).all()


@pytest.mark.parametrize("eta", [0.4, 3.0])
def test_correlations_are_beta(eta):
    """Every correlation of an LKJ matrix of size K is beta on (-1, 1) with eta - 1 + K / 2."""
    sample = draws("numpy", "lkj_corr_rng", 4, eta)
    np.testing.assert_allclose(np.diagonal(sample, axis1=1, axis2=2), 1, rtol=1e-12)
    law = scipy.stats.beta(eta + 1, eta + 1, loc=-1, scale=2)
    for i, j in ((1, 0), (3, 1), (3, 2)):
        assert scipy.stats.kstest(sample[:, i, j], law.cdf).pvalue > 1e-3


def test_diagonal_of_wishart_draws():
    sample = draws("numpy", "wishart_rng", 5.5, S)
    for i in range(3):
        assert scipy.stats.kstest(sample[:, i, i] / S[i, i], scipy.stats.chi2(5.5).cdf).pvalue > 1e-3


@pytest.mark.parametrize("library", LIBRARIES)
def test_small_concentrations(library):
    """Draws pile up in the corners without underflow to 0 / 0."""
    with double(library):
        source = {"numpy": lambda: NumpyRandom(np.random.default_rng(1)), "torch": lambda: TorchRandom(),
                  "jax": lambda: JaxRandom(jax.random.PRNGKey(1))}[library]()  # fmt: skip
        drawn = plain(registry.by_symbol("dirichlet_rng")(source, lift(library, np.full(5, 1e-4))))
    assert drawn.sum() == pytest.approx(1) and drawn.max() > 0.99


def test_arrays_of_locations():
    """One draw per location, independent of each other."""
    for symbol, arguments in (("multi_normal_rng", (S,)), ("multi_student_t_rng", (S,))):
        f, source = registry.by_symbol(symbol), NumpyRandom(np.random.default_rng(3))
        first = (5.0,) if "student" in symbol else ()
        many = f(source, *first, np.tile(MU, (2000, 1)), *arguments)
        assert many.shape == (2000, 3)
        check_mean(many, MU)
        assert abs(np.corrcoef(many[:-1, 0], many[1:, 0])[0, 1]) < 0.1


def test_arguments_are_checked():
    source = NumpyRandom(np.random.default_rng(0))
    for symbol, arguments in (
        ("multi_normal_rng", (MU, -S)), ("dirichlet_rng", (-ALPHA,)), ("multinomial_rng", (THETA / 2, 3)),
        ("multinomial_rng", (THETA, -1)), ("lkj_corr_rng", (2, 0.0)), ("wishart_rng", (1.5, S)),
        ("inv_wishart_cholesky_rng", (4.0, S)),
    ):  # fmt: skip
        with pytest.raises(StanDomainError):
            registry.by_symbol(symbol)(source, *arguments)
    with pytest.raises(StanIndexError):
        registry.by_symbol("wishart_rng")(source, 4.0, as_array([[1.0, 0.0]]))
    assert registry.by_symbol("lkj_corr_rng").shape_arguments == (0,)
