"""What `verify` finds: every promise of a phase, broken by hand in the program that a pass has made."""
from __future__ import annotations

from dataclasses import replace

import pytest

from stanimport import pipeline, settings
from stanimport.ir import gprob, traversal, verify
from stanimport.ir.fresh import Fresh
from stanimport.ir.phases import Phase
from stanimport.passes.surroundings import blocks
from stanimport.source import Source
from stanlib.types import INT, REAL, VECTOR

PROGRAM = """functions { real twice(real x) { return 2 * x; } }
data { int N; array[N] real y; } parameters { real mu; }
model { for (v in y) target += twice(v) * mu; for (n in 1:N) { real z = y[n] + mu; y[n] ~ normal(z, 1); } }"""


@pytest.fixture(scope="module")
def made():
    checked = pipeline.analyse(Source("p.stan", PROGRAM))[0]
    return pipeline.compile_program(checked, pipeline.Options(), Fresh())


def changed(program, kind, change):
    """The program with the first node of a kind in its model replaced."""
    done = []

    def once(node):
        if type(node) is kind and not done:
            done.append(node)
            return change(node)
        return node

    return replace(program, model=traversal.rewrite(program.model, once))


def test_the_program_of_a_pass_keeps_its_promises(made):
    verify.program(made, Phase.TRACKED)


def _bounded(loop, variable):
    """The loop up to the value of a variable, which its body assigns to."""
    again = gprob.Assign(loop.span, gprob.Place(variable.name, variable.type, loop.span), variable)
    return replace(loop, upper=variable, body=(again, *loop.body))


@pytest.mark.parametrize(
    "kind, change, message",
    [
        (gprob.Var, lambda n: replace(n, name="nowhere"), "nowhere is not bound"),
        (gprob.Var, lambda n: replace(n, type=VECTOR), "is of type"),
        (gprob.Apply, lambda n: replace(n, type=VECTOR), "is of type int, not vector"),
        (gprob.Apply, lambda n: replace(n, arguments=n.arguments[:1] * 3), "takes no"),
        (gprob.CallUser, lambda n: replace(n, arguments=(gprob.int_const(1, n.span),)), "x is of type real, not int"),
        (gprob.Declare, lambda n: replace(n, name="y"), "y is bound a second time"),
        (gprob.Declare, lambda n: replace(n, sized=gprob.Sized(INT)), "not a real"),
        (gprob.For, lambda n: replace(n, lanes=True), "lanes may not be set in phase TRACKED"),
        (gprob.For, lambda n: replace(n, name="y"), "y is bound a second time"),
        (gprob.For, lambda n: _bounded(n, gprob.Var(INT, n.span, "N")), "has a bound that its body changes"),
        (gprob.For, lambda n: gprob.ForEach(n.span, n.name, REAL, n.upper, n.body), "may not stand in phase TRACKED"),
        (gprob.Var, lambda n: gprob.TargetValue(REAL, n.span), "may not stand in phase TRACKED"),
        (gprob.Const, lambda n: replace(n, span=None), "has no span"),
    ],
)
def test_what_is_broken_is_told(made, kind, change, message):
    with pytest.raises(verify.Unverified, match=message):
        verify.program(changed(made, kind, change), Phase.TRACKED)


def test_what_was_verified_is_verified_again_for_others(made):
    """In another phase, where other variables are bound, beside other functions, and after it has failed."""
    functions, given = {f.name: f for f in made.functions}, blocks(made)["model"].given
    other = {n: replace(f, parameters=(replace(f.parameters[0], type=INT),)) for n, f in functions.items()}
    less = {n: t for n, t in given.items() if n != "y"}
    for phase, bound, called, message in (
        (Phase.SPECIALISED, given, functions, "is not decided"), (Phase.TRACKED, less, functions, "y is not bound"),
        (Phase.TRACKED, given, other, "x is of type int, not real"),
    ):  # fmt: skip
        verify.body(made.model, Phase.TRACKED, given, functions)
        for _ in range(2):
            with pytest.raises(verify.Unverified, match=message):
                verify.body(made.model, phase, bound, called)


UNDECIDED = """data { int N; array[N] real y; array[N] vector[2] x; } parameters { real<lower=0> mu; }
model {
  vector[2] z;
  z = x[1];
  z[1] = N && mu > 1 ? mu : 1;
  if (mu > 1 || N > 2) target += y[1] * mu;
  while (z[2] > 1) z[2] /= 2;
  for (n in 1:N) y[n] ~ normal(sum(x[n]) + z[1], 1);
  real s = 0;
  for (n in 1:N) { s = mu * s + y[n]; y[n] ~ normal(s, 1); }
}"""


@pytest.fixture(scope="module", params=["numpyro", "pyro"])
def decided(request):
    options, names = pipeline.Options(request.param), Fresh()
    program = pipeline.compile_program(pipeline.analyse(Source("p.stan", UNDECIDED))[0], options, names)
    return program, pipeline.specialised(program, options, names)


def test_all_is_decided_before_emission(decided):
    """Each field of `verify.DECIDED` that the program has is there, and none of them was before the last stage."""
    program, made = decided
    given, seen = blocks(program)["model"].given, set()
    for node in traversal.walk(made.blocks["model"]):
        for name in verify.COMPLETED.get(type(node), ()):
            seen.add((type(node), name))
            body = traversal.rewrite(made.blocks["model"], _without(node, name))
            with pytest.raises(verify.Unverified, match=f"{name} is not decided"):
                verify.body(body, Phase.SPECIALISED, given, {})
    known = {(kind, name) for kind, names in verify.COMPLETED.items() for name in names}
    assert known - seen == {(gprob.Last, "copied")}


def _without(node, name):
    """What takes one decision away from a node."""
    return lambda n: replace(n, **{name: None}) if n is node else n


def test_nothing_is_decided_before(made):
    for kind, change in (
        (gprob.Apply, lambda n: replace(n, plain=False)), (gprob.For, lambda n: replace(n, runs=gprob.Loop.STATIC)),
        (gprob.Observe, lambda n: replace(n, of_data=False)),
    ):  # fmt: skip
        with pytest.raises(verify.Unverified, match="may not be set in phase TRACKED"):
            verify.program(changed(made, kind, change), Phase.TRACKED)


def test_a_pass_that_breaks_a_promise_is_named(monkeypatch):
    """Every translation in the tests is verified after every pass."""
    first = pipeline.PASSES[0]
    broken = replace(first, run=lambda program, names: program)
    monkeypatch.setattr(pipeline, "OVER_PROGRAM", (broken, *pipeline.OVER_PROGRAM[1:]))
    with pytest.raises(verify.Unverified, match="after normalize: ForEach in line 3"):
        pipeline.translate(Source("p.stan", PROGRAM), "p", pipeline.Options())


def test_the_phases_of_the_table_follow_one_another():
    for before, after in zip(pipeline.PASSES, pipeline.PASSES[1:]):
        assert before.takes <= before.gives <= after.takes
        assert before.over_bodies <= after.over_bodies or after is pipeline.SPECIALISE
    assert pipeline.PASSES[-1] is pipeline.SPECIALISE
    from stanimport.passes import loops

    assert [p.name for p in pipeline.OVER_BODIES if p.name in loops.PASSES] == list(loops.PASSES)


@pytest.mark.parametrize("name", [p.name for p in pipeline.PASSES])
def test_a_pass_is_left_out_or_refused_by_name(name):
    source, options = Source("p.stan", PROGRAM), pipeline.Options(without=frozenset([name]))
    if name in pipeline.OPTIONAL:
        assert "def model" in pipeline.translate(source, "p", options).text
    else:
        with pytest.raises(ValueError, match=f"the pass '{name}' can't be left out"):
            pipeline.translate(source, "p", options)


def test_an_unknown_pass_or_stage_is_refused():
    source = Source("p.stan", PROGRAM)
    with pytest.raises(ValueError, match="no pass 'lanse'; did you mean 'lanes'"):
        pipeline.translate(source, "p", pipeline.Options(without=frozenset(["lanse"])))
    with pytest.raises(ValueError, match="no stage 'lans'"):
        pipeline.dump("lans", source, "p", pipeline.Options())


def test_every_stage_shows_the_program():
    source = Source("p.stan", PROGRAM)
    shown = {s: pipeline.dump(s, source, "p", pipeline.Options()) for s in (*pipeline.STAGES, *pipeline.ALIASES)}
    assert "for v in y" in shown["scheme"] and "for _v in 1:size(y)" in shown["normalize"]
    assert "lanes n in 1:N" in shown["lanes"] and "lanes n" not in shown["sinking"]
    assert shown["loops"] == shown["predictors"] and shown["gprob"] == shown["target_reads"]


def test_the_schemes_and_backends_that_may_be_chosen_are_those_that_there_are():
    assert settings.SCHEMES == tuple(pipeline.SCHEMES) and settings.BACKENDS == tuple(pipeline.TARGETS)
