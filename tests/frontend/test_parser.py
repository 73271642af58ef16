"""The grammar: the whole language, the deprecated forms, DeepStan's blocks, and syntax errors at their place."""
from __future__ import annotations

import subprocess
import sys

import pytest
from ply import lex

from stanimport.errors import Diagnostics, StanSyntaxError
from stanimport.frontend import ast, lexer, parser
from stanimport.source import Source


def parse(text: str, strict: bool = False) -> tuple[ast.Program, Diagnostics]:
    diagnostics = Diagnostics()
    return parser.parse(Source("p.stan", text), None, diagnostics, strict), diagnostics


def expression(text: str) -> ast.Expression:
    program, _ = parse(f"model {{ target += {text}; }}")
    statement = program.blocks[0].body[0]
    assert isinstance(statement, ast.Increment)
    return statement.value


def shown(e: ast.Expression) -> str:
    """An expression with all its parentheses."""
    if isinstance(e, ast.Binary):
        return f"({shown(e.left)} {e.operator} {shown(e.right)})"
    if isinstance(e, ast.Prefix):
        return f"({e.operator}{shown(e.operand)})"
    if isinstance(e, ast.Postfix):
        return f"({shown(e.operand)}{e.operator})"
    if isinstance(e, ast.Conditional):
        return f"({shown(e.condition)} ? {shown(e.then)} : {shown(e.otherwise)})"
    return e.span.text


# Stan Reference Manual, "Operator precedence table".
@pytest.mark.parametrize(
    "text, meaning",
    [
        ("a + b * c", "(a + (b * c))"),
        ("a - b - c", "((a - b) - c)"),
        ("-a ^ b", "(-(a ^ b))"),
        ("a ^ b ^ c", "(a ^ (b ^ c))"),
        ("-a'", "(-(a'))"),
        ("a * b'", "(a * (b'))"),
        ("a .* b / c", "((a .* b) / c)"),
        ("a * b \\ c", "(a * (b \\ c))"),
        ("a %/% b * c", "((a %/% b) * c)"),
        ("a < b == c", "((a < b) == c)"),
        ("a || b && c", "(a || (b && c))"),
        ("!a && b", "((!a) && b)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a + b < c - d", "((a + b) < (c - d))"),
        ("a <-b", "(a < (-b))"),
    ],
)
def test_precedence(text, meaning):
    assert shown(expression(text)) == meaning


def test_a_tuple_item_is_told_from_a_number():
    item = expression("x.1.2")
    assert isinstance(item, ast.TupleItem) and item.number == 2
    assert isinstance(item.base, ast.TupleItem) and item.base.number == 1
    assert isinstance(expression(".5"), ast.RealLiteral)
    assert isinstance(expression("1.5e-3"), ast.RealLiteral)
    assert isinstance(expression("2.5i"), ast.ImaginaryLiteral)


def test_a_transposed_value_is_indexed():
    item = expression("m'[1, 2]'")
    assert isinstance(item, ast.Postfix) and isinstance(item.operand, ast.Indexed)
    assert isinstance(item.operand.base, ast.Postfix)


def test_every_index_form():
    indexed = expression("x[1, , :, 2:, :3, 4:5, idx]")
    assert isinstance(indexed, ast.Indexed)
    bounds = [
        (i.lower is not None, i.upper is not None) if isinstance(i, ast.RangeIndex) else "single"
        for i in indexed.indices
    ]
    assert bounds == ["single", (False, False), (False, False), (True, False), (False, True), (True, True), "single"]


OLD = {
    "real x[3];": "array syntax",
    "int x[2, 3] = {{1, 2, 3}, {4, 5, 6}};": "array syntax",
    "x <- 3;": "<-",
    "# a comment": "#",
}


@pytest.mark.parametrize("text, what", OLD.items(), ids=OLD.values())
def test_deprecated_forms_warn_and_are_refused_in_strict_mode(text, what):
    program = f"model {{\n  {text}\n}}\n"
    _, diagnostics = parse(program)
    assert [d.severity for d in diagnostics.warnings] == ["deprecation"]
    assert what in diagnostics.warnings[0].message and diagnostics.warnings[0].line == 2
    with pytest.raises(StanSyntaxError) as caught:
        parse(program, strict=True)
    assert caught.value.lineno == 2


def test_increment_log_prob_is_a_statement_outside_strict_mode():
    program, diagnostics = parse("model { increment_log_prob(1); }")
    assert isinstance(program.blocks[0].body[0], ast.Increment)
    assert "increment_log_prob" in diagnostics.warnings[0].message
    program, diagnostics = parse("model { increment_log_prob(1); }", strict=True)
    assert isinstance(program.blocks[0].body[0], ast.CallStatement) and not diagnostics.warnings


def test_old_array_types_of_functions():
    program, diagnostics = parse("functions { real[,] f(int[] x, data vector[] y) { return {{1.0}}; } }")
    definition = program.blocks[0].body[0]
    assert isinstance(definition, ast.FunctionDefinition)
    assert str(definition.result) == "array[,] real"
    assert [str(a.type) for a in definition.arguments] == ["array[] int", "array[] vector"]
    assert [a.data_only for a in definition.arguments] == [False, True]
    assert len(diagnostics.warnings) == 3


def test_words_that_became_keywords_stay_names_outside_strict_mode():
    text = "data { int offset; array[offset] real lower; real<lower=0, upper=1> upper; } model { real array = 1; }"
    _, diagnostics = parse(text)
    assert {w.span.text for w in diagnostics.warnings} == {"offset", "lower", "upper", "array"}
    with pytest.raises(StanSyntaxError):
        parse(text, strict=True)


DEEP = """networks {
  vector pkg.nets.decoder(array[] real z);
  real encoder(vector x);
}
data { int guide; int networks; }
parameters { real mlp.l1.weight[3, 4]; }
model { }
guide parameters { real<lower=0> s; }
guide { }
"""


def test_deepstan_blocks_parse_and_their_words_stay_names():
    program, _ = parse(DEEP)
    assert [b.name for b in program.blocks] == [
        "networks", "data", "parameters", "model", "guide parameters", "guide",
    ]  # fmt: skip
    network = program.blocks[0].body[0]
    assert isinstance(network, ast.NetworkDeclaration)
    assert (network.path, network.name.text) == ("pkg.nets.decoder", "decoder")
    with pytest.raises(StanSyntaxError):
        parse(DEEP, strict=True)


SYNTAX_ERRORS = {
    "model { real x = 1\n real y; }": (2, "unexpected 'real'"),
    "model { x + 1; }": (1, "unexpected ';'"),
    "model { x; }": (1, "no statement"),
    "data { real x = 1; }": (1, "can't be given values"),
    "model { } data { }": (1, "must come before"),
    "model { } model { }": (1, "second block"),
    "model { real<lower=0> x; }": (1, "can't be constrained"),
    "data { int<offset=1> n; }": (1, "lower and upper only"),
    "data { real<lower=0, lower=1> x; }": (1, "given twice"),
    "model { f(x) = 1; }": (1, "can't be assigned to"),
    "model { real if; }": (1, "keyword"),
    "model {\n /* open\n }": (2, "never closed"),
    "model { real x = $; }": (1, "unexpected character '$'"),
    'model { print("a\nb"); }': (1, "unexpected character '\"'"),
    "model {": (1, "ends too early"),
}


@pytest.mark.parametrize("text", SYNTAX_ERRORS)
def test_syntax_errors_name_place_and_problem(text):
    line, message = SYNTAX_ERRORS[text]
    with pytest.raises(StanSyntaxError) as caught:
        parse(text)
    assert caught.value.lineno == line
    assert message in str(caught.value)
    assert "^" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "model { real x = " + "(" * 1000 + "1" + ")" * 1000 + "; }",
        "model " + "{" * 1000 + "}" * 1000,
        "model { target += " + "-" * 3000 + "1; }",
        "model { target += " + "f(" * 1000 + "1" + ")" * 1000 + "; }",
    ],
    ids=["parentheses", "blocks", "signs", "calls"],
)
def test_a_program_nested_a_thousand_deep_is_an_error(text):
    with pytest.raises(StanSyntaxError, match="levels deep"):
        parse(text)


def test_a_long_sum_is_no_deep_program():
    from stanimport import check

    check("long.stan", source="model { target += " + " + ".join(["1.0"] * 900) + "; }")


def test_the_shipped_tables_are_those_of_the_grammar(tmp_path):
    parser.build.cache_clear()
    parser.build(tmp_path)
    written = list(tmp_path.iterdir())
    parser.build.cache_clear()
    assert not written, "run python -m stanimport.frontend.parser"


def test_ply_has_nothing_against_the_rules_of_tokens():
    """The lexer is made without this check, which raises a SyntaxError."""
    checked = lex.lex(module=lexer._Rules(), reflags=0)
    lexer._new_lexer("")
    assert checked.lexretext == lexer._prototype.lexretext and checked.lextokens == lexer._prototype.lextokens


@pytest.mark.parametrize("flag", ["-O", "-OO"])
def test_the_grammar_survives_optimisation(flag):
    code = "import stanimport; print(stanimport.check('p', source='model { real x = 1; }'))"
    result = subprocess.run([sys.executable, flag, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
