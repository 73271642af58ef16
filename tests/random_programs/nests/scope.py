"""What is in scope at a place of a nest of loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from ..choices import Choices

REAL, INT = "real", "int"
VECTOR, REALS, INTS = "vector", "array[] real", "array[] int"
MATRIX, VECTORS = "matrix", "array[] vector"
GRID, MATRICES = "array[,] vector", "array[] matrix"  # three sizes
DEEP = (MATRIX, VECTORS, GRID, MATRICES)
ANY = ("free", "sum", "last")
LONGEST = 48  # iterations of all loops around a statement


@dataclass(frozen=True)
class Int:
    """An int that can be read, and between what it is; `static` where it depends on data alone.

    Where no iteration reaches it `low` is above `high`, and it fits everywhere.
    """

    text: str
    low: int
    high: int
    static: bool = True

    def fits(self, low: int, high: int) -> bool:
        return self.low > self.high or low <= self.low and self.high <= high

    def moved(self, by: int) -> "Int":
        return Int(f"{self.text} {'+' if by > 0 else '-'} {abs(by)}", self.low + by, self.high + by, self.static)


@dataclass(frozen=True)
class Size:
    """A size as the program writes it, and what it is."""

    text: str
    value: int


@dataclass
class Variable:
    """A variable in scope.

    Attributes:
        low, high: of an int or an array of ints, what it does not leave.
        static: whether it depends on data alone.
        assignable: whether statements may change it.
        use: what the loop around does with it: "free", or "sum" and "last" for what it only adds to, or assigns to, and
            does not read.
        room: of a counter, how many more times it may be added to without a look at its bound; None for others.
    """

    name: str
    kind: str
    sizes: tuple[Size, ...] = ()
    low: int = 0
    high: int = 0
    static: bool = False
    assignable: bool = False
    use: str = "free"
    room: int | None = None
    loops: int = 1  # how many iterations there are around its declaration


@dataclass(frozen=True)
class Function:
    """A function of the program's own: of a vector of N elements, a real number and an int from 0 to N.

    Attributes:
        adds: whether it adds to the target.
        gives: "real", "vector" (of N elements) or "void".
        first: the kind of its first argument, a vector of N elements or a matrix of N rows and M columns.
    """

    name: str
    adds: bool
    gives: str = "real"
    first: str = VECTOR


@dataclass
class Place:
    """A place in a nest.

    Attributes:
        features: the kinds of statements that the program may have, and whether parameters decide what runs.
        dynamic: whether parameters decide if this place is reached.
        around: how many iterations there are around it at most, and `depth` how many loops; `level` counts
            branches and blocks too.
        most: how many statements a body has at most.
        breakable, escapes: whether `break` and `continue` may stand here, and whether parameters may decide about them.
        returns: what `return` gives here: "real", "vector", "void"; empty where it may not stand.
        target: whether statements may add to the target.
        data_only: whether there are no parameters.
        taken: the names that are seen here.
    """

    choices: Choices
    names: "Names"
    sizes: dict[str, Size]
    features: frozenset[str] = frozenset()
    variables: list[Variable] = field(default_factory=list)
    indices: list[Int] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    dynamic: bool = False
    around: int = 1
    depth: int = 0
    level: int = 0
    most: int = 3
    breakable: bool = False
    escapes: bool = False
    returns: str = ""
    target: bool = False
    data_only: bool = False
    taken: frozenset[str] = frozenset()

    def fresh(self, letter: str) -> str:
        """A name for what is declared here, perhaps one that is used elsewhere too."""
        again = [n for n in self.names.made if n[0] == letter and n not in self.taken]
        is_reused = "names again" in self.features and again and self.choices.chance(50)
        name = self.choices.pick(again[::-1]) if is_reused else self.names.fresh(letter)
        self.taken |= {name}
        return name

    def inner(self, **changes: object) -> "Place":
        """A place inside this one: what it declares is not seen outside."""
        given = {"level": self.level + 1, "variables": list(self.variables), "indices": list(self.indices), **changes}
        return replace(self, **given)  # type: ignore[arg-type]

    def having(self, test: Callable[[Variable], bool]) -> list[Variable]:
        return [v for v in self.variables if test(v)]

    def of(self, *kinds: str) -> list[Variable]:
        """The variables of some kinds that may be read."""
        return self.having(lambda v: v.kind in kinds and v.use == "free")

    def assignable(self, *kinds: str, uses: tuple[str, ...] = ("free",)) -> list[Variable]:
        """The variables of some kinds that statements may change here, the latest first."""
        known = self.having(lambda v: v.assignable and v.kind in kinds and not (v.static and self.is_decided))
        return [v for v in known[::-1] if v.use in uses]

    @property
    def has_dynamic(self) -> bool:
        """Whether parameters may decide what runs here."""
        return "dynamic" in self.features and not self.data_only

    @property
    def is_decided(self) -> bool:
        """Whether what is assigned here depends on parameters, by whether it is reached."""
        return self.dynamic or self.escapes


@dataclass
class Names:
    """Short names, all that were made."""

    made: list[str] = field(default_factory=list)

    def fresh(self, letter: str) -> str:
        self.made.append(f"{letter}{len(self.made) + 1}")
        return self.made[-1]


def indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]
