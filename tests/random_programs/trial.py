"""One program on trial: what Stan says, what each of our translations says, and how they differ."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stanimport.pipeline import OPTIONAL
from stanlib.errors import StanError

from .program import RandomProgram
from .referee import compiled, ours
from .referee.containers import Unable
from .referee.outcome import Outcome, accepted, differences
from .referee.stan import Refused, Stan, Unsupported, approximates_gradients
from .referee.walk import Walker

POINTS = 2
WALKED = "statement by statement"
APPROXIMATE = "Stan's gradient is approximate"


@dataclass(frozen=True)
class Way:
    """One of our translations: backend, scheme, passes left out; on NumPyro compiled by XLA or interpreted.

    `parts` are what is compared besides the log density. In `blocks` the density is computed in blocks of a few rows;
    `scanned`, loops are scans however short.
    """

    backend: str = "numpyro"
    scheme: str = "mixed"
    without: tuple[str, ...] = ()
    jit: bool = True
    parts: tuple[str, ...] = ours.PARTS
    blocks: bool = False
    scanned: bool = False

    def __str__(self) -> str:
        left_out = (
            "no passes" if self.without == OPTIONAL else f"without {self.without[0]}" if self.without else "all passes"
        )
        return f"{self.backend}, {self.scheme}, {left_out}{'' if self.jit else ', interpreted'}" + (
            ", blocks" if self.blocks else ""
        ) + (", scanned" if self.scanned else "")


LEFT_OUT: tuple[tuple[str, ...], ...] = ((), OPTIONAL, *((p,) for p in OPTIONAL))
WAYS = tuple(Way(b, s, w) for b in ("numpyro", "pyro") for s in ("mixed", "comprehensive") for w in LEFT_OUT)
FIRST = (Way(), Way("pyro"))
THOROUGH = [w if w in FIRST or w.backend == "pyro" else replace(w, jit=False) for w in WAYS]
PLAIN = Way("pyro", "comprehensive", OPTIONAL)  # statement by statement
PLAIN_JAX = Way("numpyro", "comprehensive", OPTIONAL, jit=False)


@dataclass
class Verdict:
    """How a program fared: "same", "rejected" (Stan throws at each point), "unrefereed", "differs" or "refused".

    `found` holds the differences by translation; `referee` tells who was compared with: "Stan" by stanli, "Stan's
    compiler", the plain evaluation "statement by statement", or "ourselves".
    """

    what: str
    found: dict[str, list[str]] = field(default_factory=dict)
    referee: str = "Stan"
    reason: str = ""


def rotation(number: int) -> Iterator[Way]:
    """The translations that a program of the tests gets: the default on both backends, and others by turns.

    Two of three are interpreted on NumPyro, which takes a fifth of the time of XLA.
    """
    yield replace(FIRST[0], jit=number % 3 == 0)
    yield FIRST[1]
    others = [w for w in WAYS if w not in FIRST]
    quick = [w for w in others if w.backend == "pyro"]
    yield quick[number % len(quick)]
    slow = [w for w in others if w.backend == "numpyro"]
    yield replace(slow[number // 2 % len(slow)], jit=number % 6 == 1)


def drawn(name: str) -> Way:
    """The one translation that a program of a long run gets, by its name; dear ones more seldom.

    Of a hundred, 62 are Pyro's, 36 NumPyro's interpreted (half with the gradient, half with the variables) and 2
    NumPyro's compiled; of each half are of either scheme, 50 have all passes, 14 none, and 36 one left out. Of half of
    NumPyro's all loops are scans.
    """
    draw = random.Random(f"way of {name}")
    kind = draw.choices(("pyro", "interpreted", "compiled"), (62, 36, 2))[0]
    without = draw.choices(((), OPTIONAL, (draw.choice(OPTIONAL),)), (50, 14, 36))[0]
    scheme = draw.choice(("mixed", "comprehensive"))
    parts = (draw.choice(ours.PARTS),) if kind == "interpreted" else ours.PARTS
    scanned = kind != "pyro" and draw.random() < 0.5
    return Way("pyro" if kind == "pyro" else "numpyro", scheme, without, kind != "interpreted", parts, scanned=scanned)


def divided(name: str) -> Way:
    """The translation whose density is computed in blocks, for a program by its name; XLA compiles one of twenty."""
    draw = random.Random(f"blocks of {name}")
    scheme = draw.choice(("mixed", "comprehensive"))
    return Way(scheme=scheme, jit=draw.random() < 0.05, parts=("gradient",), blocks=True)


def few(name: str) -> list[Way]:
    """The translations that a nest of loops gets, by its name: on both backends with all passes, and another."""
    draw = random.Random(f"way of {name}")
    parts = (ours.PARTS[draw.random() < 0.3],)
    other, scanned = draw.choice(WAYS), draw.random() < 0.7
    made = [replace(w, jit=False, parts=parts, scanned=scanned) for w in (FIRST[0], other)]
    return [FIRST[1], made[0], other if other.backend == "pyro" else made[1]]


def several(name: str) -> list[Way]:
    """The translations that a composition gets, by its name: on both backends with all passes, and another."""
    draw = random.Random(f"way of {name}")
    other = draw.choice([w for w in WAYS if w not in FIRST])
    made = [replace(w, jit=False, scanned=draw.random() < 0.3) for w in (FIRST[0], other)]
    return [FIRST[1], made[0], other if other.backend == "pyro" else made[1]]


def ways_of(name: str, mode: str) -> list[Way]:
    """The translations that a program of a long run gets, by its name; see `workers.MODES`."""
    if mode == "nests":
        return few(name)
    if mode == "compositions":
        return several(name)
    return THOROUGH if mode == "thorough" else [divided(name) if mode == "blocks" else drawn(name)]


def points(size: int, seed: str) -> list[np.ndarray]:
    draw = random.Random(seed)
    return [np.array([round(draw.gauss(0.1, 0.8), 3) for _ in range(size)]) for _ in range(POINTS)]


def judged(program: RandomProgram, ways: Sequence[Way], name: str, mode: str, arbiter: str = "never") -> Verdict:
    """The verdict on a program of a mode.

    Nests of loops are evaluated statement by statement, as stanli takes long for them and its loops have faults; of
    ten of them one is stanli's too, and what it alone differs in is the same. Where stanli alone throws, as for a
    number beside an empty container, or has another gradient of the same density, as of distribution functions by
    shapes, compositions are evaluated statement by statement, too.
    """
    if mode == "compositions":
        verdict = trial(program, ways, name, arbiter)
        lines = [line for found in verdict.found.values() for line in found]
        if lines and all(line.startswith(("accepted", "gradient")) for line in lines):
            return without_stanli(program, ways, name, "stanli alone throws, or has another gradient", arbiter)
        return verdict
    if mode != "nests":
        return trial(program, ways, name, arbiter)
    if random.Random(f"referee of {name}").random() < 0.1:
        verdict = trial(program, ways, name, arbiter)
        if verdict.what != "differs":
            return verdict
    return without_stanli(program, ways, name, "a nest of loops", arbiter)


def trial(program: RandomProgram, ways: Sequence[Way], seed: str, arbiter: str = "never") -> Verdict:
    """The verdict on a program, by some of our translations.

    What stanli can't run is evaluated statement by statement. Where stanli and a translation differ, stanli is asked
    again without its optimizations, but not where Stan's own gradient is approximate: the slope of the density decides
    there. Stan's own compiler decides then where the `arbiter` is asked "at last"; "at once" it takes the place of
    stanli where that can't run a program.
    """
    try:
        stan = Stan(program.stan_text, program.data)
    except Refused as e:
        return Verdict("refused", reason=str(e))
    except Unsupported as e:
        if arbiter == "at once":
            at = points(_size(program) or 0, seed)
            return _by_compiler(program, _runs(program, ways, at), at, seed)
        return without_stanli(program, ways, seed, str(e), arbiter)
    if "wild" in program.features and not stan.has_variables:
        return without_stanli(program, ways, seed, "stanli computes no variables, where Stan may throw", arbiter)
    at = points(stan.size, seed)
    expected = _at(stan, program, at)
    if not _tells(program, expected):
        return Verdict("rejected", reason=expected[0].rejected or "not finite")
    runs = _runs(program, ways, at)
    verdict = _compared(program, runs, expected, "Stan")
    if verdict.what != "differs":
        return verdict
    if approximates_gradients(program.stan_text):
        return without_stanli(program, ways, seed, APPROXIMATE, arbiter)
    try:
        plain = Stan(program.stan_text, program.data, optimized=False)
    except Unsupported as e:
        if "wild" in program.features:  # which may throw where stanli leaves out what nothing reads
            return without_stanli(program, ways, seed, str(e), arbiter)
        return verdict if arbiter == "never" else _by_compiler(program, runs, at, seed, str(e))
    if "wild" in program.features and not plain.has_variables:
        return without_stanli(program, ways, seed, "stanli computes no variables, where Stan may throw", arbiter)
    verdict = _compared(program, runs, _at(plain, program, at), "Stan")
    if verdict.what == "differs" and any(s.contradicts_itself(s.at(p), p) for s in (stan, plain) for p in at):
        return without_stanli(program, ways, seed, "stanli contradicts itself", arbiter)
    if verdict.what == "differs" and arbiter != "never":
        return _by_compiler(program, runs, at, seed)
    return verdict


def _tells(program: RandomProgram, expected: list[Outcome]) -> bool:
    """Whether there is anything to compare with: numbers, or that a wild program throws."""
    if any(e.is_finite for e in expected):
        return True
    return "wild" in program.features and (bool(expected[0].rejected) or any(e.throws_in_quantities for e in expected))


def _runs(program: RandomProgram, ways: Sequence[Way], at: list[np.ndarray]) -> dict[Way, list[Outcome]]:
    return {way: _run(program, way, at) for way in ways}


def _at(stan: Stan | Walker, program: RandomProgram, at: list[np.ndarray]) -> list[Outcome]:
    return [without_random(stan.at(p), program) for p in at]


def _by_compiler(
    program: RandomProgram, runs: dict[Way, list[Outcome]], at: list[np.ndarray], seed: str, reason: str = ""
) -> Verdict:
    """The verdict of Stan's own compiler."""
    try:
        expected = compiled.outcomes(program.stan_text, program.data, at)
    except compiled.Failed as e:
        return without_stanli(program, list(runs), seed, f"{reason} {e}")
    if not _tells(program, expected):
        return Verdict("rejected", {}, "Stan's compiler", expected[0].rejected or "not finite")
    verdict = _compared(program, runs, [without_random(e, program) for e in expected], "Stan's compiler")
    if verdict.what == "differs" and approximates_gradients(program.stan_text):
        return without_stanli(program, list(runs), seed, APPROXIMATE)
    return verdict


def without_stanli(
    program: RandomProgram, ways: Sequence[Way], seed: str, reason: str, arbiter: str = "never"
) -> Verdict:
    """The verdict of what evaluates a program statement by statement; of Stan's compiler where that differs."""
    try:
        walker = Walker(program.text, program.data)
        at = points(walker.size, seed)
        expected = [without_random(walker.outcome(p, seed), program) for p in at]
    except Unable as e:
        return among_ourselves(program, ways, seed, f"{reason} | {e}")
    except StanError as e:
        expected, at = [Outcome(rejected=str(e))], [np.zeros(0)]
    if not _tells(program, expected):
        return Verdict("rejected", {}, WALKED, expected[0].rejected or "not finite")
    runs = _runs(program, ways, at)
    verdict = _compared(program, runs, expected, WALKED)
    if verdict.what == "differs" and arbiter != "never":
        return _by_compiler(program, runs, at, seed, reason)
    return verdict


def among_ourselves(program: RandomProgram, ways: Sequence[Way], seed: str, reason: str) -> Verdict:
    """The verdict of the plain translation, where nobody else has one: also on that of the other backend."""
    at = points(_size(program) or 0, seed)
    expected = _run(program, PLAIN, at)
    if any(e.rejected for e in expected):
        if all(", line " in e.rejected for e in expected if e.rejected):
            return Verdict("rejected", {}, "ourselves", expected[0].rejected)
        return Verdict("differs", {str(PLAIN): [f"raised: {expected[0].rejected}"]}, "ourselves", reason)
    verdict = _compared(program, _runs(program, [*ways, PLAIN_JAX], at), expected, "ourselves")
    return Verdict("unrefereed", {}, "ourselves", reason) if verdict.what == "same" else verdict


def _size(program: RandomProgram) -> int | None:
    """How many unconstrained parameters there are, by the plain evaluation or translation; None if none has them."""
    from stanimport.inference.methods.pyro_methods import Density

    try:
        return Walker(program.text, program.data).size
    except Exception:
        pass
    try:
        with ours._double("pyro"):
            return Density(ours.translated(program.text, PLAIN.backend, PLAIN.scheme, PLAIN.without), program.data).size
    except Exception:
        return None


def _compared(
    program: RandomProgram, runs: dict[Way, list[Outcome]], expected: list[Outcome], referee: str
) -> Verdict:
    found = {}
    for way, got in runs.items():
        wrong = differences(got, expected)
        if "wild" in program.features:
            wrong += accepted(got, expected)
        if wrong:
            found[str(way)] = wrong
    return Verdict("differs" if found else "same", found, referee)


def _run(program: RandomProgram, way: Way, at: list[np.ndarray]) -> list[Outcome]:
    made = ours.outcomes(program.text, program.data, at, way.backend, way.scheme, way.without, way.jit, way.parts,
                         way.blocks, way.scanned)  # fmt: skip
    return [without_random(o, program) for o in made]


def base(name: str) -> str:
    """The variable that an entry belongs to."""
    return re.split(r"[\[.:]", name, maxsplit=1)[0]


def without_random(outcome: Outcome, program: RandomProgram) -> Outcome:
    """The outcome with zeros for what is drawn at random, if it is finite."""
    if outcome.values is not None:
        drawn = {n for n, v in outcome.values.items() if base(n) in program.random and math.isfinite(v)}
        outcome.values = {n: 0.0 if n in drawn else v for n, v in outcome.values.items()}
    return outcome
