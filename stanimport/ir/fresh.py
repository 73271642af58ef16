"""The names that the translation makes: one supply for a program, and nobody else makes any.

Stan's identifiers are letters, digits and underscores, begin with a letter and don't end in two underscores. Names that
are made here can't be such: those of helper variables begin with an underscore, and what tells the second bearer of a
name from the first is a quote (`x'2`). So no program's identifiers, however they are chosen, meet a name of ours.
"""
from __future__ import annotations

from collections.abc import Iterable

_MARK = "'"


class Fresh:
    """Hands out names of variables, functions and sites that nothing else in a program has."""

    def __init__(self) -> None:
        self._names = _Pool(_MARK)
        self._sites = _Pool("__")

    def helper(self, like: str) -> str:
        """A variable that the program does not have, called after what it is for, or after a variable: `_each`."""
        return self._names.new(f"_{stem(like).lstrip('_')}")

    def again(self, name: str) -> str:
        """The name itself for the first that asks for it, for those of other scopes one with a number: `x`, `x'2`."""
        return self._names.new(name)

    def site(self, name: str) -> str:
        """The name of a site, in numpyro's and Pyro's traces: `y`, `y__2`.

        Stan's identifiers may look like that: those of the program's own sites must have been told by `occupy`.
        """
        return self._sites.new(name)

    def occupy(self, sites: Iterable[str]) -> None:
        """No site gets one of these names."""
        self._sites.taken.update(sites)

    def keep(self, sites: Iterable[str]) -> None:
        """These names are for who asks for them as they are: no number behind another name makes one of them."""
        self._sites.kept.update(sites)


def stem(name: str) -> str:
    """What a name was made of: the Stan name of a variable or function, that of a helper without its number."""
    return name.partition(_MARK)[0]


def is_helper(name: str) -> bool:
    """Whether a variable is the translation's own."""
    return name.startswith("_")


class _Pool:
    """Names of one kind, each handed out once."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.taken: set[str] = set()
        self.kept: set[str] = set()
        self.last: dict[str, int] = {}

    def new(self, name: str) -> str:
        made, number = name, self.last.get(name, 1)
        while made in self.taken or made != name and made in self.kept:
            number += 1
            made = f"{name}{self.mark}{number}"
        self.taken.add(made)
        self.last[name] = number
        return made
