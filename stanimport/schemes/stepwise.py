"""Laws of a parameter's elements that read other elements, or stand in loops of any form, as one law of the parameter.

`z[1] ~ normal(0, 1); for (t in 2:T) z[t] ~ normal(a * z[t - 1], s);` becomes `z ~ z_law(T, a, s);` and three functions
that are made of these statements: one returns the log density of z, the sum of those of the elements given others, one
draws the elements in the order of the statements, and one, of data alone, raises an error unless every element has one
law, which reads elements that have been drawn before it.
"""
from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from stanlib import constraints
from stanlib.dataclass import dataclass
from stanlib.types import INT

from ..ir import gprob, traversal
from ..ir.fresh import Fresh
from ..ir.uses import breaks, counts, declared, defines, depending, mentions, walk_statements
from . import drawing, free, stepped
from .dependence import access
from .priors import NoPrior
from .stepped import Made, refused

Stmts = tuple[gprob.Stmt, ...]
_NESTED = "loops and conditions around laws of elements must be of data alone, so that it is known what is drawn"


@dataclass
class _Law:
    """A parameter, the statements that hold laws of its elements, and their places among the statements around."""

    parameter: gprob.Sample
    positions: list[int]
    body: Stmts
    laws: list[gprob.Observe] = field(default_factory=list)

    @property
    def statements(self) -> Stmts:
        return tuple(self.body[i] for i in self.positions)


def gather(
    body: Sequence[gprob.Stmt], parameters: Mapping[str, gprob.Sample], networks: frozenset[str], names: Fresh
) -> tuple[Stmts, tuple[gprob.FunDef, ...]]:
    """The statements with one sample for every parameter whose elements have laws, and the functions of these.

    Raises:
        StanSemanticError: naming the law of an element that can't be drawn.
    """
    made, functions = tuple(body), []
    for name, parameter in parameters.items():
        found = [i for i, s in enumerate(made) if any(True for _ in _laws_in(s, name))]
        if not found or any(_is_whole(s, name) for s in walk_statements(made)):
            continue
        law = _Law(parameter, found, made, [o for i in found for o in _laws_in(made[i], name)])
        dynamic = _dynamic(made, parameters)
        _verify(law, dynamic, networks)
        whole = stepped.Stepped(parameter, law.statements, dynamic, made, names)
        density, draw, order = *whole.law(), whole.order()
        functions += [f.definition for f in (density, draw, order)]
        made = _replaced(law, density, draw, order, names)
    return made, tuple(functions)


def is_of_part(s: gprob.Stmt, name: str) -> bool:
    """Whether a statement is the law of a part of a parameter."""
    return isinstance(s, gprob.Observe) and stepped.root(s.value) == name and isinstance(s.value, gprob.Index)


def _laws_in(s: gprob.Stmt, name: str) -> Iterator[gprob.Observe]:
    for inner in walk_statements((s,)):
        if isinstance(inner, gprob.Observe) and is_of_part(inner, name):
            yield inner


def _is_whole(s: gprob.Stmt, name: str) -> bool:
    return isinstance(s, gprob.Observe) and free.about(s.value, s.distribution)[1] == name


def _dynamic(body: Stmts, parameters: Mapping[str, gprob.Sample]) -> set[str]:
    """The variables that are known only once parameters are."""
    return depending(body, [*parameters, *(s.name for s in body if isinstance(s, gprob.Param))])


# --- what can't be drawn ---------------------------------------------------------------------------------------------


def _verify(law: _Law, dynamic: set[str], networks: frozenset[str]) -> None:
    """Raises StanSemanticError: naming a law of an element, or a statement around it, that can't be drawn."""
    sizes = {len(stepped.singles(o.value) or ()) for o in law.laws}
    for o in law.laws:
        _verify_part(law.parameter, o)
    for o in law.laws:
        if stepped.singles(o.value) is None:
            raise refused("the law of a slice can't be sampled", o, "write a loop over its elements")
        if len(sizes) > 1:
            raise refused(f"the laws of the elements of {law.parameter.site} are of parts of different sizes", o)
        if mentions(stepped.singles(o.value) or (), dynamic):
            raise refused("which element this samples depends on parameters", o)
        _verify_drawn(law.parameter, o)
    for s in law.statements:
        _verify_control(s, law.parameter.name, dynamic)
        _verify_left(s, dynamic)
        for node in traversal.walk(s):
            if isinstance(node, gprob.CallUser) and node.function in networks:
                hint = "keep what it computes in a variable before the loop"
                raise refused("a network can't be called beside laws of elements", s, hint)
    _verify_between(law)


def _verify_part(parameter: gprob.Sample, o: gprob.Observe) -> None:
    """Raises StanSemanticError: for a part of what is constrained as a whole, as a column of a stochastic matrix."""
    c = parameter.constraint
    if c is None or c.kind in constraints.PLAIN:
        return
    indices, around = stepped.singles(o.value), len(parameter.sized.shape) - constraints.get(c.kind).event_dims
    if indices is None or len(indices) > around:
        hint = "give the whole a law, or leave it out; rows and columns of their own are an array of simplexes"
        message = f"parts of {parameter.site}, which is constrained as a whole ({c.kind}), can't have laws"
        raise refused(message, o, hint)


def _verify_drawn(parameter: gprob.Sample, o: gprob.Observe) -> None:
    """Raises StanSemanticError: for a law that is none of an element on its domain, or without pathwise draws."""
    try:
        drawing.verify(parameter, o)
    except NoPrior as e:
        raise refused(f"the law {e.reason}, so that {parameter.site} can't be sampled from it", o, e.hint) from e


def _verify_control(s: gprob.Stmt, name: str, dynamic: set[str]) -> None:
    """What decides whether a law is reached must be of data alone."""
    if not any(True for _ in _laws_in(s, name)) or isinstance(s, gprob.Observe):
        return
    if isinstance(s, (gprob.While, gprob.ForEach)):
        raise refused("a loop of unknown length may not sample parameters", s, _NESTED)
    decides = (s.lower, s.upper) if isinstance(s, gprob.For) else (s.condition,) if isinstance(s, gprob.If) else ()
    if mentions(decides, dynamic):
        raise refused("what is sampled here depends on parameters", s, _NESTED)
    for inner in traversal.bodies(s):
        for nested in inner:
            _verify_control(nested, name, dynamic)


def _verify_left(s: gprob.Stmt, dynamic: set[str]) -> None:
    """What leaves a loop around laws must be decided by data alone."""
    for i in walk_statements((s,)):
        leaves = breaks((i,))
        if isinstance(i, gprob.If) and leaves and mentions(i.condition, dynamic):
            raise refused("what is sampled in the loop depends on parameters", i, _NESTED)


def _verify_between(law: _Law) -> None:
    """What stands between the laws of a parameter's elements must have nothing to do with them."""
    own = [access(s) for s in law.statements]
    reads = {n for a in own for n in a.reads}
    writes = {n for a in own for n in a.writes}
    between = [i for i in range(law.positions[0], law.positions[-1]) if i not in law.positions]
    written = [n for i in between for n in access(law.body[i]).writes]
    once = {n for i in between for n in defines(law.body[i]) if written.count(n) == 1}
    for i in between:
        other = access(law.body[i])
        if (other.writes - once) & (reads | writes) or other.writes & writes or other.reads & writes:
            site = law.parameter.site
            raise refused(f"this stands between laws of elements of {site}, and depends on them or they on it",
                          law.body[i], "move it before the first law, or behind the last")  # fmt: skip


# --- the sample ------------------------------------------------------------------------------------------------------


def _replaced(law: _Law, density: Made, draw: Made, order: Made, names: Fresh) -> Stmts:
    """The statements with the sample in the place of the last law, and what else stood in the loops behind it."""
    parameter, span = law.parameter, law.laws[-1].span
    tested = gprob.CallUser(INT, span, order.definition.name, order.arguments)
    test = gprob.Declare(span, names.helper("drawn"), gprob.Sized(INT), None, tested)
    made = gprob.Distribution(
        parameter.site, density.definition.name, density.arguments, drawn_by=draw.definition.name
    )
    rest = [s for s in (_without(s, parameter.name) for s in law.statements) if s is not None]
    last = law.positions[-1]
    before = [s for i, s in enumerate(law.body[:last]) if i not in law.positions]
    return (*before, test, replace(parameter, span=span, distribution=made), *rest, *law.body[last + 1 :])


def _without(s: gprob.Stmt, name: str) -> gprob.Stmt | None:
    """A statement without the laws of a parameter's elements; None if nothing is left that matters outside of it."""
    if is_of_part(s, name):
        return None
    if not traversal.bodies(s):
        return s
    made = traversal.with_bodies(s, lambda b: tuple(n for n in (_without(i, name) for i in b) if n is not None))
    own = declared((made,)) | {n for i in walk_statements((made,)) for n in counts(i)}
    outside = access(made).writes - own
    acts = any(isinstance(n, (gprob.Observe, gprob.Message)) for n in walk_statements((made,)))
    return made if outside or acts else None
