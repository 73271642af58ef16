"""What is wrong with texts that are being written: all of it, and what is left of them."""

import itertools
import sys

import pytest

from stanimport.editor import completion
from stanimport.editor.examination import Settings, examine
from stanimport.editor.names import comment_on, names_of
from stanimport.source import Source

WHOLE = """\
functions {
  /* adds
   * up */
  real total(vector x, data int n) { return sum(x) * n; }
  real centred_lpdf(real x, real s) { return normal_lpdf(x | 0, s); }
}
data { int<lower=0> N; vector[N] y; }
parameters { real mu; real<lower=0> sigma; // spread of y
}
model {
  real t = total(y, N);
  mu ~ centred(sigma);
  for (i in 1:N) y[i] ~ normal(mu + t, sigma);
}
generated quantities { real twice = 2 * mu; }
"""


def found(text, **settings):
    made = examine(Source("m.stan", text), Settings(**settings), {})
    return made, [(d.line, d.message) for d in made.diagnostics if d.severity == "error"]


def test_a_right_program_has_no_errors():
    made, errors = found(WHOLE)
    assert not errors and made.program is not None


@pytest.mark.parametrize("old, new, expected", [
    ("real mu;", "real mu", [(8, "unexpected 'real'")]),
    ("sigma);\n}", "sigma)\n}", [(14, "unexpected '}'")]),
    ("mu ~ centred(sigma)", "mu ~ centred(sigma 2)", [(12, "unexpected number 2")]),
    ("generated quantities {", "}\ngenerated quantities {", [(15, "unexpected '}'")]),
    ("(mu + t", "(mu $ t", [(13, "unexpected character '$'")]),
])  # fmt: skip
def test_the_rest_of_a_program_is_read_behind_an_error(old, new, expected):
    made, errors = found(WHOLE.replace(old, new, 1).replace("2 * mu", "2 * mux"))
    lines = enumerate(made.source.text.splitlines(), 1)
    place = [(line, "'mux' is not in scope") for line, text in lines if "mux" in text]
    assert errors == expected + place and made.program.block("generated quantities") is not None


@pytest.mark.parametrize("text", [
    "model {\n  real x = 1; // the", "model {\n  real x = 1 // the", "model {\n  for (i in 1:3) { // the",
    "model {\n  rea", "model {\n  real x", "model {\n  if (1) foo(2, ",
    "model {\n  if (1) foo(2, // the", "model {\n {\n} rea",
])  # fmt: skip
def test_a_text_that_ends_within_a_statement_has_one_error(text):
    made, errors = found(text)
    assert [m for _, m in errors] == ["the program ends too early"] and made.program.block("model") is not None


def test_every_beginning_of_a_program_is_read():
    """Whatever is typed at the end, what stands before it is known, and is wrong in no more than two places."""
    for end in range(1, len(WHOLE), 2):
        made, errors = found(WHOLE[:end])
        assert made.program is not None and len(errors) <= 2, WHOLE[:end]


def test_what_is_left_out_makes_no_errors_of_its_own():
    _, errors = found(WHOLE.replace("real mu; real<lower=0> sigma;", "real mu sigma;"))
    assert [m for _, m in errors] == ["unexpected name 'sigma'"]


def test_an_unclosed_block_hides_nothing_behind_it():
    made, errors = found(WHOLE.replace("mu ~ centred(sigma);", "if (N > 1) {\n mu ~ centred(sigma);"))
    assert errors == [(16, "unexpected 'generated quantities'")]
    assert names_of(made.program).uses[-1].span.text == "twice"


@pytest.mark.parametrize(
    "text", ["", "}", "/* never", "#include nowhere.stan\nmodel { }", "data { int", "model { x ~", "{" * 300]
)
def test_any_text_has_an_answer(text):
    made, errors = found(text)
    assert bool(errors) == bool(text) and len(errors) <= 11
    if made.program is not None:
        names_of(made.program)


def test_pedantic_warnings_come_with_right_programs_alone():
    text = "parameters { real x; real z; } model { x ~ normal(0, 1); }"
    made, _ = found(text)
    assert made.pedantic and made.pedantic <= set(made.diagnostics)
    assert not found(text, pedantic=False)[0].diagnostics
    assert not found(text.replace("normal", "norml"))[0].pedantic


def test_open_texts_are_included_in_place_of_files(tmp_path):
    part = tmp_path / "part.stan"
    part.write_text("real a;\n")
    text = "parameters {\n#include part.stan\n}\nmodel { b ~ normal(0, 1); }"
    made = examine(Source(str(tmp_path / "m.stan"), text), Settings(), {})
    assert [d.message for d in made.diagnostics] == ["'b' is not in scope"] and part in made.files
    assert not examine(Source(str(tmp_path / "m.stan"), text), Settings(), {str(part): "real b;"}).diagnostics


def test_names_are_those_of_the_innermost_scope():
    text = "functions { real f(real x) { return x; } }\nparameters { real x; }\n"
    text += "model { { real k = x; } { int k = 1; target += k; } }"
    names = names_of(found(text)[0].program)
    place = text.index("target += k") + len("target += ")
    (meant,) = names.at("m.stan", place).definitions
    assert meant.text == "int k"
    assert names.at("m.stan", text.index("x; } }\np")).definitions[0].kind == "argument"
    assert len(names.uses_of(names.at("m.stan", text.index("x; }\nmodel")).definitions)) == 2


def test_laws_are_their_densities():
    names = names_of(found(WHOLE)[0].program)
    (meant,) = names.at("m.stan", WHOLE.index("centred(sigma)")).definitions
    assert meant.name == "centred_lpdf" and meant.parameters == ("real x", "real s")


def test_comments_belong_to_what_they_stand_at():
    made, _ = found(WHOLE)
    told = {d.name: comment_on(d, made.trivia) for d in names_of(made.program).definitions}
    assert told["total"] == "adds\nup" and told["sigma"] == "spread of y" and told["mu"] == told["N"] == ""


def proposed(text):
    """What is proposed at the mark @ of a text."""
    offset = text.index("@")
    made = examine(Source("m.stan", text.replace("@", "")), Settings(), {})
    names = names_of(made.program) if made.program is not None else names_of(found("")[0].program)
    return {p.text for p in completion.proposals(names, made.program, made.source.text, offset, True)}


def test_proposals_are_what_could_stand_there():
    text = WHOLE.replace("mu ~ centred(sigma);", "mu ~ cent@")
    laws = proposed(text)
    assert {"centred", "normal", "poisson_log"} <= laws and not {"sigma", "normal_lpdf", "for"} & laws
    words = proposed(WHOLE.replace("mu ~ centred(sigma);", "target += si@"))
    assert {"sigma", "t", "N", "total", "sin", "normal_lpdf", "for", "real"} <= words
    assert not {"twice", "i", "x", "normal_rng", "simplex", "data"} & words
    assert {"normal_rng", "mu", "simplex"} <= proposed(WHOLE.replace("2 * mu", "@2"))
    assert {"lower=", "upper=", "N"} <= proposed("data { int N; real<lo@ }")
    assert "parameters {" in proposed("data { int N; }\npara@")
    assert "t" not in proposed(WHOLE.replace("2 * mu", "@2")) and not proposed("// a com@ment")


def test_the_work_grows_with_the_text():
    """Ten times the lines, five of them wrong: about ten times the calls of functions, and not a hundred."""

    def calls(lines):
        rows = [f"  real v{i} = {i}; // note\n  x[{i + 1}] ~ normal(v{i}, 1);\n" for i in range(lines)]
        for i in range(0, lines, lines // 5):
            rows[i] = rows[i].replace(", 1)", " 1)")
        text = f"parameters {{ vector[{lines}] x; }}\nmodel {{\n{''.join(rows)}}}\n"
        count, before = itertools.count(), sys.getprofile()
        sys.setprofile(lambda frame, event, value: event == "call" and next(count))
        try:
            made = examine(Source("m.stan", text), Settings(), {})
            names = names_of(made.program)
            found = names.at("m.stan", text.rindex("v"))
        finally:
            sys.setprofile(before)
        assert len(made.diagnostics) == 5 and found is not None
        return next(count)

    calls(20)
    assert calls(1000) < 12 * calls(100)
