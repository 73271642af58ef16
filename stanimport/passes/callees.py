"""What is known of a program's own functions wherever they are called: the one answer for all passes and targets."""
from __future__ import annotations

from stanlib.types import INT, scalar_of

from ..ir import gprob, traversal
from .binding_times import deciding_arguments, observes_own_law
from .call_graph import closure
from .effects import effectful_functions
from .loops import shapes
from .loops.symbolic_shapes import SymbolicShapes


class Functions:
    """The functions of a program."""

    def __init__(self, program: gprob.Program):
        self.by_key = {f.name: f for f in program.functions}
        self.networks = frozenset(n.name for n in program.networks)
        self.bodiless = self.networks | {f.name for f in program.externals}
        self.effectful = effectful_functions(program)
        self.random = closure(program.functions, _draws, lambda f: f.suffix == "rng")
        self._fixed = self.bodiless | self.effectful | self.random | closure(program.functions, _stays)
        self._deciding: dict[tuple[type, ...], dict[str, frozenset[int]]] = {}
        self._counted: dict[str, frozenset[int]] = {}
        self._chosen: dict[str, frozenset[int]] = {}
        given = {v.symbol: v.sized for v in (*program.data, *program.transformed_data_variables, *program.parameters)}
        made = (*program.transformed_data, *program.model, *program.recomputed, *program.generated_quantities)
        self._shapes = SymbolicShapes.of_body(made, self._returned_by, given)

    def is_random(self, key: str) -> bool:
        return key in self.random

    def draws(self, node: object) -> bool:
        """Whether random numbers are drawn anywhere in a node: computed twice, it has two values."""
        calls = (n for n in traversal.walk(node) if isinstance(n, gprob.CallUser))
        return any(map(_draws, traversal.walk(node))) or any(self.is_random(n.function) for n in calls)

    def is_of_arguments(self, key: str) -> bool:
        """Whether a call only has a value, which its arguments tell: it can be made before, more often, or in vain."""
        return key not in self._fixed

    def is_dynamic(self, key: str, arguments: tuple[bool, ...], random_is_dynamic: bool) -> bool:
        """Whether the result of a call is: if any argument is, if it adds to the target, for random numbers."""
        if key in self.networks:
            return True  # what a network computes changes as it is trained
        return any(arguments) or key in self.effectful or random_is_dynamic and key in self.random

    def shaped_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that decide shapes or the bounds of loops in a function."""
        return self._decided_by(key, (gprob.For, gprob.While))

    def sized_by(self, key: str) -> frozenset[int]:
        """The same but for arguments that only tell how often a `while` runs."""
        return self._decided_by(key, (gprob.For,))

    def measured_by(self, key: str) -> frozenset[int]:
        """The same but for arguments that only tell how often any loop runs."""
        return self._decided_by(key, ())

    def _decided_by(self, key: str, loops: tuple[type, ...]) -> frozenset[int]:
        """The positions of the arguments that decide shapes, or how often some kinds of loops run, in a function."""
        if key in self.bodiless:
            return frozenset()
        known = self._deciding.setdefault(loops, {})
        if key not in known:
            known[key] = frozenset()  # while a recursive function is looked at
            known[key] = shapes.deciding(self.by_key[key], lambda k: self._decided_by(k, loops), loops)
        return known[key]

    def chosen_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that tell which of several values, of other shapes, a function returns."""
        if key in self.bodiless:
            return frozenset()
        if key not in self._chosen:
            self._chosen[key] = frozenset()  # while a recursive function is looked at
            f = self.by_key[key]
            self._chosen[key] = shapes.choosing(f, SymbolicShapes.of_body(f.body, self._returned_by), self.chosen_by)
        return self._chosen[key]

    def _returned_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments whose values decide the shape that a function returns."""
        return self.shaped_by(key) | self.chosen_by(key)

    def choices(self, node: object) -> list[gprob.Expr]:
        """What tells, of a call or a conditional expression itself, which of several shapes there is."""
        if isinstance(node, gprob.CallUser) or observes_own_law(node):
            return deciding_arguments(node, self.chosen_by)
        if isinstance(node, gprob.Cond) and self._shapes.differ((node.then, node.otherwise)):
            return [node.condition]
        return []

    def counted_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that tell how often a function, or one that it calls, calls itself."""
        if key in self.bodiless:
            return frozenset()
        if key not in self._counted:
            self._counted[key], recursive = frozenset(), self.is_recursive(key)
            while (more := shapes.counting_calls(self.by_key[key], recursive, self.counted_by)) != self._counted[key]:
                self._counted[key] = more  # an argument may become another in the calls
        return self._counted[key]

    def unrolled_by(self, key: str) -> frozenset[int]:
        """The positions of the arguments that must be alike where calls run at once.

        Integers that tell how often a `while` runs or a function calls itself are among them: Python runs such a
        `while`, unless what it tests depends on parameters. Numbers that are real may differ, as between the draws of
        a random function that draws until one is right.
        """
        if key in self.bodiless:
            return frozenset()
        whole = [i for i, p in enumerate(self.by_key[key].parameters) if scalar_of(p.type) == INT]
        counts = whole if self.is_recursive(key) else self.shaped_by(key).intersection(whole)
        return self.sized_by(key).union(counts)

    def is_recursive(self, key: str) -> bool:
        """Whether a function may call itself, through others too."""
        seen: set[str] = set()
        waiting = [key]
        while waiting:
            body = self.by_key[waiting.pop()].body
            called = {n.function for n in traversal.walk(body) if isinstance(n, gprob.CallUser)} & self.by_key.keys()
            if key in called:
                return True
            waiting += called - seen
            seen |= called
        return False


def _stays(node: object) -> bool:
    """Whether something happens but that a value is told, or a value that no argument tells."""
    return isinstance(node, (gprob.TargetValue, gprob.Message))


def _draws(node: object) -> bool:
    return isinstance(node, gprob.Apply) and node.function.random
