"""Whatever comes in, the front end ends in a program or in a StanError with a position."""
from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

import stanimport
from stanimport.frontend.lexer import KEYWORDS, OPERATORS

MODELS = sorted((Path(__file__).parent.parent.parent / "models").glob("*.stan"))
TOKEN = re.compile(r"[A-Za-z]\w*|\d+\.?\d*(?:[eE]-?\d+)?|[.%]?[*/^]=?|[<>=!+\-*/]=|&&|\|\||\S")
quick = settings(
    max_examples=60, deadline=None, derandomize=True, database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)  # fmt: skip


def ends_well(text: str) -> bool:
    """Whether the text is a program that translates; if not, that the error says where."""
    try:
        stanimport.translate("p.stan", source=text)
    except stanimport.StanError as e:
        assert e.filename == "p.stan" and e.lineno >= 1 and e.offset >= 1
        assert e.diagnostics and all(d.message for d in e.diagnostics) and str(e)
        return False
    return True


# --- bytes and characters --------------------------------------------------------------------------------------------


@quick
@given(st.binary(max_size=200))
@example(b"\xff\xfe")
@example(b"model {\n  real x = 1; // \xe9\n}")
@example(b"model { } \x00")
@example(b"\xef\xbb\xbfmodel { }")
@example("model { real \u03c3; }".encode())
@example(b"parameters { real x; } model { x ~ normal(0, 1);")
def test_any_bytes(tmp_path, content):
    path = tmp_path / "p.stan"
    path.write_bytes(content)
    try:
        stanimport.check(path)
    except stanimport.StanError as e:
        assert e.filename == str(path) and e.lineno >= 1 and str(e)


@quick
@given(st.text(max_size=200))
@example("model { print(\"\x00\"); }")
@example("/* ")
@example('#include ""')
@example('model { print("unclosed); }')
@example("\r\r\n\nmodel{}\r")
def test_any_text(text):
    ends_well(text)


# --- tokens in any order ---------------------------------------------------------------------------------------------

WORDS = [
    *KEYWORDS, *OPERATORS, "x", "y", "f", "1", "2.5", "3i", '"s"', "normal", "transformed data", "<-", "1e400", ".",
]  # fmt: skip


@quick
@given(st.lists(st.sampled_from(WORDS), max_size=60))
def test_any_tokens(words):
    ends_well(" ".join(words))


@quick
@given(st.lists(st.sampled_from(WORDS), max_size=25))
def test_any_tokens_in_a_block(words):
    ends_well(f"data {{ int y; }} parameters {{ real x; }} model {{ {' '.join(words)} }}")


@st.composite
def mutations(draw):
    """A program of models/ with some of its tokens removed, doubled, swapped or replaced."""
    tokens = TOKEN.findall(re.sub(r"//.*", "", draw(st.sampled_from(MODELS)).read_text()))
    for _ in range(draw(st.integers(1, 3))):
        i = draw(st.integers(0, len(tokens) - 1))
        j = draw(st.integers(0, len(tokens) - 1))
        kind = draw(st.sampled_from(["remove", "double", "swap", "copy", "word"]))
        if kind == "remove":
            del tokens[i]
        elif kind == "double":
            tokens.insert(i, tokens[i])
        elif kind == "swap":
            tokens[i], tokens[j] = tokens[j], tokens[i]
        else:
            tokens[i] = tokens[j] if kind == "copy" else draw(st.sampled_from(WORDS))
    return " ".join(tokens)


@settings(quick, max_examples=120)
@given(mutations())
def test_mutated_programs(text):
    ends_well(text)


# --- size ------------------------------------------------------------------------------------------------------------

DEEP = 3000
NESTED = {
    "parentheses": "model { target += " + "(" * DEEP + "1" + ")" * DEEP + "; }",
    "brackets": "model { target += " + "[" * DEEP + "1" + "]" * DEEP + "; }",
    "braces": "model " + "{" * DEEP + "}" * DEEP,
    "minus": "model { target += " + "-" * DEEP + "1; }",
    "not": "model { target += " + "!" * DEEP + "1; }",
    "transposes": "data { matrix[2, 2] m; } model { target += sum(m" + "'" * DEEP + "); }",
    "powers": "model { target += 1" + " ^ 1" * DEEP + "; }",
    "conditions": "model { target += " + "1 ? 1 : " * DEEP + "1; }",
    "if": "model { " + "if (1) " * DEEP + "; }",
    "else if": "model { " + "if (1) ; else " * DEEP + "; }",
    "loops": "model { " + "while (1) " * DEEP + "; }",
    "calls": "model { target += " + "exp(" * DEEP + "1" + ")" * DEEP + "; }",
    "indices": "data { array[2] int i; } model { target += " + "i[" * DEEP + "1" + "]" * DEEP + "; }",
    "items": "data { tuple(int, int) t; } model { target += t" + ".1" * DEEP + "; }",
    "types": "model { " + "tuple(" * DEEP + "int, int" + ", int)" * DEEP + " t; }",
    "unclosed": "model { target += " + "(" * DEEP,
    "closed": "model { target += " + ")" * DEEP,
}


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_is_refused(name):
    assert not ends_well(NESTED[name])


LONG = {
    "sum": "model { target += 1" + " + 1" * 900 + "; }",
    "statements": "parameters { real x; } model { " + "target += x; " * 2000 + "}",
    "array": "transformed data { array[3000] int a = {" + ", ".join(["1"] * 3000) + "}; }",
    "name": f"data {{ int {'n' * 5000}; }}",
    "line": "// " + "c" * 100_000 + "\nmodel { }",
}


@pytest.mark.parametrize("name", LONG)
def test_long_programs_translate(name):
    assert ends_well(LONG[name])


@pytest.mark.parametrize(
    "text, message",
    [
        ("model { int i = 99999999999999999999999999999999; }", "less than 2147483648"),
        (f"model {{ int i = {'9' * 6000}; }}", "less than 2147483648"),
        ("model { tuple(int, int) t; t.99999999999999 = 1; }", "too large"),
        ("model { vector[2147483648] v; }", "less than 2147483648"),
    ],
)
def test_huge_numbers(text, message):
    with pytest.raises(stanimport.StanError, match=message):
        stanimport.check("p.stan", source=text)
