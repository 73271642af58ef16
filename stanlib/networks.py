"""Neural networks that a program declares: where Python finds them, and calling them from generated code.

A network is found when it is first called: given to the call of the model under its name, or imported by the path that
the program declares. A leading dot is relative to the package that holds the Stan file; a bare name is an attribute of
that package's own module `networks`.

Importing runs Python that a Stan program names, so the loader of the translated module has a say: its method
`network_access(module)` tells whether a module may be imported and what is found there be called ("all"), whether only
what is a network already may be taken from it ("networks"), or why neither. Without such a loader the program is Python
code that somebody runs as it stands.
"""
from __future__ import annotations

import importlib
import importlib.util
import inspect
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import field
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import number_types, signatures
from .arrays import namespace
from .dataclass import dataclass
from .errors import StanError
from .types import Tuple, Type, dimensions, scalar_of

_LIBRARIES = ("torch", "flax", "equinox")

if TYPE_CHECKING:
    from .metadata import Program
    from .ppl.interface import Backend


class StanNetworkError(StanError):
    """A network can't be found or used as the program declares it; the message names its path and Stan line."""


@dataclass
class _Call:
    """One call of a model or guide: the networks given to it, and those that it has registered.

    Generated quantities are of trained networks: `trained` asks for their weights.
    """

    given: Mapping[str, Any]
    trained: bool = False
    registered: dict[str, Any] = field(default_factory=dict)


_current: ContextVar[_Call | None] = ContextVar("networks", default=None)


class call_with:
    """Gives the inputs of a call without the networks among them, which are used inside."""

    def __init__(self, program: Program, inputs: Mapping[str, Any], trained: bool = False):
        self.call = _Call({n: inputs[n] for n in program.networks if n in inputs}, trained)
        self.rest = {n: v for n, v in inputs.items() if n not in self.call.given}

    def __enter__(self) -> dict[str, Any]:
        self.token = _current.set(self.call)
        return self.rest

    def __exit__(self, *raised: object) -> None:
        _current.reset(self.token)


def _in_words(declared: Type) -> tuple[int, str]:
    """How many dimensions a type has, and the type of its numbers."""
    return dimensions(declared), str(scalar_of(declared))


class Network:
    """A declared network: what generated code calls.

    Args:
        backend: the backend's names.
        program: the program that declares it.
        name: its name in the program, and of its parameters' sites.
        path: where Python finds it.
        spec: of the translated module, which tells its package and its loader.
        line: of the declaration.
        arguments: how many arguments it takes.
        returns: the type of its value, as it is declared.
        lifted: the names of its parameters that are parameters of the program; calls pass their values last.
    """

    def __init__(
        self, backend: Backend, program: Program, name: str, path: str, spec: ModuleSpec | None, line: int,
        arguments: int, returns: str, lifted: Sequence[str] = (),
    ):  # fmt: skip
        self.backend, self.program, self.name, self.path, self.line = backend, program, name, path, line
        self.package = (spec.parent if spec is not None else "") or ""
        self.access = getattr(spec and spec.loader, "network_access", lambda module: "all")
        self.arguments, self.lifted = arguments, tuple(lifted)
        self.returns = signatures.parse(f"{returns} net()").overloads[0].result
        self._plain = None if isinstance(self.returns, Tuple) else _in_words(self.returns)
        self._found: Any = None

    def __call__(self, *values: Any) -> Any:
        inputs, lifted = values[: self.arguments], dict(zip(self.lifted, values[self.arguments :]))
        value = self.backend.call_network(self, self.module(), inputs, lifted)
        return self._as_declared(value, self.returns) if self._plain is None else self._array(value, *self._plain)

    def _as_declared(self, value: Any, declared: Type) -> Any:
        """What the network returned as a value of the declared type."""
        if not isinstance(declared, Tuple):
            return self._array(value, *_in_words(declared))
        several = isinstance(value, (tuple, list))
        if not several or len(value) != len(declared.items):
            given = f"{len(value)} values" if several else f"a {type(value).__name__}"
            raise self.error(f"returns {given}, declared is a tuple of {len(declared.items)}")
        return tuple(map(self._as_declared, value, declared.items))

    def _array(self, value: object, dims: int, declared: str) -> Any:
        """An array of so many axes: several of one shape are one array."""
        if not isinstance(value, (tuple, list)):
            return self._of_dims(value, dims, declared)
        if not dims or not value:
            raise self.error(f"returns {len(value)} values, declared is {'one array' if dims else 'a number'}")
        items = [self._of_dims(v, dims - 1, declared, len(value)) for v in value]
        shapes = sorted({tuple(i.shape) for i in items})
        if len(shapes) > 1:
            shown = " and ".join(map(str, shapes))
            raise self.error(f"returns arrays of the shapes {shown}, which are no array: declare a tuple")
        return self.backend.array(items)

    def _of_dims(self, value: Any, dims: int, declared: str, several: int = 0) -> Any:
        """An array of so many axes, without first axes of length 1 beyond those: a batch of one is that one.

        Args:
            several: how many values were returned of which it is one, along an axis of their own; 0 for no tuple.
        """
        if not hasattr(value, "ndim"):
            raise self.error(f"returns a {type(value).__name__}: return an array, or a tuple of arrays")
        kind = number_types.kind_of(value)
        if not number_types.holds(declared, kind):
            raise self.error(f"returns {kind} numbers, declared are {declared}")
        while value.ndim > dims and value.shape[0] == 1:
            value = value[0]
        if value.ndim != dims:
            returned = f"{several} values, one of them" if several else "a value"
            shape, wanted = tuple(value.shape), dims + bool(several)
            message = f"returns {returned} of shape {shape}, declared are {wanted} dimensions"
            more = "of them, write a tuple type or" if several else "of a batch, write"
            batch = f"; {more} array[] before the type that it returns" if value.ndim == dims + 1 else ""
            raise self.error(message + batch)
        return namespace((value,)).real(value) if kind == "int" and declared != "int" else value

    def verify_lifted(self, shapes: Mapping[str, Sequence[int]], lifted: Mapping[str, Sequence[int]]) -> None:
        """The parameters of the program that stand for some of the network's must be there, in their shapes.

        Args:
            shapes: of the network's parameters, by their paths.
            lifted: of the program's.

        Raises:
            StanNetworkError: naming the paths that there are, or both shapes and the line of the declaration.
        """
        for name, declared in lifted.items():
            if name not in shapes:
                raise self.error(f"has no parameter {name!r}, but {', '.join(shapes)}")
            self._verify_shape(name, tuple(shapes[name]), tuple(declared))

    def _verify_shape(self, name: str, shape: tuple[int, ...], declared: tuple[int, ...]) -> None:
        if shape != declared:
            where = self._declared_in(name)
            raise self.error(f"has a parameter {name!r} of shape {shape}, declared is {declared}{where}")

    def _declared_in(self, name: str) -> str:
        lines = (v.line for v in self.program.parameters if v.name == f"{self.name}.{name}")
        return next((f" in line {line}" for line in lines if line), "")

    def registered(self, make: Callable[[], object], is_trained: Callable[[], bool]) -> Any:
        """What `make()` returns, made once in a call of the model.

        Raises:
            StanNetworkError: in generated quantities, for a network that is not given and whose weights nobody has
                trained, as `is_trained()` tells.
        """
        call = _current.get()
        if call is None:
            return make()
        if call.trained and self.name not in call.given and not is_trained():
            raise self.error(f"has no trained weights here: {self.backend.TRAINED.format(self.name)}")
        if self.name not in call.registered:
            call.registered[self.name] = make()
        return call.registered[self.name]

    @property
    def is_given(self) -> bool:
        """Whether the call of the model was given the network."""
        call = _current.get()
        return call is not None and self.name in call.given

    def error(self, problem: str) -> StanNetworkError:
        """The error for a network that can't be used."""
        place = f"{self.program.filename}, line {self.line}"
        return StanNetworkError(f"the network {self.path} ({place}) {problem}")

    # --- finding it

    def module(self) -> Any:
        """The network itself: the one given, else the one that the program names.

        Raises:
            StanNetworkError: naming path, module and Stan line, if there is none.
        """
        call = _current.get()
        if call is not None and self.name in call.given:
            return self.instance(call.given[self.name])
        if self._found is None:
            self._found = self._imported()
        return self._found

    def instance(self, found: object) -> Any:
        """The network, made if a class or a function without arguments is given for it."""
        if inspect.isclass(found) or inspect.isfunction(found):
            try:
                return found()
            except TypeError as e:
                raise self.error(f"is made by {found.__qualname__}(), which fails: {e}") from e
        return found

    def _imported(self) -> Any:
        """The network at its path. Nothing is imported, and nothing called, that the program may not use."""
        module_name, _, attribute = self.path.rpartition(".")
        if not module_name:
            module_name = f"{self.package}.networks" if self.package else "networks"
        elif module_name.startswith(".") and not self.package:
            raise self.error("is relative, but the program is in no package: import it as a module of one")
        try:
            absolute = importlib.util.resolve_name(module_name, self.package or None)
        except ImportError as e:
            raise self.error(f"can't be imported: module {module_name!r}: {e}") from e
        access = self.access(absolute)
        if access not in ("all", "networks"):
            raise self.error(f"is not imported: {access}")
        if module_name != self.path.rpartition(".")[0]:
            self._verify_own(module_name)
        found = self._attribute(module_name, attribute)
        if access == "networks" and not _is_network(found):
            reason = "only a torch, flax or equinox module may come from a package that is not the program's own"
            raise self.error(f"is a {type(found).__name__}: {reason}; {self._advice(absolute)}")
        return self.instance(found)

    def _attribute(self, module_name: str, attribute: str) -> Any:
        try:
            module = importlib.import_module(module_name, self.package or None)
        except ImportError as e:
            raise self.error(f"can't be imported: module {module_name!r}: {e}") from e
        if not hasattr(module, attribute):
            raise self.error(f"can't be found: module {module.__name__!r} has no {attribute!r}")
        return getattr(module, attribute)

    def _verify_own(self, name: str) -> None:
        """Check that there is the module `networks` of the program's package, or beside a program that is in none."""
        spec = importlib.util.find_spec(name)
        if spec is None or not self.package and not self._is_beside(spec.origin):
            where = f"there is no module {name!r}" if self.package else "no networks.py stands beside the program"
            raise self.error(f"is not given: {where}, so pass it: model(..., {self.name}=...)")

    def _is_beside(self, origin: str | None) -> bool:
        return origin is not None and Path(origin).parent == Path(self.program.filename).resolve().parent

    def _advice(self, module_name: str) -> str:
        return f"pass it, model(..., {self.name}=...), or stanimport.configure(network_packages=[{module_name!r}])"


def _is_network(found: object) -> bool:
    """Whether something is a module of one of the libraries for networks, or a class of such."""
    kind = found if inspect.isclass(found) else type(found)
    return any(c.__name__ == "Module" and c.__module__.partition(".")[0] in _LIBRARIES for c in kind.__mro__)
