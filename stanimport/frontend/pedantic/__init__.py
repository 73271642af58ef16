"""Warnings of what is allowed but seldom meant, by the cases of stanc's pedantic mode.

Source: Stan User's Guide, "Stan's pedantic mode".
"""
from __future__ import annotations

from ...errors import Diagnostic
from ...ir import typed
from . import assigned, declarations, densities, priors, statements
from .dependence import analyse

RULES = (declarations.rule, assigned.rule, statements.rule, priors.rule, densities.rule)


def warnings(program: typed.TypedProgram) -> list[Diagnostic]:
    """The warnings about a checked program, in the order of its text, each once."""
    facts = analyse(program)
    found = {(d.span.source.name, d.span.start, d.span.end, d.message): d for rule in RULES for d in rule(facts)}
    return sorted(found.values(), key=lambda d: (d.span.in_main().start, d.span.start))
