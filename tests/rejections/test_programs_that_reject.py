"""What Stan throws for in a model as a whole: domains of parameters, empty observations, rejections by data alone."""
from __future__ import annotations

import math
import re

import numpy as np
import pytest
import scipy.stats
from densities import module_log_density

import stanimport
from stanimport.inference import LogProb
from stanimport.inference.methods.pyro_methods import Density
from stanlib.errors import StanDomainError, StanIndexError, StanReject

BOTH = pytest.mark.parametrize("backend", ["numpyro", "pyro"])
DOMAINS = {  # parameters whose domain depends on others: a program, where it has a density, where Stan throws
    "lower and upper": ("real a; real<lower=a, upper=1> b;", "b ~ normal(0, 1);", {"a": 0.0, "b": 0.5}, {"a": 2.0}),
    "equal bounds": ("real a; real<lower=a, upper=1> b;", "b ~ normal(0, 1);", {"a": 0.0, "b": 0.5}, {"a": 1.0}),
    "no prior": ("real a; real<lower=1, upper=a> b;", "", {"a": 2.0, "b": 1.5}, {"a": 0.5}),
    "one of several": ("vector[2] a; vector<lower=a, upper=1>[2] b;", "b ~ normal(0, 1);",
                       {"a": [0.0, 0.2], "b": [0.5, 0.6]}, {"a": [0.0, 1.2]}),
    "multiplier": ("real a; vector<multiplier=a>[2] b;", "b ~ normal(0, 1);", {"a": 1.0, "b": [0.5, 1.0]}, {"a": -1.0}),
    "multiplier of 0": ("real a; real<offset=1, multiplier=a> b;", "", {"a": 1.0, "b": 0.5}, {"a": 0.0}),
    "above infinity": ("real a; real<lower=1 / a> b;", "", {"a": 4.0, "b": 1.5}, {"a": 0.0}),
    "below minus infinity": ("real a; vector<upper=log(a)>[2] b;", "", {"a": 1.0, "b": [-1.0, -2.0]}, {"a": 0.0}),
    "no number": ("real a; real<lower=sqrt(a)> b;", "b ~ exponential(1);", {"a": 1.0, "b": 1.5}, {"a": -1.0}),
    "infinite offset": ("real a; real<offset=log(a)> b;", "b ~ normal(0, 1);", {"a": 1.0, "b": 0.5}, {"a": 0.0}),
}  # fmt: skip


def log_density(program, backend, draw, **data):
    module = stanimport.loads(program, backend=backend)
    values = {k: np.asarray(v, float) for k, v in draw.items()}
    return float(module_log_density(module, module.transformed_data(**data), values, backend))


def shapes(module, **data):
    """The sizes of the parameters, by name."""
    if module.stan.backend == "numpyro":
        return LogProb(module, data).posterior.constrained_shapes
    from stanimport.inference.methods.pyro_methods import Density

    return Density(module, data).constrained_shapes


def rejects(program, backend, draw, message, **data):
    """Whether the density is minus infinity, or an error that matches the message."""
    try:
        return log_density(program, backend, draw, **data) == -math.inf
    except (StanReject, StanIndexError) as e:
        assert re.search(message, str(e)), e
        return True


@BOTH
@pytest.mark.parametrize("name", DOMAINS)
def test_an_empty_domain_of_a_parameter_rejects_the_draw(name, backend, x64, torch_double):
    parameters, statements, good, change = DOMAINS[name]
    program = f"parameters {{ {parameters} }} model {{ {statements} }}"
    assert math.isfinite(log_density(program, backend, good))
    assert log_density(program, backend, {**good, **change}) == -math.inf


@pytest.mark.parametrize("name", DOMAINS)
def test_the_density_of_an_unconstrained_point_is_rejected_too(name, x64):
    parameters, statements, _, change = DOMAINS[name]
    module = stanimport.loads(f"parameters {{ {parameters} }} model {{ {statements} }}")
    density = LogProb(module, {})
    start = np.zeros(density.posterior.size)
    start[: np.size(change["a"])] = change["a"]
    assert density.at(start)[0] == -math.inf


@BOTH
def test_an_empty_domain_by_data_alone_is_an_error_that_names_the_parameter(backend):
    program = "data { real u; } parameters { real a;\n  real<lower=2, upper=u> b; } model { b ~ normal(0, 1); }"
    with pytest.raises(StanDomainError, match=r"b: the lower bound 2.* must be less than the upper bound 1.*line"):
        log_density(program, backend, {"a": 0.0, "b": 1.5}, u=1.0)


@BOTH
@pytest.mark.parametrize(("declaration", "message"), [
    ("real<lower=u> b;", "lower bound is inf, but must be less than infinity"),
    ("vector<upper=-[0, u]'>[2] b;", "upper bound is .*-inf.*, but must be greater than minus infinity"),
    ("real<upper=u - u> b;", "upper bound is nan"),
    ("real<lower=u - u, upper=1> b;", "lower bound nan must be less than the upper bound 1.0"),
    ("array[2] real<offset=u> b;", "offset is inf, but must be finite"),
    ("tuple(real, real<multiplier=u>) b;", r"b\.2: the multiplier is inf"),
])  # fmt: skip
def test_bounds_that_leave_nothing_are_errors(declaration, message, backend):
    module = stanimport.loads(f"data {{ real u; }} parameters {{\n  {declaration} }} model {{ }}", backend=backend)
    with pytest.raises(StanDomainError, match=rf"{message}.*line 2"):
        shapes(module, u=math.inf)


@BOTH
@pytest.mark.parametrize(("declaration", "message"), [
    ("unit_vector[N] b;", "unit_vector of size 1, but the size must be at least 2"),
    ("array[0] unit_vector[N - 1] b;", "unit_vector of size 0, but"),
    ("simplex[N - 1] b;", "simplex of size 0, but the size must be at least 1"),
    ("sum_to_zero_vector[N - 1] b;", "sum_to_zero_vector of size 0"),
    ("sum_to_zero_matrix[N - 1, 2] b;", "sum_to_zero_matrix of size 0 x 2"),
    ("row_stochastic_matrix[2, N - 1] b;", "row_stochastic_matrix of size 2 x 0"),
    ("column_stochastic_matrix[N - 1, 2] b;", "column_stochastic_matrix of size 0 x 2"),
    ("cholesky_factor_cov[N, 2] b;", "cholesky_factor_cov of size 1 x 2, but it must not have more columns than rows"),
    ("vector[N - 2] b;", "a size is negative"),
    ("array[N - 2] complex b;", "a size is negative"),
    ("tuple(real, array[3, N - 3] simplex[2]) b;", "a size is negative"),
])  # fmt: skip
def test_sizes_that_a_type_has_not_are_errors(declaration, message, backend):
    module = stanimport.loads(f"data {{ int N; }} parameters {{\n  {declaration} }} model {{ }}", backend=backend)
    with pytest.raises(StanIndexError, match=rf"^b.*: {message}.*line 2"):
        shapes(module, N=1)


@BOTH
def test_the_least_sizes_are_allowed(backend):
    module = stanimport.loads("""
        parameters { unit_vector[2] a; simplex[1] b; sum_to_zero_matrix[1, 1] c; row_stochastic_matrix[0, 1] d;
          column_stochastic_matrix[1, 0] e; cholesky_factor_cov[2, 0] f; corr_matrix[0] g; }
        model { }""", backend=backend)  # fmt: skip
    found = shapes(module)
    assert [found[n] for n in "abcdefg"] == [(2,), (1,), (1, 1), (0, 1), (1, 0), (2, 0), (0, 0)]


@BOTH
def test_bounds_of_no_components_may_cross(backend, x64, torch_double):
    program = """
        data { int N; } parameters { real a; array[N] real<lower=0, upper=N> b; vector<lower=2, upper=a>[N] c; }
        model { a ~ normal(0, 1); }"""
    found = log_density(program, backend, {"a": 0.5, "b": np.zeros(0), "c": np.zeros(0)}, N=0)
    assert found == pytest.approx(-0.5 * 0.25 - 0.5 * math.log(2 * math.pi))


@BOTH
@pytest.mark.parametrize("term", ["target += normal_lpdf(y | 0, a);", "y ~ normal(0, a);",
                                  "for (n in 1:N) k += 1; target += normal_lupdf(y | 0, a);"])  # fmt: skip
def test_stan_looks_at_the_scale_of_no_observations(term, backend, x64, torch_double):
    stanli = pytest.importorskip("stanli")
    program = f"data {{ int N; vector[N] y; }} parameters {{ real a; }} model {{ int k = 0; {term} }}"
    model = stanli.Model(stan_code=program, data={"N": 0, "y": []})
    assert model.log_prob_grad(np.array([1.0]))[0] == 0
    with pytest.raises(RuntimeError):
        model.log_prob_grad(np.array([-1.0]))
    assert log_density(program, backend, {"a": 1.0}, N=0, y=[]) == 0
    assert log_density(program, backend, {"a": -1.0}, N=0, y=[]) == -math.inf


@BOTH
def test_a_rejection_by_data_alone_is_an_error_that_names_the_line(backend, x64, torch_double):
    program = (
        "data { int N; } parameters { real a; } model {\n  a ~ normal(0, 1);\n"
        '  if (N < 3) reject("N is ", N);\n}'
    )
    assert math.isfinite(log_density(program, backend, {"a": 1.0}, N=3))
    with pytest.raises(StanReject, match="N is 2.*line 3, column 14"):
        log_density(program, backend, {"a": 1.0}, N=2)


@BOTH
def test_a_rejection_that_parameters_decide_rejects_the_draw(backend, x64, torch_double):
    program = (
        "data { int N; } parameters { real a; } model {\n  a ~ normal(0, 1);\n"
        '  if (a > 0) { if (N < 3) reject("N is ", N, " and a is ", a); }\n}'
    )
    assert log_density(program, backend, {"a": 1.0}, N=2) == -math.inf
    assert math.isfinite(log_density(program, backend, {"a": 1.0}, N=3))
    assert math.isfinite(log_density(program, backend, {"a": -1.0}, N=2))


@pytest.mark.parametrize("name", ["linspaced_vector", "linspaced_row_vector", "linspaced_array"])
def test_ends_of_evenly_spaced_numbers_are_data(name):
    """As stanc has it: their sizes are, and derivatives of the ends are not computed."""
    program = "transformed data {{ real u = 2; }} parameters {{ real a; }} model {{ target += sum({}(3, 0, {})); }}"
    stanimport.loads(program.format(name, "u"))
    with pytest.raises(stanimport.StanSemanticError, match="argument 3 must be data"):
        stanimport.loads(program.format(name, "a"))


@BOTH
def test_a_negative_size_of_a_range_that_differs_between_iterations_is_rejected(backend, x64, torch_double):
    program = (
        "data { int G; array[G] int a; array[G] int b; } parameters { vector[3] x; } transformed parameters {\n"
        "  vector[3] y = x;\n  for (g in 1:G) y[a[g]:b[g]] = rep_vector(x[g], b[g] - a[g] + 1);\n}\n"
        "model { y ~ std_normal(); }"
    )
    draw = {"x": [0.1, 0.2, 0.3]}
    assert math.isfinite(log_density(program, backend, draw, G=2, a=[1, 3], b=[2, 2]))
    assert rejects(program, backend, draw, "rep_vector: n is -1, but must be nonnegative!", G=2, a=[1, 4], b=[2, 2])


@BOTH
@pytest.mark.parametrize("start, part", [
    (4, "sum(segment(x, start[g], k[g]))"), (4, "sum(segment(x', start[g], k[g]))"),
    (4, "size(segment(rep_array(x, 3), start[g], k[g])) * x[1]"),
    (4, "normal_lpdf(segment(x, start[g], k[g]) | 0, 1)"),
    (4, "dot_self(segment(x .* x, start[g], k[g]))"), (0, "sum(segment(x, start[g], k[g]))"),
    (4, "sum(sub_col(m, start[g], 1, k[g]))"), (4, "sum(sub_row(m, 1, start[g], k[g]))"),
    (4, "sum(block(m, start[g], 1, k[g], 2))"), (4, "sum(block(m, 1, start[g], 2, k[g]))"),
    (1, "sum(block(m, start[g], 1, k[g], 2))"), (1, "sum(block(m, 1, start[g], 2, k[g]))"),
    (4, "sum(sub_col(m, 1, start[g], k[g]))"), (4, "sum(sub_row(m, start[g], 1, k[g]))"),
    (4, "sum(m[1:k[g], start[g]])"), (0, "sum(m[start[g], 1:k[g]])"), (4, "sum(a[start[g], 1:k[g]])"),
])  # fmt: skip
def test_empty_parts_begin_at_an_index(start, part, backend, x64, torch_double):
    """Stan looks at the first index of a part without components; of a block also at the last one."""
    program = (
        "data { int G; array[G] int k; array[G] int start; } parameters { vector[3] x; matrix[3, 3] m; }\n"
        f"model {{ array[3] vector[3] a = rep_array(x, 3); for (g in 1:G) target += {part}; }}"
    )
    draw = {"x": [0.1, 0.2, 0.3], "m": np.ones((3, 3))}
    assert math.isfinite(log_density(program, backend, draw, G=2, k=[2, 0], start=[1, 3]))
    assert rejects(program, backend, draw, rf"{start - (start == 1)}\b.* out of range", G=2, k=[2, 0], start=[1, start])


@BOTH
@pytest.mark.parametrize("statement, name", [
    ("target += sum(head(x, k[g]));", "head"), ("target += sum(tail(x, k[g]));", "tail"),
    ("target += sum(segment(x, 2, k[g]));", "segment"), ("target += dot_self(rep_vector(x[g], k[g]));", "rep_vector"),
    ("head(x, k[g]) ~ normal(g, 1);", "head"), ("x[1:k[g]] ~ normal(head(x, k[g]), 1);", "head"),
    ("target += log_sum_exp(segment(x, 1, k[g]));", "segment"), ("if (max(head(x, k[g])) > 9) target += 1;", "head"),
    ("target += sum(block(m, 1, 1, k[g], 2));", "block"), ("target += sum(sub_col(m, 1, 2, k[g]));", "sub_col"),
    ("vector[3] z = x; z[1:k[g]] = tail(x, k[g]); target += sum(z);", "tail"),
])  # fmt: skip
def test_negative_sizes_of_parts_in_loops_are_rejected(statement, name, backend, x64, torch_double):
    program = (
        "data { int G; array[G] int k; matrix[3, 3] m; } parameters { vector[3] x; }\n"
        f"model {{ x ~ std_normal(); for (g in 1:G) {{ {statement} }} }}"
    )
    draw, m = {"x": [0.1, 0.2, 0.3]}, [[1.0, 2.0, 3.0]] * 3
    assert math.isfinite(log_density(program, backend, draw, G=3, k=[2, 1, 1], m=m))
    assert rejects(program, backend, draw, rf"{name}: .*-1.*nonnegative", G=3, k=[2, -1, 1], m=m)


@BOTH
@pytest.mark.parametrize("statement, name", [
    ("target += sum(segment(x, g, k[1]));", "segment"), ("target += sum(block(m, 1, g, k[1], 1));", "block"),
    ("target += sum(sub_col(m, 1, g, k[1]));", "sub_col"), ("target += sum(sub_row(m, g, 1, k[1]));", "sub_row"),
])  # fmt: skip
def test_negative_sizes_of_parts_that_all_iterations_share_are_rejected(statement, name, backend, x64, torch_double):
    program = (
        "data { int G; array[G] int k; matrix[3, 3] m; } parameters { vector[3] x; }\n"
        f"model {{ x ~ std_normal(); for (g in 1:G) {{ {statement} }} }}"
    )
    draw, m = {"x": [0.1, 0.2, 0.3]}, [[1.0, 2.0, 3.0]] * 3
    assert math.isfinite(log_density(program, backend, draw, G=3, k=[1, 1, 1], m=m))
    assert rejects(program, backend, draw, rf"{name}: .*-1.*nonnegative", G=3, k=[-1, 1, 1], m=m)


@BOTH
@pytest.mark.parametrize("statement", [
    "target += sum(x[1:k[g]] + y[1:2]);", "target += dot_product(x[2:(k[g] + 1)], head(y, 2));",
    "x[1:k[g]] ~ normal(y[2:3], 1);", "target += normal_lpdf(head(x, k[g]) | y[at[2:3]], 1);",
    "segment(x, 1, k[g]) ~ normal(0, rep_vector(2, 2));", "target += sum(2 * x[at[1:k[g]]] - y[1:2]);",
    "target += sum(x[1:k[g]] .* z);",
])  # fmt: skip
def test_sizes_that_do_not_match_in_some_iterations_are_rejected(statement, backend, x64, torch_double):
    program = (
        "data { int G; array[G] int k; array[3] int at; }\n"
        "transformed data { vector[3] y = [1, 2, 3]'; vector[2] z = [4, 5]'; }\n"
        f"parameters {{ vector[3] x; }} model {{ x ~ std_normal(); for (g in 1:G) {{ {statement} }} }}"
    )
    draw, at = {"x": [0.1, 0.2, 0.3]}, [3, 1, 2]
    assert math.isfinite(log_density(program, backend, draw, G=3, k=[2, 2, 2], at=at))
    assert rejects(program, backend, draw, "sizes .* must match", G=3, k=[2, 1, 2], at=at)


@BOTH
def test_ranges_that_end_before_they_begin_are_all_of_one_size(backend, x64, torch_double):
    program = (
        "data { int G; array[G] int k; } parameters { vector[3] x; }\n"
        "model { x ~ std_normal(); for (g in 1:G) target += sum(x[3:k[g]] + x[2:(2 * k[g] - 3)]); }"
    )
    draw = {"x": [0.1, 0.2, 0.3]}
    found, expected = (log_density(program, backend, draw, G=len(k), k=k) for k in ([1, 0, 2, 2], []))
    assert math.isclose(found, expected, rel_tol=1e-12)


@BOTH
@pytest.mark.parametrize("statement", [
    "target += k[g] > 0 ? sum(head(x, k[g])) : 0;", "if (k[g] > 0 && max(head(x, k[g])) > 0.15) target += 1;",
    "if (k[g] > 0) target += sum(segment(x, 1, k[g]));",
])  # fmt: skip
def test_sizes_that_are_not_asked_for_may_be_negative(statement, backend, x64, torch_double):
    program = (
        "data { int G; array[G] int k; } parameters { vector[3] x; }\n"
        f"model {{ x ~ std_normal(); for (g in 1:G) {{ {statement} }} }}"
    )
    draw = {"x": [0.1, 0.2, 0.3]}
    found, expected = (log_density(program, backend, draw, G=len(k), k=k) for k in ([2, -1, 1], [2, 1]))
    assert math.isclose(found, expected, rel_tol=1e-12)


@BOTH
@pytest.mark.parametrize("statements, rejected", [
    ("if (a > 0) y = 1; else y = 2; if (N < 3) reject(N);", (True, True)),
    ("if (a > 0) y = f(N);", (True, False)),
    ("y = a > 0 ? f(N) : 1;", (True, False)),
    ("for (i in 1:3) { if (a > i - 1) y += 2; if (N < 3) reject(N); }", (True, True)),
])  # fmt: skip
def test_a_rejection_by_data_beside_a_branch_on_parameters(statements, rejected, backend, x64, torch_double):
    """Minus infinity, or an error where the draw is not the reason."""
    program = (
        "functions { real f(int n) { if (n < 3) reject(n); return n; } } data { int N; } parameters { real a; }\n"
        f"transformed parameters {{ real y = 0; {statements} }} model {{ a ~ normal(y, 1); }}"
    )
    for value, expected in zip((0.5, -0.5), rejected):
        assert math.isfinite(log_density(program, backend, {"a": value}, N=3))
        assert rejects(program, backend, {"a": value}, "2; in .*line 2", N=2) is expected


@BOTH
@pytest.mark.parametrize("condition", ["x[i] <= 0 || x[i] >= 1", "!(x[i] > 0 && x[i] < 1)",
                                       "x[i] > 0 ? x[i] >= 1 : k[i]", "k[i] && (x[i] <= 0 || x[i] >= 1)"])  # fmt: skip
@pytest.mark.parametrize("x, rejected", [([0.2, 0.3], False), ([0.2, -0.3], True), ([-0.2, -0.3], True)])
def test_a_part_of_a_condition_that_decides_for_all_iterations(condition, x, rejected, backend, x64, torch_double):
    """Then no array says that parameters are the reason, also before sampling, when all of them are 0."""
    program = (
        "functions { void f(vector x, array[] int k) { for (i in 1:2) { if (" + condition + ') reject("no"); } } }\n'
        "data { array[2] int k; } parameters { vector[2] x; } model { x ~ std_normal(); f(x, k); }"
    )
    expected = -math.inf if rejected else scipy.stats.norm.logpdf(x).sum()
    assert log_density(program, backend, {"x": x}, k=[1, 1]) == pytest.approx(expected, rel=1e-12)
    if backend == "pyro":
        module = stanimport.loads(program, backend="pyro")
        assert Density(module, {"k": [1, 1]}).size == 2


SIZES = [  # of locations and observations in one lane, which differ
    ("y[1] ~ normal(a, 1);", 2), ("y[1] ~ normal(a, 1);", 1), ("target += normal_lpdf(y[1] | a, 1);", 2),
    ("for (i in 1:2) y[i] ~ normal(b[i], 1);", 1), ("for (i in 1:2) target += student_t_lpdf(y[i] | 4, b[i], 1);", 1),
    ("for (i in 1:2) if (a[1] > -9) y[i] ~ cauchy(b[i], 1);", 1), ("a ~ normal(y[1], 1);", 2),
]


@BOTH
@pytest.mark.parametrize("statement, size", SIZES)
def test_vectors_of_other_sizes_are_not_broadcast(statement, size, backend, x64, torch_double):
    program = (
        "data { int K; array[2] vector[3] y; } parameters { vector[K] a; array[2] vector[K] b; }\n"
        f"model {{ {statement} }}"
    )
    data = {"y": [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]]}
    good, bad = ({"a": np.zeros(k), "b": np.zeros((2, k))} for k in (3, size))
    assert math.isfinite(log_density(program, backend, good, K=3, **data))
    message = rf"different sizes|sizes .* differ: {size} and 3; in .*, line 2"
    assert rejects(program, backend, bad, message, K=size, **data)


@BOTH
@pytest.mark.parametrize("bounds", ["lower=L", "upper=L", "lower=a, upper=9", "offset=L", "multiplier=L"])
@pytest.mark.parametrize("prior", ["", "b ~ normal(0, 1);"])
def test_bounds_of_another_size_are_not_broadcast(bounds, prior, backend, x64, torch_double):
    program = (
        "data { int K; vector[K] L; } parameters { vector[K] a;\n"
        f"vector<{bounds}>[3] b; }} model {{ {prior} }}"
    )
    inside = {"a": np.full(3, 1.0), "b": np.full(3, 0.5 if "upper=L" in bounds else 1.5)}
    assert math.isfinite(log_density(program, backend, inside, K=3, L=np.full(3, 1.0)))
    for size in (1, 2):
        with pytest.raises(StanIndexError, match=rf"b: the \w+ is of size {size}, but .* 3; in .*, line 2"):
            log_density(program, backend, {**inside, "a": np.full(size, 1.0)}, K=size, L=np.full(size, 1.0))
