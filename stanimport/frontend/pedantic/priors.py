"""Priors: parameters that no term or several terms are the prior of, and parameters that no term depends on.

Terms and names form a graph. A term is a prior of a parameter if no data can be reached from it but through the
parameter.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator

from stanlib.types import INT

from ...errors import Diagnostic
from .dependence import Facts


def rule(facts: Facts) -> Iterator[Diagnostic]:
    """Warnings of parameters that the log density does not use, or that have no prior or several."""
    observed = {n for n, d in facts.data.items() if d.sized.type != INT}  # ints are mostly sizes
    relevant = observed | set(facts.parameters)
    terms = [t.names & relevant for t in facts.terms]
    for name, declared in facts.parameters.items():
        if not any(name in t for t in terms):
            message = f"parameter {declared.site!r} is not used in the log density"
            yield Diagnostic(message, declared.span, "", "warning", "unused-parameter")
            continue
        count = sum(_is_prior(i, name, terms, observed) for i, t in enumerate(terms) if name in t)
        if count == 0:
            hint = "a prior that depends on data is not seen as one"
            yield Diagnostic(f"parameter {declared.site!r} has no prior", declared.span, hint, "warning", "priors")
        elif count > 1:
            yield Diagnostic(f"parameter {declared.site!r} has {count} priors", declared.span, "", "warning", "priors")


def _is_prior(term: int, parameter: str, terms: list[frozenset[str]], observed: Iterable[str]) -> bool:
    seen: set[str] = set()
    frontier = set(terms[term]) - {parameter}
    while frontier:
        if frontier & set(observed):
            return False
        seen |= frontier
        frontier = {n for t in terms if t & frontier for n in t} - seen - {parameter}
    return True
