"""Networks: functions that Python modules implement, some of whose parameters may be parameters of the program.

A call passes the values of a network's lifted parameters (`real mlp.l1.weight[nh, nx];`) behind its own arguments, so
that every pass sees what it depends on. Source: section 5 of the paper, "Bayesian networks".
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from stanlib.types import REAL, scalar_of

from ..errors import Diagnostic, StanSemanticError, nearest
from ..ir import gprob, traversal, typed

_STATIC_BLOCKS = ("transformed data",)


def with_lifted_arguments(program: typed.TypedProgram) -> tuple[typed.TypedProgram, tuple[gprob.Network, ...]]:
    """The program with the lifted parameters as arguments of its networks' calls, and the networks.

    Raises:
        StanSemanticError: for parameters of unknown networks, and calls where a network can't be called.
    """
    lifted = _lifted(program)
    errors = [*_unknown(program, lifted), *_not_of_reals(lifted), *_misplaced_calls(program, lifted)]
    if errors:
        raise StanSemanticError(errors)
    values = {n.name: tuple(_value(s) for s in lifted.get(n.name, ())) for n in program.networks}

    def change(node: object) -> object:
        if isinstance(node, gprob.CallUser) and values.get(node.function):
            return replace(node, arguments=(*node.arguments, *values[node.function]))
        return node

    blocks = {name: tuple(traversal.rewrite(body, change)) for name, body in program.blocks.items()}
    return replace(program, blocks=blocks), tuple(_network(n, lifted.get(n.name, ())) for n in program.networks)


def _lifted(program: typed.TypedProgram) -> dict[str, tuple[gprob.Declare, ...]]:
    """The parameters with dotted names, by the network that they belong to."""
    out: dict[str, tuple[gprob.Declare, ...]] = {}
    for s in program.block("parameters"):
        if isinstance(s, gprob.Declare) and s.site is not None and "." in s.site:
            network = s.site.partition(".")[0]
            out[network] = (*out.get(network, ()), s)
    return out


def _value(s: gprob.Declare) -> gprob.Expr:
    return gprob.Var(s.sized.type, s.span, s.name)


def _network(n: gprob.External, lifted: Iterable[gprob.Declare]) -> gprob.Network:
    paths = tuple(str(s.site).partition(".")[2] for s in lifted)
    return gprob.Network(n.name, n.path, n.parameters, n.result, n.span, paths)


def _unknown(program: typed.TypedProgram, lifted: dict[str, tuple[gprob.Declare, ...]]) -> Iterator[Diagnostic]:
    known = [n.name for n in program.networks]
    for name, parameters in lifted.items():
        if name not in known:
            similar = nearest(name, known)
            hint = f"did you mean {similar!r}?" if similar else "declare it in a block networks"
            yield Diagnostic(f"there is no network {name!r}", parameters[0].span, hint, code="scope")


def _not_of_reals(lifted: dict[str, tuple[gprob.Declare, ...]]) -> Iterator[Diagnostic]:
    for s in (s for parameters in lifted.values() for s in parameters):
        if scalar_of(s.sized.type) != REAL:
            message = f"the parameters of a network are arrays of reals, not {s.sized.type}"
            yield Diagnostic(message, s.span, code="type")


def _misplaced_calls(program: typed.TypedProgram, lifted: dict[str, tuple[gprob.Declare, ...]]) -> Iterator[Diagnostic]:
    keys = {n.name for n in program.networks}
    for block in _STATIC_BLOCKS:
        for node in _calls(program.block(block), keys):
            yield Diagnostic(f"a network can't be called in {block}", node.span, code="place")
    for f in program.functions:
        for node in _calls(f.body, keys & lifted.keys()):
            message = f"{node.function!r} has parameters of the program, which functions don't know"
            yield Diagnostic(message, node.span, "call it in the model and pass on its result", code="place")


def _calls(body: tuple[gprob.Stmt, ...], keys: set[str]) -> Iterator[gprob.CallUser]:
    return (n for n in traversal.walk(body) if isinstance(n, gprob.CallUser) and n.function in keys)
