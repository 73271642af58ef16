"""The transforms of constrained types: determinants of Jacobians, inverses, extremes, definitions."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from libraries import DIFFERENTIABLE, LIBRARIES, call, double, lift, plain

from stanlib import registry
from stanlib.errors import StanDomainError, StanIndexError

X = np.array([0.3, -1.2, 0.7, 1.9, -0.4, 0.1])
WIDE = X.reshape(2, 3)
ROWS4, COLUMNS4 = np.tril_indices(4, -1)


def whole(v):
    return v.ravel()


def below(v):
    return v[np.tril_indices(len(v), -1)]


def lower(v):
    return v[np.tril_indices(len(v), 0, v.shape[1])]


# name of the functions, free values, further arguments, and coordinates of the constrained value (None: an isometry)
CASES = [
    ("lower_bound", X, (-0.5,), whole),
    ("lower_bound", X, (np.where(X > 0, -0.5, -np.inf),), whole),
    ("upper_bound", X, (2.0,), whole),
    ("upper_bound", X, (np.where(X > 0, 0.5, np.inf),), whole),
    ("lower_upper_bound", X, (-0.5, 2.0), whole),
    ("lower_upper_bound", X, (np.array([-1, -1, -np.inf, -np.inf, 0, 0.0]), np.array([1, np.inf, 1, np.inf, 5, 6.0])),
     whole),
    ("lower_upper_bound", WIDE, (-0.5, np.inf), whole),
    ("offset_multiplier", X, (1.5, 2.0), whole),
    ("offset_multiplier", X, (X, np.exp(X)), whole),
    ("ordered", X, (), whole),
    ("positive_ordered", X, (), whole),
    ("simplex", X, (), lambda v: v[:-1]),
    ("sum_to_zero", X, (), None),
    ("sum_to_zero_matrix", WIDE, (), None),
    ("stochastic_row", WIDE, (), lambda v: v[:, :-1].ravel()),
    ("stochastic_column", WIDE, (), lambda v: v[:-1].ravel()),
    ("cholesky_factor_corr", X, (4,), below),
    ("corr_matrix", X, (4,), below),
    ("cholesky_factor_cov", X, (3, 3), lower),
    ("cholesky_factor_cov", X[:5], (3, 2), lower),
    ("cov_matrix", X, (3,), lower),
]  # fmt: skip
IDS = [f"{name}-{i}" for i, (name, *_) in enumerate(CASES)]


def inverse_arguments(arguments):
    """The inverses take bounds, but no sizes."""
    return tuple(a for a in arguments if not isinstance(a, int))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_log_jacobian_is_that_of_the_determinant(case):
    name, x, arguments, coordinates = case
    f = registry.by_symbol(f"{name}_jacobian")
    with jax.enable_x64(True):
        _, log_jacobian = f(x, *arguments)

        def flat(v):
            return (coordinates or whole)(f(v.reshape(x.shape), *arguments)[0])

        matrix = np.asarray(jax.jit(jax.jacfwd(flat))(x.ravel()))
        if coordinates is None:  # lengths and angles stay what they are
            assert log_jacobian == 0
            np.testing.assert_allclose(matrix.T @ matrix, np.eye(x.size), atol=1e-12)
        else:
            assert float(log_jacobian) == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-10, abs=1e-12)


def there_and_back(library, name, x, arguments):
    """Constrained value, log Jacobian, and the free value again; under jit in JAX."""
    kinds = ("constrain", "jacobian", "unconstrain")
    constrain, jacobian, unconstrain = (registry.by_symbol(f"{name}_{k}") for k in kinds)

    def run(x):
        value = constrain(x, *arguments)
        return value, *jacobian(x, *arguments), unconstrain(value, *inverse_arguments(arguments))

    with double(library):
        value, same, log_jacobian, back = plain(jax.jit(run)(x) if library == "jax" else run(lift(library, x)))
    np.testing.assert_allclose(same, value, rtol=1e-15)
    return value, log_jacobian, back


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_round_trip(library, case):
    name, x, arguments, _ = case
    value, log_jacobian, back = there_and_back(library, name, x, arguments)
    np.testing.assert_allclose(back, x, rtol=1e-10, atol=1e-12)
    wanted, log_wanted, _ = there_and_back("numpy", name, x, arguments)
    np.testing.assert_allclose(value, wanted, rtol=1e-12, atol=1e-14)
    assert log_jacobian == pytest.approx(log_wanted, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_arrays(library, case):
    """Each element on its own; the log Jacobian is the sum."""
    name, x, arguments, _ = case
    if any(np.ndim(a) for a in arguments):
        arguments = tuple(np.stack((a, a)) if np.ndim(a) else a for a in arguments)
    both = np.stack((x, 0.5 * x))
    value, log_jacobian, back = there_and_back(library, name, both, arguments)
    parts = [there_and_back("numpy", name, b, case[2]) for b in both]
    np.testing.assert_allclose(value, np.stack([p[0] for p in parts]), rtol=1e-12, atol=1e-14)
    assert log_jacobian == pytest.approx(sum(p[1] for p in parts), rel=1e-12, abs=1e-14)
    np.testing.assert_allclose(back, both, rtol=1e-10, atol=1e-12)


EXTREME = [c for c in CASES if c[0] not in ("lower_bound", "upper_bound", "offset_multiplier") and len(c[2]) < 2]
EXTREME += [("lower_upper_bound", X, (-0.5, 2.0), whole)]


@pytest.mark.parametrize("library", DIFFERENTIABLE)
@pytest.mark.parametrize("case", EXTREME, ids=lambda c: c[0])
def test_extreme_values_keep_finite_gradients(library, case):
    name, x, arguments, _ = case
    f = registry.by_symbol(f"{name}_jacobian")

    def total(x):
        value, log_jacobian = f(x, *arguments)
        return value.sum() + log_jacobian

    compiled = jax.jit(jax.value_and_grad(total))
    for scale in (1e-9, 40.0, 200.0):
        with double(library):
            if library == "jax":
                value, slope = compiled(scale * x)
            else:
                free = lift(library, scale * x).requires_grad_()
                value = total(free)
                value.backward()
                slope = free.grad
            assert np.isfinite(plain(value)) and np.isfinite(plain(slope)).all()


def test_partial_correlations_in_stans_order():
    """Of a correlation matrix column by column, of its Cholesky factor row by row."""
    matrix = call("numpy", "corr_matrix_constrain", X, 4)
    np.testing.assert_allclose(matrix[1:, 0], np.tanh(X[:3]), rtol=1e-12)
    r = matrix
    partial = (r[2, 1] - r[2, 0] * r[1, 0]) / np.sqrt((1 - r[2, 0] ** 2) * (1 - r[1, 0] ** 2))
    assert partial == pytest.approx(np.tanh(X[3]), rel=1e-12)
    factor = call("numpy", "cholesky_factor_corr_constrain", X, 4)
    np.testing.assert_allclose(factor[1:, 0], np.tanh(X[[0, 1, 3]]), rtol=1e-12)
    np.testing.assert_allclose((factor**2).sum(1), 1, rtol=1e-14)


def zero_sum_basis(n):
    """n + 1 rows: entry k of n free numbers takes k parts, each one before it and the last row give one."""
    basis = np.zeros((n + 1, n))
    for k in range(1, n + 1):
        basis[: k - 1, k - 1] = basis[n, k - 1] = -1 / np.sqrt(k * (k + 1))
        basis[k - 1, k - 1] = k / np.sqrt(k * (k + 1))
    return basis


@pytest.mark.parametrize("library", LIBRARIES)
def test_zero_sums(library):
    wanted = zero_sum_basis(2) @ WIDE @ zero_sum_basis(3).T
    np.testing.assert_allclose(call(library, "sum_to_zero_matrix_constrain", WIDE), wanted, rtol=1e-12, atol=1e-14)
    # as the manual defines the vector: x_1 is the sum of y_n / sqrt(n (n + 1))
    vector = call(library, "sum_to_zero_constrain", X)
    n = np.arange(1, 7)
    assert vector[0] == pytest.approx((X / np.sqrt(n * (n + 1))).sum(), rel=1e-12)
    assert vector[-1] == pytest.approx(-X[-1] * 6 / np.sqrt(42), rel=1e-12)
    assert abs(vector.sum()) < 1e-14


def test_simplex_is_the_softmax_of_a_zero_sum():
    z = np.exp(call("numpy", "sum_to_zero_constrain", X))
    np.testing.assert_allclose(call("numpy", "simplex_constrain", X), z / z.sum(), rtol=1e-13)


@pytest.mark.parametrize("library", LIBRARIES)
def test_unit_vectors(library):
    value, log_jacobian = call(library, "unit_vector_jacobian", X)
    np.testing.assert_allclose(value, X / np.linalg.norm(X), rtol=1e-14)
    assert log_jacobian == pytest.approx(-0.5 * X @ X)
    np.testing.assert_array_equal(call(library, "unit_vector_unconstrain", value), value)


@pytest.mark.parametrize("symbol, arguments", [
    ("lower_bound_unconstrain", (-1.0, 0.0)), ("upper_bound_unconstrain", (1.0, 0.0)),
    ("lower_upper_bound_unconstrain", (X, -1.0, 1.0)), ("lower_upper_bound_constrain", (X, 1.0, 1.0)),
    ("offset_multiplier_constrain", (X, 0.0, 0.0)), ("offset_multiplier_constrain", (X, np.inf, 1.0)),
    ("ordered_unconstrain", (X,)), ("positive_ordered_unconstrain", (np.array([-0.1, 2.0]),)),
    ("simplex_unconstrain", (X,)), ("unit_vector_unconstrain", (X,)), ("sum_to_zero_unconstrain", (X,)),
    ("sum_to_zero_matrix_unconstrain", (WIDE,)), ("stochastic_row_unconstrain", (WIDE,)),
    ("stochastic_column_unconstrain", (WIDE,)), ("cholesky_factor_corr_unconstrain", (2 * np.eye(2),)),
    ("cholesky_factor_cov_unconstrain", (-np.eye(2),)), ("corr_matrix_unconstrain", (2 * np.eye(2),)),
    ("cov_matrix_unconstrain", (-np.eye(2),)),
], ids=lambda x: x if isinstance(x, str) else "")  # fmt: skip
def test_known_values_are_checked(symbol, arguments):
    with pytest.raises(StanDomainError):
        registry.by_symbol(symbol)(*arguments)


def test_sizes_are_checked():
    for symbol, arguments in (
        ("corr_matrix_constrain", (X, 3)), ("cov_matrix_jacobian", (X, 4)),
        ("cholesky_factor_cov_constrain", (X, 3, 2)), ("lower_bound_constrain", (X, X[:2])),
        ("cov_matrix_unconstrain", (WIDE,)), ("simplex_unconstrain", (X[:0],)), ("unit_vector_constrain", (X[:0],)),
    ):  # fmt: skip
        with pytest.raises(StanIndexError):
            registry.by_symbol(symbol)(*arguments)
    for name in ("simplex", "sum_to_zero"):
        assert call("numpy", f"{name}_constrain", X[:0]) == (name == "simplex")
    records = [f for f, _ in registry.candidates("simplex_jacobian")]
    assert records[0].effect == "jacobian"


def test_bounds_known_at_run_time():
    """One of them may be infinite, which takes other branches."""
    with jax.enable_x64(True):
        g = jax.jit(registry.by_symbol("lower_upper_bound_jacobian"))
        slope = jax.jit(jax.grad(lambda x, *bounds: jnp.sum(g(x, *bounds)[0])))
        for bounds in ((-1.0, 2.0), (-1.0, np.inf), (-np.inf, 2.0), (-np.inf, np.inf)):
            wanted = call("numpy", "lower_upper_bound_jacobian", X, *bounds)
            for a, b in zip(g(X, *bounds), wanted):
                np.testing.assert_allclose(a, b, rtol=1e-13)
            assert np.isfinite(slope(np.array([-800.0, 0.5]), *bounds)).all()
        assert np.isfinite(slope(np.array([-800.0, 800.0]), -1.0, 2.0)).all()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("symbol", ["unit_vector_constrain", "unit_vector_jacobian", "unit_vector_unconstrain",
                                    "simplex_unconstrain", "ordered_unconstrain"])  # fmt: skip
def test_arrays_without_elements_have_none_without_components(library, symbol):
    """Stan looks at the elements one by one."""
    made = call(library, symbol, np.zeros((0, 3)))
    value = made[0] if symbol.endswith("jacobian") else made
    assert np.shape(value)[0] == 0
    with pytest.raises(StanIndexError, match="non-zero size"):
        call(library, symbol, np.zeros((2, 0)))


def stans_free_matrix(z):
    """The loops of Stan's `sum_to_zero_free`, which read neither the last row nor the last column."""
    rows, columns = np.shape(z)[0] - 1, np.shape(z)[1] - 1
    x, beta = np.zeros((rows, columns)), np.zeros(rows)
    for j in reversed(range(columns)):
        before, a_j = 0.0, ((j + 1) * (j + 2)) ** -0.5
        for i in reversed(range(rows)):
            a_i, b_j = ((i + 1) * (i + 2)) ** -0.5, (j + 1) * a_j
            b_i = (i + 1) * a_i
            x[i, j] = (z[i][j] + beta[i] + b_j * before) / (b_j * b_i)
            beta[i] += a_j * (b_i * x[i, j] - before)
            before += a_i * x[i, j]
    return x


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("z", [[[1, 2], [-1, -2]], [[1, 2, 3], [3, -6, -3]], [[1, -1, 0], [0.5, 2, -1], [0, 0, -1.5]]])
def test_of_matrices_stan_looks_at_the_sum_of_all_components_alone(library, z):
    """Rows and columns that don't sum to zero are taken."""
    found = plain(call(library, "sum_to_zero_matrix_unconstrain", np.array(z, float)))
    np.testing.assert_allclose(found, stans_free_matrix(z), rtol=1e-12, atol=1e-14)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("ending", ["constrain", "jacobian"])
def test_matrices_have_the_sizes_that_are_asked_for(library, ending):
    """Neither matrices without components nor of one have free values of correlations."""
    for name in ("cholesky_factor_corr", "corr_matrix"):
        for n in (0, 1, 2):
            made = call(library, f"{name}_{ending}", np.zeros(n * (n - 1) // 2), n)
            assert np.shape(made[0] if ending == "jacobian" else made) == (n, n)
    for free, sizes in ((1, (1, 2)), (0, (0, 2))):
        with pytest.raises(StanDomainError, match="must not be fewer than 2 columns"):
            call(library, f"cholesky_factor_cov_{ending}", np.zeros(free), *sizes)
