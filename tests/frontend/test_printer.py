"""The printer: what it prints parses to the same tree."""
from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import printing
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stanimport.errors import Diagnostics
from stanimport.frontend import ast, parser
from stanimport.source import Source

ROOT = Path(__file__).parent.parent
PROGRAMS = sorted([*(ROOT.parent / "models").glob("*.stan"), *ROOT.glob("constructs/programs/*.stan")])


def parse(text: str) -> ast.Program:
    return parser.parse(Source("p.stan", text), None, Diagnostics())


def shape(node):
    """A tree without its positions."""
    if isinstance(node, ast.Node):
        return (type(node).__name__, *(shape(getattr(node, f.name)) for f in fields(node) if f.name != "span"))
    return tuple(map(shape, node)) if isinstance(node, tuple) else node


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_programs_come_back(path):
    program = parse(path.read_text())
    text = printing.program_text(program)
    assert shape(parse(text)) == shape(program)
    assert printing.program_text(parse(text)) == text


def test_the_layout():
    text = """data {
  int<lower=0> N;
  array[N, 2] vector<offset=1, multiplier=2>[3] y, z;
}
parameters {
  cholesky_factor_cov[3, 2] L;
  cholesky_factor_corr[3] K;
  tuple(real, array[2] simplex[3]) t;
}
model {
  for (n in 1 : N) {
    y[n, 1 :, :] ~ normal(t.1, 1) T[0, ];
  }
  if (N > 0)
    target += normal_lpdf(y[1, 1] | -N ^ 2, (1 + 2) * 3);
  else if (N < 0) {
    print("N is ", N);
  } else;
  (a[1], b) = (1, {2, 3i});
}
"""
    assert printing.program_text(parse(text)) == text


def test_old_forms_are_printed_in_todays_syntax():
    text = "functions { real[] f(int[,] x); } model { real a[2], b, c[3, 4]; a[1] <- 2; increment_log_prob(b<-1); }"
    assert printing.program_text(parse(text)) == (
        "functions {\n  array[] real f(array[,] int x);\n}\nmodel {\n  array[2] real a;\n  real b;\n"
        "  array[3, 4] real c;\n  a[1] = 2;\n  target += b < -1;\n}\n"
    )


# --- random trees ----------------------------------------------------------------------------------------------------

SPAN = parse("").span
NAMES = st.sampled_from(["a", "lower_", "x1", "foo_lpdf", "T"]).map(lambda n: ast.Name(n, SPAN))
OPERATORS = ["+", "-", "*", "/", "%", "%/%", "\\", ".*", "./", "^", ".^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]


def grouped(e: ast.Expression) -> ast.Expression:
    """An operand that binds at least as strongly as its operator."""
    loose = (ast.Binary, ast.Prefix, ast.Postfix, ast.Conditional)
    return ast.Paren(e, SPAN) if isinstance(e, loose) else e


LEAVES = st.one_of(
    NAMES.map(lambda n: ast.Variable(n, SPAN)),
    st.sampled_from(["0", "12", "1_000"]).map(lambda t: ast.IntLiteral(t, SPAN)),
    st.sampled_from(["0.5", "1e-3", "2.", ".25"]).map(lambda t: ast.RealLiteral(t, SPAN)),
    st.just(ast.ImaginaryLiteral("2", SPAN)),
    st.just(ast.TargetValue(SPAN)),
)


def compound(e):
    """Expressions made of others."""
    items = st.lists(e, min_size=1, max_size=3).map(tuple)
    index = st.one_of(
        e.map(lambda x: ast.SingleIndex(x, SPAN)),
        st.tuples(st.none() | e, st.none() | e).map(lambda b: ast.RangeIndex(*b, SPAN)),
    )
    names = st.builds(ast.Variable, NAMES, st.just(SPAN))
    return st.one_of(
        st.builds(lambda a, o, b: ast.Binary(grouped(a), o, grouped(b), SPAN), e, st.sampled_from(OPERATORS), e),
        st.builds(lambda o, a: ast.Prefix(o, grouped(a), SPAN), st.sampled_from("-+!"), e),
        e.map(lambda a: ast.Postfix(grouped(a), "'", SPAN)),
        st.builds(lambda a, b, c: ast.Conditional(grouped(a), grouped(b), grouped(c), SPAN), e, e, e),
        e.map(lambda a: ast.Paren(a, SPAN)),
        items.map(lambda i: ast.ArrayLiteral(i, SPAN)),
        items.map(lambda i: ast.RowVectorLiteral(i, SPAN)),
        items.map(lambda i: ast.TupleLiteral(i, SPAN)),
        items.map(lambda i: ast.Call(ast.Name("normal_lpdf", SPAN), i, True, SPAN)),
        items.map(lambda i: ast.Call(ast.Name("fma", SPAN), i, False, SPAN)),
        st.builds(lambda b, i: ast.Indexed(b, tuple(i), SPAN), names, st.lists(index, min_size=1, max_size=3)),
        st.builds(lambda b, n: ast.TupleItem(b, n, SPAN), names, st.integers(1, 12)),
    )


EXPRESSIONS = st.recursive(LEAVES, compound, max_leaves=8)


def statements(s):
    """Statements made of others and of expressions; bodies are blocks, so that every else finds its if."""
    block = st.lists(s, max_size=2).map(lambda b: ast.Block(tuple(b), SPAN))
    return st.one_of(
        block,
        st.builds(lambda c, t, o: ast.If(c, t, o, SPAN), EXPRESSIONS, block, st.none() | block),
        st.builds(lambda c, b: ast.While(c, b, SPAN), EXPRESSIONS, s),
        st.builds(lambda n, a, b, s: ast.For(n, a, b, s, SPAN), NAMES, EXPRESSIONS, EXPRESSIONS, s),
        st.builds(lambda n, e, s: ast.ForEach(n, e, s, SPAN), NAMES, EXPRESSIONS, s),
        block.map(lambda b: ast.Profile("part 1", b.body, SPAN)),
    )


SIMPLE = st.one_of(
    st.builds(lambda n, o, e: ast.Assignment(ast.Variable(n, SPAN), o, e, SPAN), NAMES,
              st.sampled_from(["=", "+=", "-=", "*=", "/=", ".*=", "./="]), EXPRESSIONS),
    st.builds(lambda k, e: ast.Increment(k, e, SPAN), st.sampled_from(["target", "jacobian"]), EXPRESSIONS),
    st.builds(lambda e, a, b: ast.Tilde(e, ast.Name("normal", SPAN), (a,), ast.Truncation(b, None, SPAN), SPAN),
              EXPRESSIONS, EXPRESSIONS, EXPRESSIONS),
    st.builds(lambda e: ast.Return(e, SPAN), st.none() | EXPRESSIONS),
    st.builds(lambda k, e: ast.Message(k, ("say ", e), SPAN), st.sampled_from(["print", "reject"]), EXPRESSIONS),
    st.sampled_from([ast.Break(SPAN), ast.Continue(SPAN), ast.Empty(SPAN)]),
)  # fmt: skip
STATEMENTS = st.recursive(SIMPLE, statements, max_leaves=6)


@pytest.mark.parametrize("count", [25, pytest.param(300, marks=pytest.mark.slow)])
def test_random_programs_come_back(count):
    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(st.lists(STATEMENTS, max_size=3))
    def come_back(body):
        program = ast.Program((ast.ProgramBlock("model", tuple(body), SPAN),), SPAN)
        assert shape(parse(printing.program_text(program))) == shape(program)

    come_back()
