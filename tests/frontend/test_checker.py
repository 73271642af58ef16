"""The type checker: what it accepts, what it refuses, and what it says."""
from __future__ import annotations

import pytest

import stanimport
from stanimport.errors import StanSemanticError


def errors(text: str) -> list[tuple[int, str]]:
    with pytest.raises(StanSemanticError) as caught:
        stanimport.check("p.stan", source=text, strict=True)
    return [(d.line, d.message) for d in caught.value.diagnostics]


ACCEPTED = {
    "promotion": "model { real x = 1; complex z = x; vector[2] v = [1, 2]'; array[2] real a = {1, 2}; }",
    "overloads": """functions { real f(int x) { return 1; } real f(real x) { return 2; } }
        model { real a = f(1) + f(1.5); }""",
    "recursion": "functions { int g(int n) { return n <= 1 ? 1 : n * g(n - 1); } }",
    "forward": "functions { real h(real x); real k(real x) { return h(x); } real h(real x) { return x; } }",
    "shadowing": "data { real beta; } model { real gamma = beta; }",
    "tuples": """model { tuple(int, vector[2]) t = (1, [1, 2]'); int i; vector[2] v; (i, v) = t;
        t.2[1] = 3; array[2] tuple(real, int) a; a[1].1 = 2; }""",
    "rng": "generated quantities { real x = normal_rng(0, 1); array[3] real y = normal_rng({1, 2, 3}, 1); }",
    "truncation": "parameters { real x; } model { x ~ normal(0, 1) T[-1, 1]; x ~ cauchy(0, 1) T[, 2]; }",
    "loops": "model { for (x in {1.5, 2}) { if (x > 1) continue; break; } while (1) { break; } }",
    "multi-index": "data { matrix[3, 3] m; array[2] int i; } model { matrix[2, 3] a = m[i]; vector[2] v = m[i, 1]; }",
    "lp": "functions { void f_lp(real x) { target += x; x ~ normal(0, 1); } } model { f_lp(1); }",
    "jacobian": """functions { real f_jacobian(real x) { jacobian += x; return exp(x); } }
        parameters { real x; } transformed parameters { real y = f_jacobian(x); jacobian += 1; }""",
    "user density": """functions { real foo_lpdf(real y, real m) { return normal_lupdf(y | m, 1); } }
        parameters { real y; } model { y ~ foo(1); target += foo_lupdf(y | 1); }""",
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepted(name):
    stanimport.check("p.stan", source=ACCEPTED[name], strict=True)


REFUSED = {
    "model {\n  real x = y;\n}": (2, "'y' is not in scope"),
    "data { real sigma; } model {\n  real x = sigm;\n}": (2, "'sigm' is not in scope"),
    "model { int i = 1.5; }": (1, "'i' is int, its value real"),
    "data { int n; } model { n = 2; }": (1, "block 'data' can't be assigned to"),
    "model { for (i in 1:2) i = 3; }": (1, "variable of a loop"),
    "functions { real f(real x) { x = 1; return x; } }": (1, "argument of a function"),
    "functions { real f(real x) { if (x > 0) return 1; } }": (1, "does not return a value on every path"),
    "model { break; }": (1, "outside a loop"),
    "transformed parameters { int n; }": (1, "can't hold integers"),
    "parameters { int n; }": (1, "can't hold integers"),
    "parameters { real x; vector[to_int(x)] y; }": (1, "sizes can depend on data only"),
    "data { real x; } transformed data { target += x; }": (1, "only be used in the model block"),
    "model { real x = normal_rng(0, 1); }": (1, "only be called in transformed data"),
    "model { real x = normal_lpdf(1, 0, 1); }": (1, "followed by a bar"),
    "data { vector[2] v; } model { real x = dot_product(v | v); }": (1, "take a bar"),
    "parameters { real x; } model { x ~ normal(0); }": (1, "'normal' takes 2 arguments, not 1"),
    "parameters { real x; } model { x ~ norml(0, 1); }": (1, "there is no distribution 'norml'"),
    "data { array[2] int y; } model { y ~ binomial_coefficient(1); }": (1, "there is no distribution"),
    "model { vector[2] v; real x = v[1, 2]; }": (1, "2 indices"),
    "model { real x = 1 + [1, 2] * {1, 2}; }": (1, "operator * is not defined"),
    "model { real x; real x; }": (1, "already declared"),
    "functions { real f(int x) { return 1; } real f(int y) { return 2; } }": (1, "already defined"),
    "functions { real f(int x, real y) { return 1; } real f(real x, int y) { return 2; } } model { real a = f(1, 1); }":
        (1, "ambiguous"),
    "functions { real foo_lpdf(int y) { return 1; } }": (1, "first argument"),
    "functions { real foo(real x); }": (1, "'foo' is declared but never defined"),
    "model { int i = 3000000000; }": (1, "less than 2147483648"),
    "model { tuple(int, real) t; t.3 = 1; }": (1, "no item 3"),
    "model { vector[2] a; real b; (a[1], a[2]) = (1, 2); }": (1, "assigned to twice"),
    "model { real x; x = x ? 1 : 2; }": (1, "?: is not defined"),
    "functions { real f(real x) { return x; } } model { target += (f, 1); }": (1, "a tuple can't hold a function"),
    "model { real generated; }": (1, "reserved word"),
    "model { real x__; }": (1, "reserved"),
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text):
    line, message = REFUSED[text]
    found = errors(text)
    assert found[0][0] == line
    assert message in found[0][1]


def test_discrete_parameters_are_an_extension():
    text = "parameters { array[2] int<lower=0, upper=1> z; real x; }"
    assert stanimport.check("p.stan", source=text) == []
    with pytest.raises(StanSemanticError, match="parameters can't hold integers"):
        stanimport.check("p.stan", source=text, strict=True)


def test_all_errors_are_reported_and_none_twice():
    found = errors("model {\n  real a = b;\n  real c = a + 1;\n  int i = 2.5;\n  d ~ normal(a, 1);\n}")
    assert [line for line, _ in found] == [2, 4, 5]


def test_a_suggestion_for_a_misspelt_name():
    with pytest.raises(StanSemanticError, match="did you mean 'sigma'"):
        stanimport.check("p.stan", source="parameters { real sigma; } model { real x = sigm; }")
    with pytest.raises(StanSemanticError, match="did you mean 'normal'"):
        stanimport.check("p.stan", source="parameters { real x; } model { x ~ nromal(0, 1); }")


def test_the_one_argument_that_differs_is_named():
    text = 'data { matrix[2, 2] m; } model { real x = normal_lpdf(m | 0, 1); }'
    with pytest.raises(StanSemanticError, match="argument 1 is matrix, not"):
        stanimport.check("p.stan", source=text)


def test_a_removed_function_is_refused_only_in_strict_mode():
    text = "data { array[3] real x; } transformed data { matrix[3, 3] k = cov_exp_quad(x, 1, 1); }"
    (warning,) = stanimport.check("p.stan", source=text)
    assert warning.severity == "deprecation" and "gp_exp_quad_cov" in warning.hint
    with pytest.raises(StanSemanticError):
        stanimport.check("p.stan", source=text, strict=True)


@pytest.mark.parametrize(
    "call, successor",
    [
        ("normal_log(a, 0, 1)", "normal_lpdf"), ("poisson_log(2, a)", "poisson_lpmf"),
        ("normal_cdf_log(a, 0, 1)", "normal_lcdf"), ("normal_ccdf_log(a, 0, 1)", "normal_lccdf"),
    ],
)  # fmt: skip
def test_removed_suffixes_of_densities(call, successor):
    text = f"parameters {{ real<lower=0> a; }} model {{ target += {call}; }}"
    (warning,) = stanimport.check("p.stan", source=text)
    assert warning.severity == "deprecation" and successor in warning.hint
    with pytest.raises(StanSemanticError):
        stanimport.check("p.stan", source=text, strict=True)


def test_include_errors_show_the_chain(tmp_path):
    (tmp_path / "outer.stan").write_text('functions {\n#include "inner.stan"\n}\n')
    (tmp_path / "inner.stan").write_text("real f(real x) {\n  return y;\n}\n")
    with pytest.raises(StanSemanticError) as caught:
        stanimport.check(tmp_path / "outer.stan")
    assert caught.value.filename == str(tmp_path / "inner.stan") and caught.value.lineno == 2
    assert f"included from {tmp_path / 'outer.stan'}:2" in str(caught.value)


@pytest.mark.parametrize(
    "include, message",
    [
        ("missing.stan", "no file"), ("p.stan", "includes itself"), ("/p.stan", "includes itself"),
        ("../inside/p.stan", "includes itself"), ("n" * 5000, "no file"), ("loop.stan", "no file"),
        ('"a\0b"', "no file"), ('""', "names no file"),
    ],
)
def test_bad_includes(tmp_path, include, message):
    folder = tmp_path / "inside"
    folder.mkdir()
    (folder / "loop.stan").symlink_to(folder / "loop.stan")
    (folder / "p.stan").write_text(f"#include {include}\nmodel {{ }}\n")
    with pytest.raises(stanimport.StanSyntaxError, match=message):
        stanimport.check(folder / "p.stan")


@pytest.mark.parametrize("include", ["/parts/data.stan", "../shared/data.stan", "link.stan"])
def test_includes_are_found_as_stanc_finds_them(tmp_path, include):
    folder, shared = tmp_path / "stan_files", tmp_path / "shared"
    for place in (folder / "parts", shared):
        place.mkdir(parents=True)
        (place / "data.stan").write_text("data { real x; }\n")
    (folder / "link.stan").symlink_to(shared / "data.stan")
    (folder / "p.stan").write_text(f"#include {include}\nmodel {{ target += x; }}\n")
    assert not stanimport.check(folder / "p.stan", strict=True)
    assert not stanimport.check("p.stan", source=(folder / "p.stan").read_text(), include_paths=[folder])
