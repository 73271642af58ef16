"""What generated code calls on NumPyro: sites, factors, random numbers, control flow, indexing."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist

from ...arrays import differs_between_lanes, named
from ...errors import StanError
from ...indexing import Span as span  # noqa: F401
from ...indexing import assign, assign_in_place, at  # noqa: F401
from ...kept import transformed  # noqa: F401
from ...lanes.assigning import add_at  # noqa: F401
from ...lanes.calls import each, each_random  # noqa: F401
from ...lanes.control import alike, lanes, merge, unless, when  # noqa: F401
from ...lanes.laws import LaneLaw, TruncatedLaneLaw, lane_law, plain, spread  # noqa: F401
from ...lanes.padding import padded, widest  # noqa: F401
from ...lanes.predictors import predictor  # noqa: F401
from ...lanes.recurrences import at_any, previous  # noqa: F401
from ...lanes.reductions import add_to, last, running_sum, unbroken  # noqa: F401
from ...lanes.values import known_shape
from ...lifted import lifted_under
from ...metadata import Program
from ...outcome_places import are_asked, stand
from ...predicted import are_laws_wanted, require_law
from ...random.jax import JaxRandom, random_of
from ...rejection import pending
from ...sites import REJECTED
from ..declared_domains import check_domain
from ..laws import placed, take_up
from ..values import (  # noqa: F401
    array,
    check_computed,
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
    text,
    unset,
    verify,
)  # fmt: skip
from .bodies import conditions_around
from .control import (  # noqa: F401
    choose,
    cond,
    counted,
    for_loop,
    is_traced,
    logical_and,
    logical_or,
    most,
    recur,
    while_loop,
)  # fmt: skip
from .distributions import Improper, Restricted, Truncated, Uninformed, make
from .elements import by_elements  # noqa: F401
from .lane_laws import LawsOfLanes
from .networks import TRAINED, call_network  # noqa: F401
from .priors import approximate, half, param, sample, sample_unconstrained  # noqa: F401
from .sites import (  # noqa: F401
    discrete,
    given_names,
    is_predicting,
    is_unconditioned,
    latent,
    observed,
    observed_terms,
    unheeded,
    weighted,
)  # fmt: skip
from .states import UNSET
from .supports import support_of

xp = named("jax")

make_placed = placed(make)
make_distribution = lane_law(make_placed)
_warned: set[str] = set()


def run(program: Program, once: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Run a model, guide or generated quantities."""
    enter(program)
    return once()


run_quantities = run


def enter(program: Program) -> None:
    """Called when a model or its quantities run: Stan computes in double precision, and says so once otherwise.

    Raises:
        StanError: inside of a plate: functions would take what differs along it for a container.
    """
    around = [m.name for m in numpyro.primitives._PYRO_STACK if isinstance(m, numpyro.plate)]
    if around:
        advice = "call it for each under numpyro.handlers.scope, or take model.minibatch for a sample of rows"
        raise StanError(f"{program.name} computes one draw at a time, not those of the plate {around[0]}: {advice}")
    if jnp.result_type(float).itemsize < 8 and program.filename not in _warned:
        _warned.add(program.filename)
        warnings.warn(
            f"{program.name} runs in single precision, Stan in double: call numpyro.enable_x64() first to match it",
            UserWarning, stacklevel=5,
        )  # fmt: skip


def draw(value: object) -> Any:
    """A parameter's value as generated quantities compute with it: in NumPy unless it is traced."""
    if isinstance(value, tuple):
        return tuple(map(draw, value))
    if is_traced(value):
        return value
    value = np.asarray(value)
    return value[()] if value.ndim == 0 else value


# --- sites -----------------------------------------------------------------------------------------------------------


def parameter(
    name: str, shape: Sequence[int] = (), kind: str | None = None, complex: bool = False, drawn: object = None,
    laws: Sequence[str] = (), undrawn: str | None = None, **arguments: object,
) -> Any:  # fmt: skip
    """A parameter from the uniform law on its domain, improper if that has no finite volume.

    Args:
        name: the site, its Stan name.
        shape: of the constrained value.
        kind: the name of a constrained type, None for plain ones.
        complex: whether it is complex: its real and imaginary parts are sites, it itself a deterministic one.
        drawn: a draw of it, part by part, by the laws at the sites `laws`, which stand in the density.
        undrawn: what is wrong with its law, so that there is none.
        arguments: lower, upper, offset, multiplier.
    """
    if complex:
        return _complex(name, parameter(f"{name}.real", shape), parameter(f"{name}.imag", shape))
    check_domain(name, shape, kind, arguments)
    shape = tuple(int(n) for n in shape)
    support = support_of(kind, arguments, shape, name)
    if drawn is not None:
        return latent(name, Improper(support, shape, drawn, laws))
    if undrawn is not None:
        return latent(name, Improper(support, shape, undrawn=undrawn))
    if kind is None and set(arguments) == {"lower", "upper"} and _constant_interval(support) and 0 not in shape:
        uniform = Uninformed(arguments["lower"], arguments["upper"])
        return latent(name, uniform.expand(shape) if shape else uniform)
    return latent(name, Improper(support, shape))


def _constant_interval(support: object) -> bool:
    bounds = getattr(support, "lower_bound", None), getattr(support, "upper_bound", None)
    return all(isinstance(b, (int, float)) for b in bounds)


def _complex(name: str, re: Any, im: Any) -> object:
    value = re + 1j * im
    deterministic(name, value)
    return value


def observe(name: str, distribution: object, value: object) -> None:
    """An observed site, its log_prob with one entry per observation."""
    if isinstance(distribution, (LaneLaw, TruncatedLaneLaw)):
        made = distribution.observed(value, make_placed)
        if made is None and are_laws_wanted():
            made = _in_lanes(distribution, value)
        if made is None:
            observe_terms(name, distribution.log_prob(value))
            return
        distribution, value = made
    distribution = take_up(distribution, value)
    observed(name, distribution, value)


def _in_lanes(law: LaneLaw | TruncatedLaneLaw, value: object) -> tuple[LawsOfLanes, object] | None:
    """The laws of containers in all lanes as one to draw from, and the observations; None where there is none."""
    if not isinstance(law, LaneLaw) or (rows := law.of_containers(value)) is None:
        return None
    (densities,) = join([law.log_prob(value)])
    y, *arguments = rows
    return LawsOfLanes(law.record, arguments, tuple(known_shape(y)[1:]), jnp.asarray(_rejecting(densities))), y


def factor(name: str, value: object) -> None:
    """Add to the log density; NaN rejects the draw, as -inf does."""
    _weigh(name, jnp.asarray(plain(value)))


def _weigh(name: str, value: object) -> None:
    weighted(name, _rejecting(value))


def _rejecting(log_densities: Any) -> object:
    """Log densities, -inf where they are NaN or what was computed before rejects the draw."""
    made = xp.without_nan(log_densities)
    flag = pending() if made.size else None
    return made if flag is None else _rejected(made, flag)


@jax.custom_jvp
def _rejected(log_densities: Any, flag: Any) -> jax.Array:
    """-inf where the flag is true, with the derivatives of what would be there without it.

    A draw that is rejected needs none. If they depended on the flag, XLA would compute all the conditions that make it
    once more in every kernel of the gradient.
    """
    return jnp.where(flag, -jnp.inf, log_densities)


@_rejected.defjvp
def _derivative(primals: tuple[object, object], tangents: tuple[object, object]) -> tuple[Any, Any]:
    return _rejected(*primals), tangents[0]


def reject_draws(flag: Any) -> None:
    """The log density is -inf if the flag is true."""
    if not is_predicting():
        numpyro.factor(REJECTED, jnp.where(flag, -jnp.inf, 0.0))


def observe_terms(name: str, *parts: object) -> None:
    """An observed site made of log densities, one entry per observation."""
    _observe(name, parts, Terms)


def observe_sums(name: str, *parts: object) -> None:
    """The same of sums, each of the log densities of several observations."""
    _observe(name, parts, Sums)


def observe_units(name: str, *parts: object) -> None:
    """The same of what hangs together by discrete parameters, each with one observation or several."""
    _observe(name, parts, Units)


def _observe(name: str, parts: Sequence[object], law: type[Terms]) -> None:
    require_law(name)
    (joined,) = join(parts)
    if is_predicting() and not is_unconditioned():
        return
    observed_terms(name, law(_rejecting(joined)), jnp.zeros(joined.shape))


def place(name: str, *parts: object) -> None:
    """The outcomes of which a site has log densities, in the order of these, for who asks where they stand."""
    if are_asked():
        every = [p for part in parts for p in (part if isinstance(part, list) else (part,))]
        stand(name, [plain(p) for p in every if p is not UNSET])


def factor_terms(name: str, *parts: object) -> None:
    """Add the sum of all these to the log density."""
    total: Any = 0.0
    for t in parts:
        total = total + (0.0 if t is UNSET else jnp.sum(jnp.asarray(plain(t))))
    _weigh(name, jnp.asarray(total))


class Terms(dist.Distribution):
    """Log densities that were computed elsewhere."""

    pytree_data_fields = ("log_densities",)

    def __init__(self, log_densities: Any):
        self.log_densities = log_densities
        super().__init__(jnp.shape(log_densities), (), validate_args=False)

    support = dist.constraints.real

    def log_prob(self, value: object) -> Any:
        return self.log_densities

    def sample(self, key: jax.Array, sample_shape: tuple[int, ...] = ()) -> Any:
        raise NotImplementedError("only its density is known: there is no law to draw from")


class Sums(Terms):
    """Sums of the log densities of several observations each, which are not told apart."""


class Units(Sums):
    """Sums over the observations that discrete parameters couple: of one each, where the model tells its outcome."""


def total(term: object) -> Any:
    """The sum of what a statement adds to the target; 0 where it was not reached."""
    return 0.0 if term is UNSET else jnp.sum(jnp.asarray(plain(term)))


def join(parts: Sequence[object]) -> tuple[Any]:
    """The terms of all iterations of a loop as one vector, complete for all lanes around (lanes.laws.spread)."""
    flat = [jnp.ravel(jnp.asarray(plain(t))) for t in parts if t is not UNSET]
    return (jnp.concatenate(flat) if flat else jnp.zeros(0),)


def restrict(distribution: object, log_normalizer: object, lower: object = None, upper: object = None) -> Restricted:
    """The law of a parameter on its domain, `log_normalizer` the log of the domain's probability."""
    return Restricted(distribution, log_normalizer, lower, upper)


def truncated_term(density: Any, value: Any, log_normalizer: Any, lower: Any = None, upper: Any = None) -> Any:
    """The log density of a truncated user-defined law, given that of the whole law."""
    if differs_between_lanes((density, value, log_normalizer, lower, upper)):
        return each(truncated_term, density, value, log_normalizer, lower, upper)
    inside: Any = True
    if lower is not None:
        inside = inside & jnp.all(jnp.asarray(value) >= lower)
    if upper is not None:
        inside = inside & jnp.all(jnp.asarray(value) <= upper)
    return jnp.where(inside, density - log_normalizer * jnp.size(value), -jnp.inf)


def deterministic(name: str, value: object) -> None:
    """A transformed parameter, recorded under its Stan name.

    Raises:
        StanUnsupportedError: where a handler gives it another value, though no predictions are asked for.
    """
    if isinstance(value, tuple):
        for i, item in enumerate(value):
            deterministic(f"{name}.{i + 1}", item)
        return
    computed = jnp.asarray(value)
    taken = numpyro.deterministic(name, computed)
    if not is_predicting():
        for given in unheeded(name) if taken is computed else (taken,):
            check_computed(name, computed, given)


def log_prob(distribution: Any, value: Any) -> Any:
    """The log density of a value, one entry per observation."""
    return distribution.log_prob(value)


def truncate(
    distribution: object, log_normalizer: object, lower: object = None, upper: object = None
) -> TruncatedLaneLaw | Truncated:
    """The distribution between bounds, `log_normalizer` the log of its probability there."""
    if isinstance(distribution, LaneLaw):
        return TruncatedLaneLaw(Truncated, distribution, log_normalizer, lower, upper)
    return Truncated(distribution, log_normalizer, lower, upper)


# --- random numbers --------------------------------------------------------------------------------------------------


def random() -> JaxRandom:
    """The source of random numbers of one call: NumPyro's seed handler, or fresh entropy outside of one."""
    key = numpyro.prng_key() if numpyro.primitives._PYRO_STACK else None
    if key is None:
        key = jax.random.PRNGKey(np.random.SeedSequence().generate_state(1)[0])
    return random_of(key)


# --- messages --------------------------------------------------------------------------------------------------------


def message(*parts: object) -> None:
    """`print(...)`: of traced values, and in traced branches and loops, whenever compiled code gets there."""
    flat, under = list(pieces(parts)), lifted_under()
    traced = [p for p in flat if is_traced(p)]
    if not traced and under is None:
        print(said(flat))
        return
    pattern = [None if is_traced(p) else text(p) for p in flat]
    jax.debug.callback(partial(_say, pattern), *conditions_around(), *traced)


def _say(pattern: Sequence[str | None], *values: object) -> None:
    """Print texts with values between them, if all the values before those are true."""
    first = len(values) - sum(p is None for p in pattern)
    shown = iter(values[first:])
    if all(values[:first]):
        print("".join(text(np.asarray(next(shown))) if p is None else p for p in pattern))
