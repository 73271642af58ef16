"""Initial values: given ones, random ones, and the statement that keeps a program from starting."""
import json
import re

import numpy as np
import pytest
from arviz_groups import groups_of
from conftest import FLIPS, QUICK

import stanimport
from stanimport.inference import InitialValueError
from stanimport.inference.density.initial import unconstrained
from stanimport.inference.density.posterior import condition

SHORT = QUICK | dict(iter_warmup=100, iter_sampling=100)


def test_inits_from_a_file_and_another_fit(beta_module, beta_fit, tmp_path):
    """Where parameters are fixed, the draws are the initial values."""
    file = tmp_path / "inits.json"
    file.write_text(json.dumps({"theta": 0.9}))
    for inits, expected in ((str(file), [0.9, 0.9]), ([{"theta": 0.2}, file], [0.2, 0.9])):
        fit = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=inits, fixed_param=True))
        np.testing.assert_allclose(fit.variables["theta"][:, 0], expected)
    again = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=beta_fit, fixed_param=True))
    for start in again.variables["theta"][:, 0]:
        assert np.isclose(start, beta_fit.stan_variable("theta"), rtol=1e-12).any()


def test_other_data_of_the_same_shapes_have_bounds_of_their_own():
    program = stanimport.loads("data { real b; } parameters { real<lower=b> x; } model { x ~ normal(0, 1); }")
    first = condition(program, {"b": 0.0}, 1)
    np.testing.assert_allclose(unconstrained(first, {"x": 1.0}), [0.0], atol=1e-12)
    other = first.given({"b": np.float64(-2.0)})
    np.testing.assert_allclose(unconstrained(other, {"x": 1.0}), [np.log(3.0)], rtol=1e-12)


def test_start_at_the_given_values(beta_module):
    fixed = stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits={"theta": 0.9}, fixed_param=True))
    np.testing.assert_allclose(fixed.stan_variable("theta"), 0.9)


@pytest.mark.parametrize("inits, told", [
    ({"theta": 1.5}, "theta is 1.5, outside its domain: declared as `real<lower=0, upper=1> theta`"),
    ({"theta": [0.1, 0.2]}, "must have shape"), ({"tetha": 0.5}, "did you mean 'theta'"),
    ("none.json", "can't be read"),
])  # fmt: skip
def test_wrong_inits(beta_module, inits, told):
    with pytest.raises(stanimport.StanDataError, match=told):
        stanimport.sample(beta_module, FLIPS, **SHORT | dict(inits=inits))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("declared, value, told", [
    ("simplex[3]", [0.2, 0.2, 0.2], r"\(its components sum to 0.6"),
    ("array[2] ordered[2]", [[1, 2], [2, 1]], r"\(\[2\]: component \[2\] is 1.0, not greater than 2.0"),
    ("cov_matrix[2]", [[1, 0.5], [0.3, 1]], r"\(it is not symmetric: \[1,2\] is 0.5, but \[2,1\] is 0.3\)"),
])  # fmt: skip
def test_why_a_start_is_outside_is_told(declared, value, told):
    module = stanimport.loads(f"parameters {{ {declared} x; }} model {{ }}")
    with pytest.raises(stanimport.StanDataError, match=f"x is .* outside its domain {told}"):
        stanimport.sample(module, inits={"x": value}, **SHORT)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("statement, inits, told", [
    ("x ~ normal(0, v);", {"v": [1, -2]}, r"normal_lpdf: sigma\[2\] is -2.0, but must be positive!.*line 3"),
    ("for (i in 1:2) x[i] ~ cauchy(v[i], v[i]);", {"v": [3, 0]}, r"cauchy_lpdf: sigma\[2\] is 0.0, but.*line 3"),
    ("k ~ poisson(v);", {"v": [1, -0.5]}, r"poisson_lpmf: lambda\[2\] is -0.5, but must be.*line 3"),
    ("x ~ multi_normal([0, 0]', S);", {"S": [[1, 2], [2, 1]]}, "multi_normal_lpdf: Sigma.*positive definite!.*line 3"),
    ("x ~ multi_student_t(4, [0, 0]', S);", {"S": [[1, 0.5], [0.4, 1]]}, "Sigma is.*must be symmetric.*line 3"),
])  # fmt: skip
def test_what_a_law_refuses_is_shown_with_its_place(statement, inits, told):
    """As Stan has it, for containers and matrices of parameters too."""
    declared = "data { array[2] int k; }\nparameters { vector[2] x; vector[2] v; matrix[2, 2] S; }"
    module = stanimport.loads(f"{declared} model {{\n{statement}\n}}")
    start = {"x": [0, 0], "v": [1, 1], "S": [[1, 0], [0, 1]]} | inits
    with pytest.raises(InitialValueError) as caught:
        stanimport.sample(module, {"k": [1, 2]}, **SHORT | dict(inits=start))
    assert re.search(told, str(caught.value).replace("\n", " "))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("statement, told", [
    ("target += log(-exp(x));", "line 3"), ("y ~ normal(x, -1 - square(x));", r"positive.*line 3"),
    ("if (x < 100) reject(\"never\");", r"reject.*line 3"),
    ("target += negative_infinity() * square(x);", "line 3"),
])  # fmt: skip
def test_no_initial_value_names_the_statement(statement, told):
    module = stanimport.loads(f"data {{ real y; }}\nparameters {{ real x; }} model {{\n{statement}\n}}")
    with pytest.raises(InitialValueError, match="100 random initial values") as caught:
        stanimport.sample(module, {"y": 0.0}, **SHORT)
    assert re.search(told, str(caught.value)) and caught.value.line == 3


COMPOUND = """parameters {
  real<lower=0> s; vector[2] v; complex z; complex_vector[2] c; tuple(real, vector[2]) t;
  array[2] tuple(real, tuple(real, real)) a;
}
model {
  s ~ exponential(1); v ~ normal(0, 1); abs(z) ~ normal(0, 1); abs(c) ~ normal(0, 1); t.1 ~ normal(0, 1);
  t.2 ~ normal(0, 1);
  for (i in 1:2) { a[i].1 ~ normal(0, 1); a[i].2.1 ~ normal(0, 1); a[i].2.2 ~ normal(0, 1); }
}
generated quantities { real q = s + sum(t.2) + a[2].2.1 + get_imag(z) + get_real(c[2]); }"""
AS_IN_FILES = {
    "s": 2.0, "v": [0.5, 1.5], "z": [1.0, -2.0], "c": [[1.0, 2.0], [3.0, 4.0]], "t": {"1": 7.0, "2": [8.0, 9.0]},
    "a": [{"1": 1.0, "2": {"1": 2.0, "2": 3.0}}, {"1": 4.0, "2": {"1": 5.0, "2": 6.0}}],
}  # fmt: skip
AS_IN_PYTHON = {
    "s": np.array(2.0), "v": (0.5, 1.5), "z": 1 - 2j, "c": np.array([1 + 2j, 3 + 4j]), "t": (7.0, [8.0, 9.0]),
    "a": [(1.0, (2.0, 3.0)), [4.0, [5.0, 6.0]]],
}  # fmt: skip
AS_IN_FITS = AS_IN_PYTHON | {"a": (np.array([1.0, 4.0]), (np.array([2.0, 5.0]), np.array([3.0, 6.0])))}
FIXED = dict(chains=2, iter_sampling=1, fixed_param=True, seed=1, show_progress=False)


@pytest.fixture(scope="module", params=["numpyro", "pyro"])
def compound(request):
    if request.param == "pyro":
        pytest.importorskip("pyro", reason="the pyro extra is not installed")
    return stanimport.loads(COMPOUND, backend=request.param, name="compound")


def values_of(fit):
    return [np.asarray(fit.variables[n][:, 0]).tolist() for n in ("s", "v", "z", "c", "t.1", "t.2", "a.1", "a.2.1")]


@pytest.mark.sampled(4)
def test_values_of_tuples_and_complex_numbers(compound, tmp_path):
    """As CmdStan's JSON has them, as Python does, and as a fit does, whose draws are these values."""
    path = tmp_path / "inits.json"
    path.write_text(json.dumps(AS_IN_FILES))
    expected = [2.0, [0.5, 1.5], 1 - 2j, [1 + 2j, 3 + 4j], 7.0, [8.0, 9.0], [1.0, 4.0], [2.0, 5.0]]
    fit = stanimport.sample(compound, inits=AS_IN_FILES, **FIXED)
    flat = stanimport.sample(compound, inits=[path, AS_IN_PYTHON], **FIXED)
    assert fit.column_names.count("z[real]") == 1 and fit.stan_variable("c").dtype == complex
    fit.save(tmp_path / "fit.nc")
    several = [fit, flat, tmp_path / "fit.nc", [fit, AS_IN_FITS], fit.create_inits(chains=2)]
    several += [fit.save_csvfiles(tmp_path)[0]]
    for found in (fit, flat, *(stanimport.sample(compound, inits=one, **FIXED) for one in several)):
        for mine, theirs in zip(values_of(found), expected):
            np.testing.assert_allclose(mine, [theirs] * 2, rtol=1e-12)
        np.testing.assert_allclose(found.stan_variable("q"), 2 + 17 + 5 - 2 + 3, rtol=1e-12)
    again = stanimport.generate_quantities(compound, previous_fit=fit.draws_pd(), seed=1)
    np.testing.assert_allclose(again.stan_variable("q"), 25.0, rtol=1e-12)
    assert "posterior" in groups_of(fit.to_arviz())


@pytest.mark.parametrize("inits, told", [
    ({"t": [1.0]}, "t must be a tuple of 2 items"), ({"t": 1.0}, "t must be a tuple"),
    ({"a": 1.0}, "a must be an array of tuples"), ({"a": [(1.0, 2.0), (1.0, 2.0)]}, "a.2 must be a tuple"),
    ({"z": [1.0]}, "z must have shape"), ({"s": 1j}, "s must be real"), ({"s": -1}, "s is -1.0, outside its domain"),
    ({"v": [1.0, None]}, "v must hold numbers"), ({"zz": 1j}, "there is no parameter 'zz'; did you mean 'z'"),
])  # fmt: skip
def test_wrong_values_of_compounds(compound, inits, told):
    with pytest.raises(stanimport.StanDataError, match=re.escape(told)):
        stanimport.sample(compound, inits=inits, **FIXED)


@pytest.mark.sampled(2)
def test_radii_are_numbers_of_any_kind(compound):
    """An endless one is none, nor is a truth value."""
    zeros = stanimport.sample(compound, inits=0, **FIXED)
    for radius in (np.int64(0), np.float32(0), np.array(0.0), np.zeros(2), [0, np.array(0)]):
        assert values_of(stanimport.sample(compound, inits=radius, **FIXED)) == values_of(zeros)
    for wrong in (np.inf, np.nan, -1, True):
        with pytest.raises(ValueError, match="inits must be"):
            stanimport.sample(compound, inits=wrong, **FIXED)


def test_an_approximation_by_pyro_begins_at_the_inits():
    """With a step size that moves nothing it stays there."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    module = stanimport.loads("parameters { real x; } model { x ~ normal(0, 1); }", backend="pyro")
    still = dict(iter=2, eta=1e-12, seed=1, require_converged=False, draws=200, khat=False)
    for where in (50.0, -50.0):
        fit = stanimport.variational(module, inits={"x": where}, **still)
        assert fit.stan_variable("x").mean() == pytest.approx(where, abs=1.0)
    for algorithm in ("iaf", "guide"):
        guided = stanimport.loads("parameters { real x; } model { x ~ normal(0, 1); } guide { x ~ normal(0, 1); }")
        with pytest.raises(ValueError, match="inits"):
            stanimport.variational(guided, algorithm=algorithm, inits={"x": 1.0}, **still)


def test_values_within_bounds_of_each_component_on_pyro(torch_double):
    """Of data, some of them infinite, and of parameters; one that is outside is refused by name."""
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    from stanimport.inference.methods.pyro_methods import Density

    module = stanimport.loads("""
        data { vector[2] low; array[2] real high; int least; }
        parameters { vector<lower=low>[2] a; array[2] real<lower=least, upper=high> b; vector<upper=a>[2] c; }
        model { a ~ normal(0, 1); c ~ normal(0, 1); }""", backend="pyro")  # fmt: skip
    density = Density(module, {"low": [1.0, -np.inf], "high": [3.0, np.inf], "least": -1})
    given = {"a": np.array([1.5, -2.0]), "b": np.array([0.0, 7.0]), "c": np.array([1.0, -4.0])}
    point = density.unconstrained(given, torch_zeros(density.size))
    expected = [np.log(0.5), -2.0, np.log(1 / 3), np.log(8.0), np.log(0.5), np.log(2.0)]
    np.testing.assert_allclose(point, expected, rtol=1e-12)  # of c within the bounds that are given with it
    for name, value in (("a", [0.5, 0.0]), ("b", [0.0, -2.0]), ("c", [2.0, -4.0])):
        with pytest.raises(stanimport.StanDataError, match=f"{name} is .* outside its domain"):
            density.unconstrained({**given, name: np.array(value)}, torch_zeros(density.size))


def torch_zeros(size):
    import torch

    return torch.zeros(size, dtype=torch.float64)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize(("program", "data", "told", "line"), [
    ("data { real b; }\nparameters { real x; }\ntransformed parameters { real<lower=b> y = -exp(x); }\n"
     "model { x ~ normal(0, 1); }", {"b": 1}, r"y is -.* must be greater than or equal to 1.0", 3),
    ("parameters { real m; }\nmodel { if (m > -100) reject(\"never \", m); }", {}, r"never -?\d", 2),
    ("parameters { vector[2] s; }\nmodel { s ~ normal(0, 1);\n[0.0, 1]' ~ normal(0, -exp(s)); }", {},
     r"sigma\[1\] is -.* must be positive", 3),
    ("data { real y; } parameters { real m; } model { m ~ normal(0, 1); y ~ uniform(m, m + 1); }", {"y": 50},
     "the log density of y .*is -inf", None),
])  # fmt: skip
def test_no_start_tells_why(backend, program, data, told, line):
    module = stanimport.loads(program, backend=backend)
    with pytest.raises(InitialValueError, match=rf"random initial values within \(-2, 2\): .*{told}") as error:
        stanimport.sample(module, data, chains=1, seed=1, iter_warmup=5, iter_sampling=5)
    assert line is None or error.value.line == line
