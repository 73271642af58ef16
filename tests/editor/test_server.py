"""The language server as editors meet it: a process, asked by a client library over standard input and output."""
import importlib.util
import time

import pytest

pytest.importorskip("pygls", reason="the lsp extra is not installed")
from an_editor import Editor
from lsprotocol import types as lsp

from stanimport.__main__ import main

PROGRAM = """\
functions {
  // adds up
  real total(vector x, data int n) { return sum(x) * n; }
}
data { int<lower=0> N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; }
model {
  /* 𝜎 */ mu ~ norml(0, 1);
  y ~ normal(total(y, N), sigma);
}
"""


@pytest.fixture(scope="module")
def editor(tmp_path_factory):
    with Editor(tmp_path_factory.mktemp("programs")) as made:
        yield made
    assert made.code == 0


@pytest.fixture(scope="module")
def program(editor):
    return editor.open("program.stan", PROGRAM)


def test_diagnostics_come_with_hints_and_follow_the_text(editor):
    uri = editor.open("typed.stan", PROGRAM)
    (wrong,) = editor.wrong(uri)
    assert wrong.message == "there is no distribution 'norml'\ndid you mean 'normal'?"
    # columns count UTF-16 units, of which the letter in the comment has two
    assert wrong.range == lsp.Range(lsp.Position(7, 16), lsp.Position(7, 21))
    assert wrong.severity == lsp.DiagnosticSeverity.Error and wrong.source == "stanimport"
    editor.edit(uri, (7, 16), (7, 21), "normal")
    assert [d.severity for d in editor.wrong(uri)] == [lsp.DiagnosticSeverity.Information]  # no prior for sigma
    editor.edit(uri, (8, 20), (8, 20), " 1")
    editor.edit(uri, (7, 28), (7, 29), "")
    assert [d.range.start.line for d in editor.wrong(uri)] == [8, 8]


@pytest.mark.slow
def test_what_stands_in_included_files_is_told_there_and_at_the_include(editor):
    (editor.folder / "part.stan").write_text("  a ~ normal(0, b);\n")
    uri = editor.open("whole.stan", "parameters { real a; }\nmodel {\n#include part.stan\n}\n")
    (wrong,) = editor.wrong(uri)
    assert "'b'" in wrong.message and wrong.range.start == lsp.Position(2, 0)
    part = (editor.folder / "part.stan").as_uri()
    assert wrong.related_information[0].location == lsp.Location(
        part, lsp.Range(lsp.Position(0, 16), lsp.Position(0, 17)))  # fmt: skip
    assert editor.open("part.stan", "  a ~ normal(0, b);\n") == part
    assert [d.range.start for d in editor.wrong(part)] == [lsp.Position(0, 16)]
    editor.edit(part, (0, 16), (0, 17), "1")
    assert editor.until(lambda: not editor.diagnostics[uri].diagnostics or None) and not editor.wrong(part)
    (place,) = editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**editor.at(part, 0, 2)))
    assert (place.uri, place.range.start) == (uri, lsp.Position(0, 18))
    (place,) = editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, lsp.DefinitionParams(**editor.at(uri, 2, 12)))
    assert place.uri == part


def hover(editor, uri, line, column):
    found = editor.ask(lsp.TEXT_DOCUMENT_HOVER, lsp.HoverParams(**editor.at(uri, line, column)))
    return found and found.contents.value


def test_hover_tells_signatures_and_formulas_of_the_library(editor, program):
    told = hover(editor, program, 8, 8)
    assert "real normal_lpdf(reals y | reals mu, reals sigma)" in told and "y ~ normal(mu, sigma)" in told
    assert "`sigma` must be positive" in told and "square(z)" in told
    assert "sum(" in hover(editor, program, 2, 46)


def test_hover_tells_declarations_of_the_program(editor, program):
    assert hover(editor, program, 8, 15) == "```stan\nreal total(vector x, data int n)\n```\n\n*functions*\n\nadds up"
    assert "vector[N] y" in hover(editor, program, 8, 2) and "*argument*" in hover(editor, program, 2, 48)
    assert hover(editor, program, 9, 1) is None


def test_definitions_and_references(editor, program):
    ask = lsp.DefinitionParams(**editor.at(program, 8, 26))
    (place,) = editor.ask(lsp.TEXT_DOCUMENT_DEFINITION, ask)
    assert place == lsp.Location(program, lsp.Range(lsp.Position(5, 36), lsp.Position(5, 41)))
    ask = lsp.ReferenceParams(context=lsp.ReferenceContext(include_declaration=False), **editor.at(program, 4, 20))
    assert [p.range.start.line for p in editor.ask(lsp.TEXT_DOCUMENT_REFERENCES, ask)] == [4, 8]


def test_symbols_are_the_blocks_and_what_they_declare(editor, program):
    ask = lsp.DocumentSymbolParams(lsp.TextDocumentIdentifier(program))
    symbols = editor.ask(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, ask)
    found = {s.name: [(c.name, c.detail) for c in s.children] for s in symbols}
    assert found["parameters"] == [("mu", "real mu"), ("sigma", "real<lower=0> sigma")] and found["model"] == []
    assert found["functions"] == [("total", "real total(vector x, data int n)")]


def test_completion_with_documentation_on_demand(editor, program):
    ask = lsp.CompletionParams(**editor.at(program, 8, 8))
    laws = {i.label: i for i in editor.ask(lsp.TEXT_DOCUMENT_COMPLETION, ask).items}
    assert "normal" in laws and "sigma" not in laws and laws["gamma"].documentation is None
    assert "`alpha` must be positive" in editor.ask(lsp.COMPLETION_ITEM_RESOLVE, laws["gamma"]).documentation.value
    ask = lsp.CompletionParams(**editor.at(program, 8, 20))
    items = {i.label: i for i in editor.ask(lsp.TEXT_DOCUMENT_COMPLETION, ask).items}
    assert items["sigma"].detail == "real<lower=0> sigma" and items["sigma"].sort_text < items["inv_logit"].sort_text
    assert items["total"].kind == lsp.CompletionItemKind.Function


def test_formatting_is_one_edit_or_none(editor):
    def edits(uri):
        ask = lsp.DocumentFormattingParams(lsp.TextDocumentIdentifier(uri), lsp.FormattingOptions(2, True))
        return editor.ask(lsp.TEXT_DOCUMENT_FORMATTING, ask)

    (edit,) = edits(editor.open("rough.stan", "parameters{real x;}\nmodel{x~normal(0,1);}"))
    smooth = "parameters {\n  real x;\n}\nmodel {\n  x ~ normal(0, 1);\n}\n"
    assert edit.new_text == smooth and edit.range.end == lsp.Position(1, 21)
    assert not edits(editor.open("smooth.stan", smooth)) and edits(editor.open("wrong.stan", "model {")) is None


def test_long_programs_are_answered_as_they_are_typed(editor):
    """A thousand lines: every change is answered, and a burst of them by one examination."""
    rows = "".join(f"  x[{i}] ~ normal({i % 7}, 1);\n" for i in range(1, 1000))
    uri = editor.open("long.stan", f"parameters {{ vector[999] x; }}\nmodel {{\n{rows}}}\n")
    editor.wrong(uri)
    start = time.monotonic()
    for column in range(10):
        editor.edit(uri, (500, 3), (500, 3), "y"[: column == 0])
    assert "'xy' is not in scope" in editor.wrong(uri)[0].message
    assert time.monotonic() - start < 10


def test_who_lacks_the_extra_is_told(monkeypatch, capsys):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert main(["lsp"]) == 1
    assert "pip install 'stanimport[lsp]'" in capsys.readouterr().err
