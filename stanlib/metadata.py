"""What a translated module says of itself: `module.stan`."""
from __future__ import annotations

from .dataclass import dataclass

POINTWISE = "pointwise"  # the scheme in which single observations stand apart where they can
SIMULATION = "simulation"  # the scheme in which discrete parameters are drawn, not summed out


@dataclass(frozen=True)
class Variable:
    """A program variable: its Stan name, type ("vector"), sizes as Stan expressions, declared constraint, and line.

    `constraint` is the name of a constrained type ("simplex", ...) or of bounds as they are written; `items` are the
    items of a tuple.
    """

    name: str
    type: str
    shape: tuple[str, ...] = ()
    constraint: str = ""
    declaration: str = ""
    line: int = 0
    items: tuple["Variable", ...] = ()


@dataclass(frozen=True)
class Program:
    """A Stan program as translated: what tools need to know of it.

    Attributes:
        name: the model's name.
        filename: the `.stan` file.
        backend, scheme: how it was translated.
        data, transformed_data, parameters, transformed_parameters, generated_quantities: its variables, in order.
        source: the Stan text.
        guide_parameters: what a guide learns.
        networks: the names of the neural networks that it calls.
        discrete_parameters: its `int` parameters, which are summed out; they are drawn with the generated quantities,
            among which they stand too.
        functions: its functions without a body, with the paths at which Python has them.
        includes: the files that it includes: what it calls them, and their texts.

    Examples:
        >>> coin = stanimport.load("models/coin.stan")
        >>> [(v.name, v.type, v.shape, v.constraint) for v in coin.stan.data]
        [('flips', 'int', (), 'lower=0'), ('heads', 'array[] int', ('flips',), 'lower=0, upper=1')]
    """

    name: str
    filename: str
    backend: str
    scheme: str
    data: tuple[Variable, ...] = ()
    transformed_data: tuple[Variable, ...] = ()
    parameters: tuple[Variable, ...] = ()
    transformed_parameters: tuple[Variable, ...] = ()
    generated_quantities: tuple[Variable, ...] = ()
    source: str = ""
    guide_parameters: tuple[Variable, ...] = ()
    networks: tuple[str, ...] = ()
    discrete_parameters: tuple[Variable, ...] = ()
    functions: tuple[tuple[str, str], ...] = ()
    includes: tuple[tuple[str, str], ...] = ()

    @property
    def drawn_integers(self) -> tuple[Variable, ...]:
        """Its discrete parameters: drawn with generated quantities, and by its model under the scheme simulation."""
        if self.scheme != SIMULATION:
            return self.discrete_parameters
        return tuple(v for v in self.transformed_parameters if v.type.rpartition(" ")[2] == "int")

    def names(self, *groups: str) -> tuple[str, ...]:
        """The names of the variables of some blocks: `names("data", "parameters")`."""
        return tuple(v.name for g in groups for v in getattr(self, g))
