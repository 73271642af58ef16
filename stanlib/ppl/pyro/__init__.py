"""What generated code calls on Pyro: sites, factors, random numbers. Control flow is Python's."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyro
import torch

from ...arrays import differs_between_lanes
from ...arrays.torch import as_tensor, is_of_several, without_nan
from ...errors import StanError, StanUnsupportedError
from ...indexing import Span as span  # noqa: F401
from ...indexing import assign, assign_in_place, at  # noqa: F401
from ...kept import transformed  # noqa: F401
from ...lanes.assigning import add_at  # noqa: F401
from ...lanes.calls import each, each_random  # noqa: F401
from ...lanes.control import alike, choose, lanes, logical_and, logical_or, merge, unless, when  # noqa: F401
from ...lanes.laws import LaneLaw, TruncatedLaneLaw, lane_law, plain, spread  # noqa: F401
from ...lanes.padding import padded, widest  # noqa: F401
from ...lanes.recurrences import at_any, previous  # noqa: F401
from ...lanes.recurrences import run_in_python as recur  # noqa: F401
from ...lanes.reductions import add_to, last, running_sum, unbroken  # noqa: F401
from ...metadata import Program
from ...predicted import require_law
from ...random.torch import TorchRandom
from ...rejection import before_deciding, decided, pending  # noqa: F401
from ...sites import REJECTED
from ..laws import take_up
from ..values import (  # noqa: F401
    UNSET,
    array,
    copy,
    fatal_error,
    fit,
    inf,
    pieces,
    real,
    reject,
    replace_item,
    require,
    row,
    said,
    terms,
    unset,
    verify,
)  # fmt: skip
from .bounds import bound, recorded  # noqa: F401
from .distributions import make_placed, tensors
from .elements import by_elements  # noqa: F401
from .improper import Improper
from .networks import TRAINED, call_network  # noqa: F401
from .particles import plate_around, run_all
from .priors import approximate, domain_of, half, param, sample, sample_unconstrained  # noqa: F401
from .sites import deterministic as record
from .sites import discrete, given_names, latent, observed, observed_terms, rejected, weighted  # noqa: F401
from .truncated import Restricted, Truncated

make_distribution = lane_law(make_placed)
_warned: set[str] = set()


def run(program: Program, once: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a model or guide, for several draws at once where Pyro's plate of draws is around."""
    enter(program)
    plate = plate_around(program.name)
    if plate is None:
        return once()
    return plate.returned(run_all(plate, once, REJECTED))


def run_quantities(program: Program, once: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run generated quantities, of one draw.

    Raises:
        StanError: inside of a plate.
    """
    enter(program)
    around = [p.name for p in pyro.poutine.runtime.get_plates()]
    if around:
        raise StanError(f"{program.name} computes quantities of one draw at a time, not of the plate {around[0]}")
    return once()


def enter(program: Program) -> None:
    """Called when a model or its quantities run: Stan computes in double precision, and says so once otherwise."""
    if torch.get_default_dtype() != torch.float64 and program.filename not in _warned:
        _warned.add(program.filename)
        warnings.warn(
            f"{program.name} runs in single precision, Stan in double: "
            "call torch.set_default_dtype(torch.float64) first to match it",
            UserWarning, stacklevel=5,
        )  # fmt: skip


@before_deciding
def _refuse_recording(condition: object, outcome: object) -> None:
    """A condition on parameters must not decide what PyTorch makes of a run for other parameters.

    Raises:
        StanUnsupportedError: under torch.jit, which records the run to repeat it, and torch.func.vmap.
    """
    if isinstance(condition, torch.Tensor) and torch.jit.is_tracing():
        raise StanUnsupportedError(
            "parameters decide what runs next, and PyTorch's just-in-time compilation would repeat what ran first: "
            "leave out jit_compile=True of NUTS, and take Trace_ELBO instead of JitTrace_ELBO"
        )
    if isinstance(outcome, torch.Tensor) and is_of_several(outcome):
        raise StanUnsupportedError(
            "parameters decide what runs next, and torch.func.vmap runs the same for all of them: call it for each"
        )


def draw(value: object) -> Any:
    """A parameter's value as generated quantities compute with it; a tuple's items each by itself."""
    if isinstance(value, tuple):
        return tuple(map(draw, value))
    return value if isinstance(value, torch.Tensor) else as_tensor(np.asarray(value))


def tensor(value: Any) -> Any:
    """A value of data for a variable that will depend on parameters: PyTorch's operators don't take NumPy's arrays."""
    if isinstance(value, tuple):
        return tuple(map(tensor, value))
    return value.like(draw(value.data)) if differs_between_lanes((value,)) else draw(value)


# --- sites -----------------------------------------------------------------------------------------------------------


def parameter(
    name: str, shape: Sequence[int] = (), kind: str | None = None, bounding: bool = False, complex: bool = False,
    drawn: object = None, laws: Sequence[str] = (), undrawn: str | None = None, **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from the uniform law on its domain, improper if that has no finite volume.

    Args:
        name: the site, its Stan name.
        shape: of the constrained value.
        kind: the name of a constrained type, None for plain ones.
        bounding: whether bounds of other parameters refer to this one.
        complex: whether it is complex: its real and imaginary parts are sites, it itself a deterministic one.
        drawn: a draw of it, part by part, by the laws at the sites `laws`, which stand in the density.
        undrawn: what is wrong with its law, so that there is none.
        arguments: lower, upper, offset, multiplier.
    """
    if complex:
        parts = [parameter(f"{name}.{part}", shape, bounding=bounding) for part in ("real", "imag")]
        return _complex(name, *parts)
    sizes = tuple(map(int, shape))
    support = domain_of(name, sizes, kind, arguments)
    return latent(name, Improper(recorded(name, support) if bounding else support, sizes, drawn, name))


def _complex(name: str, re: Any, im: Any) -> object:
    value = re + 1j * im
    deterministic(name, value)
    return value


def observe(name: str, distribution: object, value: object) -> None:
    """An observed site, its log_prob with one entry per observation."""
    if isinstance(distribution, (LaneLaw, TruncatedLaneLaw)):
        made = distribution.observed(value, make_placed)
        if made is None:
            observe_terms(name, distribution.log_prob(value))
            return
        distribution, value = made
    distribution = take_up(distribution, value)
    observed(name, distribution, _tensor(value))


def factor(name: str, value: object) -> None:
    """Add to the log density; NaN rejects the draw, as -inf does."""
    _weigh(name, _tensor(plain(value)))


def _weigh(name: str, value: torch.Tensor) -> None:
    weighted(name, _rejecting(value))


def _rejecting(value: torch.Tensor) -> torch.Tensor:
    """Log densities, -inf where they are NaN or what was computed before rejects the draw."""
    flag, value = pending() if value.numel() else None, without_nan(value)
    return value if flag is None else torch.where(torch.as_tensor(flag), -torch.inf, value)


def reject_draws(flag: object) -> None:
    """The log density is -inf if the flag is true."""
    rejected(flag)


def observe_terms(name: str, *parts: object) -> None:
    """An observed site made of log densities, one entry per observation."""
    require_law(name)
    observed_terms(name, _rejecting(plain(join(parts))))


def observe_sums(name: str, *parts: object) -> None:
    """The same of sums, each of the log densities of several observations."""
    observe_terms(name, *parts)


def observe_units(name: str, *parts: object) -> None:
    """The same of what hangs together by discrete parameters."""
    observe_terms(name, *parts)


def place(name: str, *parts: object) -> None:
    """Nothing: of where outcomes stand NumPyro's models are asked."""


def factor_terms(name: str, *parts: object) -> None:
    """Add the sum of all these to the log density."""
    _weigh(name, plain(join(parts)).sum())


def total(term: object) -> Any:
    """The sum of what a statement adds to the target; 0 where it was not reached."""
    return torch.zeros(()) if term is UNSET else _tensor(plain(term)).sum()


def join(parts: Sequence[object]) -> tuple[Any]:
    """The terms of all iterations of a loop as one vector, complete for all lanes around (lanes.laws.spread)."""
    flat = [_tensor(plain(t)).reshape(-1) for t in parts if t is not UNSET]
    return (torch.cat(flat) if flat else torch.zeros(0),)


def _tensor(value: object) -> Any:
    return tensors([value])[0]


def deterministic(name: str, value: object) -> None:
    """A transformed parameter, recorded under its Stan name."""
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            deterministic(f"{name}.{i + 1}", item)
    else:
        record(name, _tensor(value))


def truncate(
    distribution: object, log_normalizer: object, lower: object = None, upper: object = None
) -> TruncatedLaneLaw | Truncated:
    """The distribution between bounds, `log_normalizer` the log of its probability there."""
    if isinstance(distribution, LaneLaw):
        return TruncatedLaneLaw(Truncated, distribution, log_normalizer, lower, upper)
    return Truncated(distribution, log_normalizer, lower, upper)


def restrict(distribution: object, log_normalizer: object, lower: object = None, upper: object = None) -> Restricted:
    """The law of a parameter on its domain, `log_normalizer` the log of the domain's probability."""
    return Restricted(distribution, log_normalizer, lower, upper)


def truncated_term(density: Any, value: Any, log_normalizer: Any, lower: object = None, upper: object = None) -> Any:
    """The log density of a truncated user-defined law, given that of the whole law."""
    if differs_between_lanes((density, value, log_normalizer, lower, upper)):
        return each(truncated_term, density, value, log_normalizer, lower, upper)
    low, high = -torch.inf if lower is None else lower, torch.inf if upper is None else upper
    value, low, high = tensors([value, low, high])
    inside = ((value >= low) & (value <= high)).all()
    return torch.where(inside, density - log_normalizer * value.numel(), -torch.inf)


def random() -> TorchRandom:
    """The source of random numbers: torch's own generator."""
    return TorchRandom()


def message(*parts: object) -> None:
    """`print(...)`."""
    print(said(p.detach().cpu().numpy() if isinstance(p, torch.Tensor) else p for p in pieces(parts)))
