"""Every construct of the language, computed in four ways that must agree with Python's own arithmetic.

One body of statements computes `out` from `x`: in transformed data (NumPy), in generated quantities run as they are,
traced by jax.jit (where all control flow depends on traced values), and on torch.
"""
from __future__ import annotations

import math

import numpy as np
import pytest

import stanimport

X = np.array([0.5, -1.25, 2.0, 3.5])
INDEX = np.array([3, 1, 4, 1])


def fib(n: int) -> int:
    return n if n < 2 else fib(n - 1) + fib(n - 2)


# name: (functions block, body that sets `out` from `vector[4] x` and data `array[4] int i`, what out is)
BODIES = {
    "loop sum": ("", "out = 0; for (n in 1:4) out += n * x[n];", sum((n + 1) * v for n, v in enumerate(X))),
    "empty loop": ("", "out = 1; for (n in 3:2) out = 2;", 1.0),
    "long loop": ("", "out = 0; for (n in 1:50) out = 0.5 * out + x[1 + n % 4];", None),
    "nested loops": ("", "out = 0; for (a in 1:4) for (b in a:4) out += x[a] * x[b] / b;", None),
    "triangular index": ("", "out = 0; for (a in 1:4) { int s = 5 - a; for (b in 1:s) out += x[b] * a; }", None),
    "loop over a vector": ("", "out = 0; for (v in x) out = out * 2 + v;", None),
    "loop over an array": ("", "out = 0; for (k in i) out += x[k];", sum(X[k - 1] for k in INDEX)),
    "loop over a matrix": ("", "out = 0; for (v in x * [1, 2]) out = out / 2 + v;", 9.82421875),
    "break in a loop over a matrix": (
        "", "out = 0; for (v in x * [1, 2]) { out = out / 2 + v; if (v > 0.6) break; }", 3.796875,
    ),
    "break": ("", "out = 0; for (n in 1:4) { if (x[n] > 1) break; out += x[n]; }", 0.5 - 1.25),
    "continue": ("", "out = 0; for (n in 1:4) { if (x[n] < 0) continue; out += x[n]; }", 6.0),
    "break in a nested loop": (
        "", "out = 0; for (a in 1:4) { for (b in 1:4) { if (x[b] > x[a]) break; out += a + b; } out *= 1.5; }", None,
    ),
    "while": ("", "out = x[1]; while (out < 10) out = out * 3;", 13.5),
    "while with break": ("", "out = x[1]; while (1) { out = out * 3; if (out > 20) break; }", 40.5),
    "if else": ("", "if (x[1] > 1) out = 1; else if (x[2] > -2) out = 2; else out = 3;", 2.0),
    "ternary is lazy": ("", "out = x[2] > 0 ? log(x[2]) : exp(x[2]);", math.exp(-1.25)),
    "logical": ("", "out = (x[1] > 0 && x[2] < 0) + 2 * (x[1] < 0 || x[3] > 5) + 4 * !(x[1] > 0);", 1.0),
    "short circuit": ("", "out = 0; for (n in 1:5) if (n < 5 && x[n] > 0) out += x[n];", 6.0),
    "integer division": ("", "int a = -7; out = a %/% 2 + a % 3 + 7 / 2 * 1.0 + x[1];", -3 - 1 + 3 + 0.5),
    "compound assignment": ("", "out = x[1]; out += 2; out -= 1; out *= 4; out /= 3;", (0.5 + 1) * 4 / 3),
    "vector element assignment": ("", "vector[4] y = x; y[2] = 10; y[{1, 4}] = [7, 8]'; out = sum(y);", 27.0),
    "value semantics": ("", "vector[4] y = x; vector[4] z = y; y[1] = 100; out = z[1] + y[1];", 100.5),
    "slices": ("", "vector[2] y = x[2:3]; y[1:1] = x[4:4]; out = y[1] * 10 + y[2];", 37.0),
    "matrix indexing": (
        "", "matrix[2, 2] m = [[x[1], x[2]], [x[3], x[4]]]; m[2] = [1, 2]; m[:, 1] = [5, x[1]]'; out = sum(m);",
        -1.25 + 2 + 5 + 0.5,
    ),
    "multi-index": ("", "out = sum(x[i]) + sum((x * x')[i, 2]) + sum((x * x')[{1, 2}, {3, 4}]);", None),
    "multi-index assignment": (
        "", "matrix[3, 3] m = rep_matrix(0, 3, 3); m[{1, 3}, {1, 2}] = [[x[1], x[2]], [x[3], x[4]]];"
        "out = m[1, 1] + 2 * m[1, 2] + 3 * m[3, 1] + 4 * m[3, 2];", 0.5 - 2.5 + 6 + 14,
    ),
    "array of vectors": ("", "array[2] vector[2] a; a[1] = x[1:2]; a[2, 1] = 3; a[2, 2] = x[4]; out = sum(a[2]);", 6.5),
    "array of matrices": (
        "", "array[2] matrix[2, 2] a; for (k in 1:2) a[k] = rep_matrix(x[k], 2, 2); a[2][1, 2] = 9; out = sum(a[2]);",
        -3.75 + 9,
    ),
    "zero sizes": ("", "vector[0] e; array[0] real f; matrix[0, 3] m; out = sum(e) + sum(f) + rows(m) + x[1];", 0.5),
    "tuples": (
        "", "tuple(real, vector[2]) t = (x[1], x[2:3]); t.2[1] = 4; real a; vector[2] b; (a, b) = t; out = a + sum(b);",
        6.5,
    ),
    "swap by unpacking": ("", "real a = x[1]; real b = x[2]; (a, b) = (b, a); out = 2 * a + b;", -2.0),
    "array of tuples": (
        "", "array[2] tuple(real, int) t; t[1] = (x[1], 2); t[2].1 = 3; t[2].2 = 5; out = t[1].1 * t[1].2 + t[2].1;",
        4.0,
    ),
    "complex": ("", "complex z = to_complex(x[1], 2); z = z * 3i; out = get_real(z) + get_imag(z);", -6 + 1.5),
    "local blocks": ("", "{ real y = x[1]; { real z = y + 1; out = z; } } { real y = 2; out += y; }", 3.5),
    "recursion": (
        "int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }", "out = fib(9) + x[1];", fib(9) + 0.5,
    ),
    "early return": (
        "real first_above(vector v, real t) { for (n in 1:size(v)) { if (v[n] > t) return v[n]; } return -1; }",
        "out = first_above(x, 1) + 10 * first_above(x, 9);", 2.0 - 10,
    ),
    "return in branches": (
        "real sign_of(real a) { if (a > 0) { return 1; } else if (a < 0) { return -1; } return 0; }",
        "out = sign_of(x[1]) + 2 * sign_of(x[2]) + 4 * sign_of(0);", -1.0,
    ),
    "vector result of a branch": (
        "vector pick(vector v, real t) { vector[size(v)] r = v; if (t > 0) { r[1] = t; return r; } return 2 * v; }",
        "out = sum(pick(x, 1)) + sum(pick(x, -1));", (4.75 - 0.5 + 1) + 9.5,
    ),
    "overloads": (
        "real f(int a) { return 1; } real f(real a) { return 2; } real f(vector a) { return size(a); }",
        "out = f(1) + 10 * f(1.5) + 100 * f(x);", 421.0,
    ),
    "mutual recursion": (
        "int odd(int n); int even(int n) { return n == 0 ? 1 : odd(n - 1); }"
        "int odd(int n) { return n == 0 ? 0 : even(n - 1); }", "out = even(10) + 2 * odd(7) + x[1];", 3.5,
    ),
    "void function": (
        "void nothing(real a) { real b = a; if (b > 0) return; print(b); }", "nothing(x[1]); out = 1;", 1.0,
    ),
    "while in a function": (
        "int steps(real a) { real b = a; int n = 0; while (b < 100) { b = 2 * b + 1; n += 1; } return n; }",
        "out = steps(x[1]);", 7.0,
    ),
    "shadowed library names": ("real twice(real beta) { return 2 * beta; }", "real sum = twice(x[1]); out = sum;", 1.0),
    "reserved Python names": (
        "real def(real lambda) { return lambda + 1; }", "real class = def(x[1]); real None = class; out = None;", 1.5,
    ),
}  # fmt: skip


def program(functions: str, body: str, where: str) -> str:
    head = f"functions {{ {functions} }}\n" if functions else ""
    declared = "array[4] int<lower=1, upper=4> i;"
    if where == "transformed data":
        return f"{head}data {{ vector[4] x; {declared} }}\ntransformed data {{ real out; {body} }}"
    return f"{head}data {{ {declared} }}\nparameters {{ vector[4] x; }}\ngenerated quantities {{ real out; {body} }}"


@pytest.fixture(params=BODIES)
def case(request):
    functions, body, value = BODIES[request.param]
    expected = value
    if expected is None:
        module = stanimport.loads(program(functions, body, "transformed data"))
        expected = float(module.transformed_data(x=X, i=INDEX)["out"])
        assert np.isfinite(expected)
    return functions, body, expected


def test_in_numpy(case):
    functions, body, expected = case
    module = stanimport.loads(program(functions, body, "transformed data"))
    assert float(module.transformed_data(x=X, i=INDEX)["out"]) == pytest.approx(expected, rel=1e-14)


def test_in_generated_quantities(case):
    functions, body, expected = case
    module = stanimport.loads(program(functions, body, "generated quantities"))
    assert float(module.generated_quantities(x=X, i=INDEX)["out"]) == pytest.approx(expected, rel=1e-14)


def test_traced_by_jax(case, x64):
    import jax

    functions, body, expected = case
    module = stanimport.loads(program(functions, body, "generated quantities"))
    inputs = module.transformed_data(i=INDEX)
    out = jax.jit(lambda x: module.generated_quantities(**inputs, x=x)["out"])(X)
    assert float(out) == pytest.approx(expected, rel=1e-13)


def test_on_torch(case, torch_double):
    functions, body, expected = case
    module = stanimport.loads(program(functions, body, "generated quantities"), backend="pyro")
    out = module.generated_quantities(i=INDEX, x=torch_double.tensor(X))["out"]
    assert float(out) == pytest.approx(expected, rel=1e-13)
