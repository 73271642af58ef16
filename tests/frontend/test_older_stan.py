"""What older versions of stanc accepted: taken as its modern form, with a warning, and refused in strict mode."""
import numpy as np
import pytest

import stanimport
from tests.densities import log_density

pytestmark = pytest.mark.filterwarnings("ignore::stanimport.errors.StanDeprecationWarning")

# Programs of the parameters `vector[3] x`: the old form, the modern one, the warning.
FORMS = {
    "cdf with a comma": (
        "model { target += log(normal_cdf(x[1], 0, 2)); }",
        "model { target += log(normal_cdf(x[1] | 0, 2)); }",
        "normal_cdf without a bar",
    ),
    "user's cdf with a comma": (
        "functions { real foo_cdf(real y, real m) { return exp(y - m); } } model { target += foo_cdf(x[1], x[2]); }",
        "model { target += exp(x[1] - x[2]); }",
        "foo_cdf without a bar",
    ),
    "print without a semicolon": (
        """model { if (x[1] < 100) print("a") else reject("b") print("c"); target += x[2]; }""",
        "model { target += x[2]; }",
        "without a semicolon",
    ),
    "suffix behind ~": (
        "model { x ~ std_normal_lpdf(); x[1] ~ normal_lupdf(x[2], 2) T[-9, ]; }",
        "model { x ~ std_normal(); x[1] ~ normal(x[2], 2) T[-9, ]; }",
        "named without its suffix",
    ),
    "function the library has now": (
        """functions { real quantile(vector v, real p) { return v[1] * p; }
            real dirichlet_multinomial_lpmf(array[] int n, vector a) { return sum(n) * sum(a); } }
            model { target += quantile(x, 0.5); {1, 2, 3} ~ dirichlet_multinomial(x); }""",
        "model { target += 0.5 * x[1]; target += 6 * sum(x); }",
        "a function of the library now",
    ),
    "_jacobian without an increment": (
        """functions { real log_jacobian(vector v) { return sum(v .* v); } }
            model { target += log_jacobian(x); }""",
        "model { target += dot_self(x); }",
        "adds nothing to the Jacobian",
    ),
    "written variable in an index": (
        "model { matrix[2, 3] u = rep_matrix(1, 2, 3); u[1:2, cols(u)] = x[1:2]; target += sum(u .* u); }",
        "model { target += 4 + dot_self(x[1:2]); }",
        "read in an index",
    ),
    "real conditions": (
        """model { int n = 0; while (x[2]) { n += 1; if (n == 3) break; }
            if (0.0) target += 100; if (x[1]) target += n * x[1]; target += (x[1] && 0.0) + !x[3] + (x[1] || 0.0); }""",
        "model { target += 3 * x[1] + 1; }",
        "a real number as a condition",
    ),
    "row vectors of cov_exp_quad": (
        """model { array[2] row_vector[2] z = {[1, 2], [0, x[2]]};
            target += sum(cov_exp_quad(z, x[1], 1.5)) + sum(cov_exp_quad(z, z, x[1], 1.5)); }""",
        "model { target += 4 * (square(x[1]) + square(x[1]) * exp(-0.5 * (1 + square(2 - x[2])) / 2.25)); }",
        "cov_exp_quad has been removed",
    ),
    "array as the name of an array": (
        """functions { real f(array[,] real array, int n) { return array[n, 1] * array[1][2]; } }
            model { array[2] real array = {x[1], x[2]}; array[1] *= 3; array[2] += 1; array[1, 2] real kept = {array};
            target += f(kept, 1) + sum({array[1], array[2]}) + array[1]^2 + (array[2] > 0 ? array[1] : array[2]); }""",
        """model { real a = 3 * x[1]; real b = x[2] + 1;
            target += a * b + a + b + square(a) + (b > 0 ? a : b); }""",
        "'array' is a keyword",
    ),
    "truncation by distribution functions of a program": (
        """functions { real foo_log(real y, real r) { return log(r) - r * y; }
            real foo_cdf_log(real y, real r) { return log1m_exp(-r * y); }
            real foo_ccdf_log(real y, real r) { return -r * y; } }
            model { real y = exp(x[1]); y ~ foo(2) T[0.1, ]; y ~ foo(2) T[, 9]; y ~ foo(exp(x[2])) T[0.1, 9]; }""",
        """model { real y = exp(x[1]); y ~ exponential(2) T[0.1, ]; y ~ exponential(2) T[, 9];
            y ~ exponential(exp(x[2])) T[0.1, 9]; }""",
        "foo has been removed",
    ),
    "array and bool as names": (
        "model { real array = x[1]; real bool = x[2]; target += array * bool; }",
        "model { target += x[1] * x[2]; }",
        "'array' is a keyword",
    ),
}


def program(text: str) -> str:
    functions, block, body = text.rpartition("model {")
    return f"{functions} parameters {{ vector[3] x; }} {block} {body}"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", FORMS)
def test_old_forms_are_their_modern_ones(name):
    old, modern, warning = FORMS[name]
    found = stanimport.check("old.stan", source=program(old))
    assert {w.severity for w in found} <= {"deprecation", "warning"} and any(warning in w.message for w in found)
    assert not [w for w in stanimport.check("new.stan", source=program(modern), strict=True) if w.severity != "warning"]
    with pytest.raises(stanimport.StanError):
        stanimport.check("old.stan", source=program(old), strict=True)
    for backend in ("numpyro", "pyro"):
        point = {"x": np.array([0.3, -0.7, 1.2])}
        expected = log_density(program(modern), {}, point, backend)
        assert log_density(program(old), {}, point, backend) == pytest.approx(expected, rel=1e-6), backend


REFUSED = {
    "functions { real exp(real x) { return x; } } model { }": "'exp' is defined for these arguments in the library",
    "functions { real f_jacobian(real x) { jacobian += x; return x; } } model { target += f_jacobian(x[1]); }":
        "can only be called in transformed parameters",
    "functions { real f_jacobian(real x) { return lower_bound_jacobian(x, 0); } } model { real y = f_jacobian(x[1]); }":
        "can only be called in transformed parameters",
    "model { target += normal_lpdf(x, 0, 1); }": "followed by a bar",
    "model { x ~ normal_cdf(0, 1); }": "is no density",
    "model { int n; array[2] int a; (a[n], n) = (1, 2); }": "read in an index",
    "model { vector[2] b; if (x) b = x; }": "the condition of if must be int, not vector",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED, ids=REFUSED.values())
def test_what_no_stanc_accepts_is_refused(text):
    with pytest.raises(stanimport.StanError, match=REFUSED[text]):
        stanimport.check("p.stan", source=program(text))


def test_indices_behind_a_transpose_are_older_stan():
    """Today's grammar, that of 2.35 too, has no index there."""
    program = "parameters { vector[2] x; } model { target += x'[2]; }"
    with pytest.raises(stanimport.StanSyntaxError, match="indices behind a transpose"):
        stanimport.check("m.stan", source=program, strict=True)
    with pytest.warns(stanimport.errors.StanDeprecationWarning, match="indices behind a transpose"):
        stanimport.loads(program)
    assert stanimport.check("m.stan", source=program.replace("x'[2]", "(x')[2]"), strict=True) == []
