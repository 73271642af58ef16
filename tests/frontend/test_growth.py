"""Long and deep programs: a module in time that grows with the text, whatever they are made of."""
from __future__ import annotations

import gc
import pathlib
import sys
from collections.abc import Callable

import numpy as np
import pytest
from numpyro.infer.util import log_density
from scipy import stats

import stanimport
from stanimport import pipeline
from stanimport.source import Source


def repeated(before: str, statement: str, after: str = "}") -> Callable[[int], str]:
    return lambda n: before + "\n".join(statement.replace("#", str(i)) for i in range(n)) + after


def else_ifs(before: str, condition: str, statement: str, after: str = "}") -> Callable[[int], str]:
    one = f"if ({condition}) {statement}"
    return lambda n: before + " else ".join(one.replace("#", str(i)) for i in range(n)) + after


def chain_of_functions(n: int) -> str:
    calling = "\n".join(f"real f{i + 1}(real x) {{ return f{i}(x); }}" for i in range(n))
    functions = f"functions {{ real f0(real x) {{ return x; }} {calling} }}"
    return f"{functions} parameters {{ real x; }} model {{ target += f{n}(x); }}"


MODEL = "data { int c; real y; } parameters { real x; } model { real s = 0; int k = 0; array[3] real z; "
MANY = repeated("parameters { real x; ", "real x#;")
KINDS = {
    "assignments": repeated(MODEL, "s = s + x;"),
    "declarations": repeated(MODEL, "real s# = x;"),
    "observations": repeated(MODEL, "y ~ normal(x, 1);"),
    "laws of one parameter": repeated(MODEL, "x ~ normal(0, 1);"),
    "laws of parameters": lambda n: MANY(n) + repeated("model {", "x# ~ normal(0, 1);")(n),
    "laws of one another": lambda n: MANY(n) + repeated("model {", "x# ~ normal(x, 1); x ~ normal(x#, 1);")(n),
    "increments": repeated(MODEL, "target += x;"),
    "reads of the target": repeated(MODEL, "target += x * target();"),
    "loops": repeated(MODEL, "for (i in 1:3) z[i] = x * i;"),
    "one loop": repeated(MODEL + "for (i in 1:3) {", "z[i] = z[i] + x;", "} }"),
    "loops over containers": repeated(MODEL, "for (v in z) target += v * x;"),
    "branches on data": repeated(MODEL, "if (c) target += x;"),
    "branches on parameters": repeated(MODEL, "if (x > #) s += x;"),
    "else if on data": else_ifs(MODEL, "c == #", "y ~ normal(x, # + 1);"),
    "else if on parameters": else_ifs(MODEL, "x < #", "y ~ normal(x, # + 1);"),
    "while": repeated(MODEL, "while (k < c) k += 1;"),
    "messages": repeated(MODEL, 'if (c) reject("a"); print("b");'),
    "transformed data": repeated("data { real y; } transformed data {", "real s# = y;"),
    "transformed parameters": repeated("parameters { real x; } transformed parameters {", "real s# = x;"),
    "generated quantities": repeated("generated quantities { real s = 0;", "s += normal_rng(0, 1);"),
    "functions": repeated("functions {", "real f#(real x) { return x; }"),
    "a chain of functions": chain_of_functions,
    "blocks": repeated(MODEL, "{ real a; a = x; }"),
    "sums": lambda n: MODEL + "s = " + " + ".join(["x"] * n) + "; }",
    "calls that add to the target": repeated(
        "functions { real f_lp(real x) { target += x; return x; } } parameters { real x; } model { real s;",
        "s = f_lp(x);",
    ),
}  # fmt: skip
SIZES = {"one loop": 200, "laws of one another": 100}  # what is tried only up to a limit of the number


def calls(text: str) -> int:
    """How many calls of functions written in Python a translation makes."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event == "call"

    sys.setprofile(counted)
    try:
        pipeline.translate(Source("m.stan", text), "m", pipeline.Options())
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.sampled(8)
@pytest.mark.parametrize("kind", KINDS)
def test_work_grows_with_the_text(kind, monkeypatch):
    """Twice the statements are at most 2.5 times the calls, beyond what a program of a few takes."""
    monkeypatch.delenv("STANIMPORT_VERIFY")
    size = SIZES.get(kind, 60)
    pipeline.translate(Source("m.stan", KINDS[kind](1)), "m", pipeline.Options())  # what is loaded once
    few, some, many = (calls(KINDS[kind](n)) for n in (5, size, 2 * size))
    assert many - few < 2.5 * (some - few)


def module(text: str):
    return stanimport.loads(text)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("depth", [10, 25, 45])
@pytest.mark.parametrize("block", ["data", "parameters"])
def test_loops_may_be_nested_deeper_than_in_python(depth, block):
    """Each runs once, but for every eighth, which runs twice; the innermost is left by `break` on half of its turns."""
    loops = "".join(f"for (i{i} in 1:{1 + (i % 8 == 0)}) {{ " for i in range(depth))
    text = f"""functions {{
      real f({"data " * (block == "data")}real x) {{
        real s = 0; {loops} for (j in 1:4) {{ if (j > 2) break; s += x; }} {"}" * depth} return s;
      }}
      int first(int n) {{ {loops} for (j in 1:9) if (j == n) return i0 * 100 + j; {"}" * depth} return 0; }}
    }}
    transformed data {{ real t = f(2.0); int found = first(7); }}
    parameters {{ real x; }} model {{ target += {"t * x" if block == "data" else "f(x)"}; }}"""
    times = 2 * 2 ** len(range(0, depth, 8))
    found = log_density(module(text).model, (), {}, {"x": 1.5})[0]
    assert float(found) == pytest.approx(1.5 * times * (2 if block == "data" else 1))
    assert module(text).transformed_data()["found"] == 107


def test_a_long_chain_of_else_if_in_a_loop():
    """As lanes it is one loop inside of another for each of them; what it sets is read behind it."""
    chain = " else ".join(f"if (c[n] == {i}) {{ s = s + x * {i}; z[n] = {i} * x; }}" for i in range(50))
    text = f"""data {{ int N; array[N] int c; }} parameters {{ real x; }}
    model {{ real s = 0; vector[N] z; for (n in 1:N) {{ {chain} else z[n] = 0; }} target += s + sum(z); }}"""
    for c in ([0, 7, 49, 99, 20], [3, 3, 3]):
        found = log_density(module(text).model, (), {"N": len(c), "c": c}, {"x": 1.5})[0]
        assert float(found) == pytest.approx(3.0 * sum(i for i in c if i < 50))


@pytest.mark.parametrize("of", ["c", "x"])
def test_long_chains_of_else_if_choose_one(of):
    text = f"""data {{ int c; real y; }} parameters {{ real x; }} model {{
      {" else ".join(f"if ({of} < {i}) y ~ normal(x, {i});" for i in range(1, 60))} else target += 1; }}"""
    for value in (0, 20, 70):
        given = {"c": value, "y": 0.5}
        found = log_density(module(text).model, (), given, {"x": float(value)})[0]
        expected = 1.0 if value == 70 else stats.norm(value, value + 1).logpdf(0.5)
        assert float(found) == pytest.approx(expected, rel=1e-5)


def test_a_thousand_files_that_include_one_another(tmp_path: pathlib.Path):
    for i in range(1000):
        (tmp_path / f"c{i}.stan").write_text(f"#include c{i + 1}.stan\n")
    (tmp_path / "c1000.stan").write_text("#include c500.stan\n")
    with pytest.raises(stanimport.StanSyntaxError, match="includes itself"):
        stanimport.check(tmp_path / "c0.stan")
    (tmp_path / "c1000.stan").write_text("parameters { real x; } model { }")
    assert [v.name for v in stanimport.load(tmp_path / "c0.stan").stan.parameters] == ["x"]


def test_a_variable_that_reads_itself_is_unset_there():
    text = "generated quantities { real x = x; array[2] int n = n; }"
    made = module(text).generated_quantities()
    assert np.isnan(made["x"]) and set(made["n"]) == {-(2**31)}


@pytest.mark.parametrize("text", ["parameters { real x; } model { x ~ normal(0, 1); }", "model { wrong }"])
def test_what_is_pythons_is_as_before(text):
    before = sys.getrecursionlimit()
    try:
        stanimport.translate("m.stan", source=text)
    except stanimport.StanError:
        pass
    assert gc.isenabled() and sys.getrecursionlimit() == before
