"""Random statements that draw random numbers, which nothing that is compared depends on."""

from __future__ import annotations

from .calls import with_arguments
from .kinds import REAL, all_dims, array, declared
from .reals import real
from .scope import Place, size

Lines = list[str]


def random_numbers(place: Place) -> Lines:
    """Draws by the library's or the program's functions, one or one for every iteration of a loop."""
    c = place.choices
    known = [f for f in place.functions if f.suffix == "rng"]
    if known and c.chance(50):
        return _by_function(place)
    name, index = place.names.fresh(), place.names.fresh()
    place.names.random.add(name)
    n = c.between(1, 3)
    draw = f"normal_rng({real(place, 1)}, exp(tanh({real(place, 1)})))"
    flip = f"bernoulli_rng(inv_logit({real(place, 1)}))"
    forms = [
        [f"real {name} = {draw};"],
        [f"vector[{n}] {name};", f"for ({index} in 1:{n}) {name}[{index}] = {draw};"],
        [f"int {name} = 0;", f"for ({index} in 1:{n}) if ({flip}) {name} += 1;"],
        [f"array[{n}] int {name} = rep_array(0, {n});", f"for ({index} in 1:{n}) {name}[{index}] = {flip};"],
        [
            f"vector[{n}] {name};",
            f"{name}[1] = {draw};",
            f"for ({index} in 2:{n}) {name}[{index}] = normal_rng({name}[{index} - 1], 1);",
        ],
        [
            f"int {name} = 0;",
            f"while ({name} < 4 && {flip}) {name} += 1;",
        ],
    ]
    return c.pick(forms)


def _by_function(place: Place) -> Lines:
    """A call of a function of the program, or one in every iteration of a loop."""
    c = place.choices
    f = c.pick([f for f in place.functions if f.suffix == "rng"])
    assert f.result is not None
    name, index, n = place.names.fresh(), place.names.fresh(), c.between(1, 3)
    place.names.random.add(name)
    call = with_arguments(place, f, 1)
    if c.chance(50):
        return [f"{declared(f.result, [size(place, d) for d in all_dims(f.result)], name)} = {call};"]
    kind = array(f.result, n)
    head = declared(kind, [size(place, d) for d in all_dims(kind)], name) + ";"
    filling = f"{name}[{index}] = {call};"
    if c.chance(30) and f.result == REAL:
        filling = f"if ({index} == 1 || {name}[{index} - 1] > 0) {name}[{index}] = {call}; else {name}[{index}] = 0;"
    return [head, f"for ({index} in 1:{n}) {filling}"]
