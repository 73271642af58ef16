"""Random statements: declarations, assignments, loops, branches, escapes, laws."""

from __future__ import annotations

from .calls import allowed, with_arguments
from .certain import drawn_in_branches, drawn_integers
from .choices import Choices
from .containers import expression, summary
from .draws import random_numbers
from .groups import scattered
from .idioms import idiom
from .integers import condition, integer, is_static
from .kinds import (
    COMPLEX,
    INT,
    REAL,
    Kind,
    all_dims,
    array,
    complex_matrix,
    complex_row_vector,
    complex_vector,
    declared,
    is_empty,
    matrix,
    row_vector,
    tuple_of,
    vector,
)  # fmt: skip
from .language import rare
from .laws import both, law
from .models import modelling
from .parts import part
from .reals import axes, real, scalar
from .scope import Place, Variable, size

Lines = list[str]


def statements(place: Place, most: int, percent: int = 75) -> Lines:
    """Up to so many statements."""
    out: Lines = []
    for _ in range(most):
        with place.choices.span():
            if not place.choices.chance(percent):
                break
            out += statement(place)
    return out


def body(place: Place, most: int, percent: int = 75) -> Lines:
    """Statements whose results flow on: what they declare enters a variable from outside, or the target."""
    known = {v.name for v in place.variables}
    out = statements(place, most, percent)
    made = [v for v in place.variables if v.name not in known]
    with place.choices.span():
        if made and place.choices.chance(75):
            out += flow(place, place.choices.pick(made[::-1]), known)
    return out


def flow(place: Place, v: Variable, known: set[str]) -> Lines:
    text = summary(v.name, v.kind)
    outside = place.having(lambda o: o.name in known and o.kind == REAL and _may_assign(place, o) and not o.static)
    if not text:
        return []
    if place.target and (not outside or place.choices.chance(50)):
        return [f"target += 0.3 * tanh({text});"]
    if not outside:
        return []
    name = place.choices.pick(outside[::-1]).name
    if "complex" in place.features:  # products of matrices are large: rounding would decide what their sine is
        text = f"tanh({text})"
    return [place.choices.pick([f"{name} += tanh({text});", f"{name} = 0.4 * {name} + sin({text});"])]


def statement(place: Place) -> Lines:
    c = place.choices
    makers = [(5, declaration), (7, assignment), (4, branch)]
    if place.budget > 1:
        makers += [(3, idiom), (3, modelling)]
        makers += [(6, loop), (1, loop_over_items), (2, counted_while), (4, filled)]
    if place.target:
        makers += [(5, law_statement), (4, increment)]
    if any(f.result is None for f in place.functions):
        makers.append((3, void_call))
    if place.breakable or place.returns:
        makers.append((4, escape))
    if place.jacobian:
        makers.append((3, jacobian_increment))
    if place.draws:
        makers += [(3, drawn_integers), (4, drawn_in_branches)]
        makers += [] if place.data_only else [(2, random_numbers)]
    if "NG" in place.sizes:
        makers.append((3, scattered))
    makers += [(1, nested_block), (3, rare)]
    return c.weighted(makers)(place) or increment_or_nothing(place)


def indented(lines: Lines) -> Lines:
    return ["  " + line for line in lines]


def local_kind(place: Place) -> Kind:
    """The kind of a variable that is declared here."""
    c = place.choices
    n = dimension(place)
    options = [
        (6, REAL),
        (3, INT),
        (5, vector(n)),
        (1, row_vector(n)),
        (2, matrix(n, dimension(place))),
        (2, array(REAL, n)),
        (1, array(INT, n)),
        (1, array(vector(dimension(place)), n)),
        (1, array(array(REAL, n), 2)),
        (1, array(matrix(2, 1), n)),
    ]
    if "tuples" in place.features:
        options += [(3, tuple_of(REAL, vector(n))), (1, tuple_of(INT, REAL, tuple_of(REAL, INT)))]
        options += [(2, array(tuple_of(REAL, INT), max(n, 1))), (1, tuple_of(array(INT, n), REAL))]
        options += [(2, k) for k in nested_tuples(n)]
    if "complex" in place.features:
        options += [(3, COMPLEX), (2, complex_vector(n)), (1, complex_row_vector(n)), (1, array(COMPLEX, n))]
        options += [(2, complex_matrix(n, 2)), (1, array(complex_vector(2), n))]
    kind = c.weighted(options)
    if place.block == "transformed parameters" and place.outermost and holds_int(kind):
        return REAL  # stanc: transformed parameters are no ints
    return kind


def nested_tuples(n: int) -> list[Kind]:
    """Tuples in arrays in tuples."""
    pair, some = tuple_of(REAL, INT), max(n, 1)
    return [array(tuple_of(vector(2), array(REAL, 2)), some), array(array(pair, 2), some),
            tuple_of(array(tuple_of(REAL, vector(2)), some), REAL), array(tuple_of(array(INT, 2), pair), some),
            array(tuple_of(matrix(2, 2), array(vector(2), 2)), some)]  # fmt: skip


def holds_int(kind: Kind) -> bool:
    return kind == INT or any(map(holds_int, kind.items))


def dimension(place: Place) -> int:
    c = place.choices
    known = sorted({n for n in place.sizes.values() if n < 6})
    return c.pick(known) if known and c.chance(80) else c.pick([2, 3, 1, 0])


def declaration(place: Place) -> Lines:
    """A variable with its value."""
    kind = local_kind(place)
    low, high = (-2, 4) if place.choices.chance(50) else (1, 3)
    value = expression(place, kind, 2, place.data_only, low, high)
    static = place.static and is_static(place, value) and place.choices.chance(60)
    name = place.names.fresh()
    text = declared(kind, [size(place, n) for n in all_dims(kind)], name)
    own = Variable(name, kind, low, high, place.data_only, static or place.data_only, True)
    place.add(own)
    return [f"{text} = {value};"]


def filled(place: Place) -> Lines:
    """A container that a loop fills, perhaps from its own earlier entries."""
    c = place.choices
    n = max(1, dimension(place))
    if n > place.budget:
        return []
    kind = c.weighted(
        [(6, vector(n)), (2, array(REAL, n)), (1, row_vector(n)), (2, matrix(n, 2)), (1, array(vector(2), n))]
    )
    name, index = place.names.fresh(), place.names.fresh()
    lines = [declared(kind, [size(place, d) for d in all_dims(kind)], name) + ";"]
    inner = place.inner(loops=place.loops + 1, budget=place.budget // n)
    inner.add(Variable(index, INT, 1, n, True, True))
    before = statements(inner, 2, 30)
    element = Kind("row_vector", (2,)) if kind.name == "matrix" else kind.items[0] if kind.items else REAL
    recurrent = n > 1 and c.chance(40)
    if recurrent:
        lines.append(f"{name}[1] = {expression(place, element, 1, place.data_only)};")
        inner.variables = [v for v in inner.variables if v.name != index]
        inner.add(Variable(index, INT, 2, n, True, True))
        value = expression(inner, element, 1, place.data_only)
        value = f"{value} + 0.4 * {name}[{index} - 1]" if element.name != "array" else value
    else:
        value = expression(inner, element, 2, place.data_only)
    if not recurrent and c.chance(25):
        test = condition(inner, 1, place.data_only)
        other = expression(inner, element, 1, place.data_only)
        filling = [f"if ({test})", f"  {name}[{index}] = {value};", "else", f"  {name}[{index}] = {other};"]
    else:
        filling = [f"{name}[{index}] = {value};"]
    place.add(Variable(name, kind, 0, 0, place.data_only, place.data_only, True))
    head = f"for ({index} in {2 if recurrent else 1}:{size(place, n)}) {{"
    return [*lines, head, *indented([*before, *filling]), "}"]


def accumulator(place: Place) -> Lines:
    """A variable for what flows out of the statements after it."""
    name = place.names.fresh()
    place.add(Variable(name, REAL, assignable=True))
    return [f"real {name} = 0;"]


def _may_assign(place: Place, v: Variable) -> bool:
    return v.assignable and (not v.static or place.static or place.data_only)


def assignment(place: Place) -> Lines:
    """An assignment to a variable or a part of it, plain or compound."""
    c = place.choices
    known = place.having(lambda v: _may_assign(place, v))
    if not known:
        return declaration(place)
    v = c.pick(known[::-1])
    if scalar(v.kind) == INT:
        return assigned_int(place, v)
    with place.restricted(lambda other: other.name != v.name):  # stanc: not read where it is assigned to
        target, kind = part(place, v)
    value = expression(place, kind, 2, place.data_only)
    if scalar(kind) == REAL and kind.name in ("real", "vector", "row_vector", "matrix") and c.chance(40):
        sign = c.pick(["+=", "-=", "*=", ".*=", "+="])
        if sign == "*=" and kind != REAL:
            return [f"{target} *= {real(place, 1, place.data_only)};"]
        if sign == ".*=" and kind == REAL:
            sign = "*="
        return [f"{target} {sign} {value};"]
    if kind.name.startswith("complex") and c.chance(40):
        return [f"{target} {compound_of_complex(c, kind)} {value};"]
    return [f"{target} = {value};"]


def compound_of_complex(c: Choices, kind: Kind) -> str:
    return c.pick(["+=", "-=", "*=" if kind == COMPLEX else ".*="])


def assigned_int(place: Place, v: Variable) -> Lines:
    """Ints stay within the bounds of their variable, and static ones static."""
    static = v.static or place.data_only
    if v.kind == INT:
        return [f"{v.name} = {integer(place, v.low, v.high, 2, static)};"]
    if is_empty(v.kind):
        return [f"{v.name} = {expression(place, v.kind, 1, static, v.low, v.high)};"]
    with place.restricted(lambda other: other.name != v.name):
        at = ", ".join(integer(place, 1, n, 1, static) for n in axes(v.kind))
    return [f"{v.name}[{at}] = {integer(place, v.low, v.high, 2, static)};"]


def loop(place: Place) -> Lines:
    """`for`, forwards through a range that may be empty."""
    c = place.choices
    n = max(0, dimension(place))
    first = c.pick([1, 1, 2])
    text = f"{first}:{size(place, n)}"
    if place.loops > 3 or n > place.budget:
        return []
    index = place.names.fresh()
    escapes = place.escapes or c.chance(20)
    inner = place.inner(loops=place.loops + 1, breakable=True, escapes=escapes, budget=place.budget // max(1, n))
    inner.add(Variable(index, INT, min(first, max(n, 1)), max(n, 1), True, True))
    if c.chance(20):  # over static bounds that differ between the iterations of an outer loop
        other = place.having(lambda v: v.kind == INT and v.static and 1 <= v.low and v.high <= n)
        if other:
            text = f"{first}:{c.pick(other[::-1]).name}"
    head = f"for ({index} in {text}) {{"
    if first > n:  # stanli 0.24 computes densities in a loop that never runs, but not behind `break`
        head = both(head, f"{head} if ({first} > {n}) break;")
    return [head, *indented(body(inner, 3, 80)), "}"]


def loop_over_items(place: Place) -> Lines:
    c = place.choices
    known = place.having(
        lambda v: (
            v.kind.name in ("vector", "row_vector", "array", "matrix") and 0 < _count(v.kind) <= min(6, place.budget)
        )
    )
    if not known or place.loops > 3:
        return []
    v = c.pick(known[::-1])
    item = v.kind.element if v.kind.name == "array" else REAL
    name = place.names.fresh()
    inner = place.inner(
        loops=place.loops + 1,
        breakable=True,
        escapes=place.escapes or c.chance(20),
        budget=place.budget // _count(v.kind),
    )
    inner.variables = [x for x in inner.variables if x.name != v.name] + [
        Variable(v.name, v.kind, v.low, v.high, v.data, v.static, False)
    ]
    inner.add(Variable(name, item, v.low, v.high, place.data_only, v.static))  # Stan takes it for a local variable
    head = f"for ({name} in {v.name}) {{"
    if item.name not in ("int", "real"):
        # stanli 0.24 repeats the body for every component of an item that it doesn't read
        index = place.names.fresh()
        own = declared(item, [str(n) for n in all_dims(item)], name)
        head = both(head, f"for ({index} in 1:{v.kind.dims[0]}) {{ {own} = {v.name}[{index}];")
    return [head, *indented(body(inner, 2, 85)), "}"]


def _count(kind: Kind) -> int:
    return kind.dims[0] * (kind.dims[1] if kind.name == "matrix" else 1)


def counted_while(place: Place) -> Lines:
    """`while` that counts, so that it ends."""
    c = place.choices
    n = c.between(1, 3)
    if n > place.budget or place.loops > 3 or place.outermost:
        return []
    name = place.names.fresh()
    stops = c.chance(40) and not place.data_only
    escapes = place.escapes or c.chance(20)
    test = f"{name} < {n}"
    if stops:
        test += f" && ({condition(place, 1)})"
    static = place.static and not stops and not escapes
    inner = place.inner(
        loops=place.loops + 1,
        breakable=True,
        escapes=escapes or stops,
        budget=place.budget // n,
        dynamic=place.dynamic or stops,
    )
    inner.add(Variable(name, INT, 1, n, False, static or place.data_only))
    # stanli 0.24 goes wrong in `while`: `return` in one ends no function, and gradients of dot_product are lost
    head = both(f"while ({test}) {{", f"for ({place.names.fresh()} in 1:{n + 2}) {{ if (!({test})) break;")
    return [f"int {name} = 0;", head, f"  {name} += 1;", *indented(body(inner, 3, 80)), "}"]


def branch(place: Place) -> Lines:
    """`if`, on data or parameters or both."""
    c = place.choices
    static = place.data_only or c.chance(40)
    test = condition(place, 2, static)
    dynamic = place.dynamic or not (static or is_static(place, test))
    lines = [f"if ({test}) {{", *indented(body(place.inner(dynamic=dynamic), 2, 85))]
    if c.chance(25):
        test = condition(place, 1, static)
        lines += [f"}} else if ({test}) {{", *indented(body(place.inner(dynamic=dynamic), 2, 85))]
    if c.chance(50):
        lines += ["} else {", *indented(body(place.inner(dynamic=dynamic), 2, 85))]
    return [*lines, "}"]


def escape(place: Place) -> Lines:
    """`break`, `continue` or `return` under a condition."""
    c = place.choices
    if place.dynamic and not place.escapes:
        return []
    test = condition(place, 1, not place.escapes or place.data_only)
    options = ["break;", "continue;"] if place.breakable else []
    if place.returns:
        options.append(f"return {expression(place, place.result, 1)};" if place.result else "return;")
    how = c.pick(options)
    return (
        [f"if ({test}) {how}"]
        if c.chance(60)
        else [
            f"if ({test}) {{",
            *indented(statements(place.inner(dynamic=place.dynamic or place.escapes), 1)),
            f"  {how}",
            "}",
        ]
    )


def nested_block(place: Place) -> Lines:
    # Stan throws where a profile is inside one of its name
    head = f'profile("{place.names.fresh()}") {{' if place.choices.chance(50) else "{"
    return [head, *indented(body(place.inner(), 2, 85)), "}"]


def law_statement(place: Place) -> Lines:
    return [law(place)]


def increment(place: Place) -> Lines:
    c = place.choices
    if c.chance(20):
        kind = c.pick([vector(max(1, dimension(place))), array(REAL, 2), matrix(2, 2)])
        return [f"target += {expression(place, kind, 2)};"]
    return [f"target += {real(place, 3)};"]


def jacobian_increment(place: Place) -> Lines:
    return [f"jacobian += {real(place, 2)};"]


def increment_or_nothing(place: Place) -> Lines:
    return increment(place) if place.target else declaration(place)


def void_call(place: Place) -> Lines:
    known = [f for f in place.functions if f.result is None and f.suffix in allowed(place)]
    return [f"{with_arguments(place, place.choices.pick(known), 2)};"] if known else []
