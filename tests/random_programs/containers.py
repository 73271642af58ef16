"""Random expressions of vectors, row vectors, matrices, arrays and tuples."""

from __future__ import annotations

from .integers import condition, integer
from .kinds import COMPLEX, INT, REAL, Kind, array, is_empty, matrix, row_vector, vector
from .scope import Place, Variable, size

ELEMENTWISE = (
    "tanh({})",
    "inv_logit({})",
    "exp(-square({}))",
    "sin({})",
    "-({})",
    "({}) * 0.4",
    "1.2 - ({})",
    "({}) / 1.3",
    "square(tanh({}))",
    "atan({})",
    "abs({})",
    "log1p_exp({})",
    "({}) .^ 2",
    "log1p(square({}))",
)
OF_TWO = ("({}) + {}", "({}) - ({})", "({}) .* ({})", "({}) ./ (1.5 + square({}))", "fmax({}, {})", "fmin({}, {})")


def expression(place: Place, kind: Kind, depth: int = 2, data: bool = False, low: int = -3, high: int = 4) -> str:
    """An expression of any kind; ints within [low, high]."""
    from .complexes import CONTAINERS, complex_container, complex_number
    from .reals import real

    with place.choices.span():
        if kind.name in CONTAINERS:
            return complex_container(place, kind, depth, data)
        if kind == REAL:
            return real(place, depth, data)
        if kind == INT:
            return integer(place, low, high, depth, static=data)
        if kind == COMPLEX:
            return complex_number(place, depth, data)
        maker = {
            "vector": vector_of,
            "row_vector": row_vector_of,
            "matrix": matrix_of,
            "array": array_of,
            "tuple": tuple_value,
        }[kind.name]
        arguments = kind.dims if kind.name not in ("array", "tuple") else (kind,)
        if maker is array_of:
            return array_of(place, kind, depth, data, low, high)
        return maker(place, *arguments, depth, data)  # type: ignore[operator]


def _variable(place: Place, kind: Kind, data: bool) -> str:
    known = place.of(kind, data)
    return place.choices.pick(known[::-1]).name if known else ""


def vector_of(place: Place, n: int, depth: int = 2, data: bool = False) -> str:
    return _one_axis(place, vector(n), depth, data)


def row_vector_of(place: Place, n: int, depth: int = 2, data: bool = False) -> str:
    return _one_axis(place, row_vector(n), depth, data)


def _one_axis(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .complexes import parts_of_complex

    c = place.choices
    with c.span():
        makers = [(2, _display), (8, _known), (3, _repeated), (3, _sliced)]
        if depth > 0:
            makers += [(4, _elementwise), (4, _two), (2, _of_matrix), (2, _transposed), (1, _choice), (1, _converted)]
            makers += [(1, _appended), (1, _product), (1, _scan)]
            if place.functions and not data:
                makers.append((3, _called))
            if "complex" in place.features:
                makers.append((2, parts_of_complex))
            if place.draws and kind.name == "vector":
                makers.append((2, _drawn))
        made = c.weighted(makers)(place, kind, depth, data)
        return made or _known(place, kind, depth, data) or _display(place, kind, depth, data)


def _drawn(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .certain import drawn_vector

    return drawn_vector(place, kind.dims[0], depth, data)


def _known(place: Place, kind: Kind, depth: int, data: bool) -> str:
    return _variable(place, kind, data)


def _display(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .reals import real

    n = kind.dims[0]
    if n == 0:
        return f"rep_{kind.name}(0.5, 0)"
    inner = ", ".join(real(place, min(depth - 1, 1), data) for _ in range(n))
    return f"[{inner}]'" if kind.name == "vector" else f"[{inner}]"


def _repeated(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .reals import real

    return f"rep_{kind.name}({real(place, depth - 1, data)}, {size(place, kind.dims[0])})"


def _stretch(place: Place, n: int, inside: int) -> str:
    """An index that takes n of `inside` entries: a range, an open one, or a list."""
    c = place.choices
    start = c.between(1, inside - n + 1)
    end = start + n - 1
    options = [f"{start}:{size(place, end) if end else end}"]
    if start == 1:
        options.append(f":{end}")
    if end == inside:
        options.append(f"{start}:")
    if n == inside:
        options.append("" if n else "1:0")
    lists = place.having(lambda v: v.kind == array(INT, n) and v.low >= 1 and v.high <= inside and v.static)
    if lists:
        options += [c.pick(lists).name] * 2
    if n:
        options.append("{" + ", ".join(str(c.between(1, inside)) for _ in range(n)) + "}")
    return c.pick(options)


def _sliced(place: Place, kind: Kind, depth: int, data: bool) -> str:
    n = kind.dims[0]
    known = place.having(lambda v: v.kind.name == kind.name and v.kind.dims[0] >= max(n, 1) and (v.data or not data))
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    if place.choices.chance(30):
        inside = v.kind.dims[0]
        forms = [f"head({v.name}, {n})", f"tail({v.name}, {n})"]
        if n:
            forms.append(f"segment({v.name}, {integer(place, 1, inside - n + 1, 1, static=True)}, {n})")
        return place.choices.pick(forms)
    return f"{v.name}{_twice(place, (n,), v.kind.dims)}"


def _twice(place: Place, wanted: tuple[int, ...], inside: tuple[int, ...]) -> str:
    """Indices that take so many entries along each axis, at once or from a part that others take."""
    c = place.choices
    if c.chance(15) and 0 not in wanted:
        middle = tuple(c.between(n, m + 1) for n, m in zip(wanted, inside))
        lists = ["{" + ", ".join(str(c.between(1, m)) for _ in range(k)) + "}" for k, m in zip(middle, inside)]
        return f"[{', '.join(lists)}][{', '.join(_stretch(place, n, k) for n, k in zip(wanted, middle))}]"
    return f"[{', '.join(_stretch(place, n, m) for n, m in zip(wanted, inside))}]"


def _elementwise(place: Place, kind: Kind, depth: int, data: bool) -> str:
    return place.choices.pick(ELEMENTWISE).format(_one_axis(place, kind, depth - 1, data))


def _two(place: Place, kind: Kind, depth: int, data: bool) -> str:
    one, other = _one_axis(place, kind, depth - 1, data), _one_axis(place, kind, depth - 1, data)
    return "(" + place.choices.pick(OF_TWO).format(one, other) + ")"


def _of_matrix(place: Place, kind: Kind, depth: int, data: bool) -> str:
    """A row or a column of a matrix."""
    c, n, along = place.choices, kind.dims[0], 0 if kind.name == "vector" else 1
    known = place.having(
        lambda v: (
            v.kind.name == "matrix" and v.kind.dims[along] >= n and v.kind.dims[1 - along] > 0 and (v.data or not data)
        )
    )
    if not known:
        return ""
    v = c.pick(known[::-1])
    at, inside = integer(place, 1, v.kind.dims[1 - along], 1), v.kind.dims[along]
    if inside == n:
        forms = (
            [f"{v.name}[, {at}]", f"col({v.name}, {at})"]
            if along == 0
            else [f"{v.name}[{at}]", f"{v.name}[{at}, ]", f"row({v.name}, {at})"]
        )
        return c.pick(forms)
    part = _stretch(place, n, inside)
    return f"{v.name}[{part}, {at}]" if along == 0 else f"{v.name}[{at}, {part}]"


def _transposed(place: Place, kind: Kind, depth: int, data: bool) -> str:
    other = row_vector(kind.dims[0]) if kind.name == "vector" else vector(kind.dims[0])
    return f"({_one_axis(place, other, depth - 1, data)})'"


def _choice(place: Place, kind: Kind, depth: int, data: bool) -> str:
    test = condition(place, depth - 1, data)
    return f"({test} ? {_one_axis(place, kind, depth - 1, data)} : {_one_axis(place, kind, depth - 1, data)})"


def _converted(place: Place, kind: Kind, depth: int, data: bool) -> str:
    return f"to_{kind.name}({expression(place, array(REAL, kind.dims[0]), depth - 1, data)})"


def _appended(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .reals import real

    n = kind.dims[0]
    if n < 1:
        return ""
    function = "append_row" if kind.name == "vector" else "append_col"
    rest = Kind(kind.name, (n - 1,))
    return f"{function}({real(place, depth - 1, data)}, {_one_axis(place, rest, depth - 1, data)})"


def _product(place: Place, kind: Kind, depth: int, data: bool) -> str:
    c, n = place.choices, kind.dims[0]
    if n == 0:
        return ""
    inner = c.between(1, 3)
    if kind.name == "vector":
        return f"(({matrix_of(place, n, inner, depth - 1, data)}) * ({vector_of(place, inner, depth - 1, data)}))"
    return f"(({row_vector_of(place, inner, depth - 1, data)}) * ({matrix_of(place, inner, n, depth - 1, data)}))"


def _scan(place: Place, kind: Kind, depth: int, data: bool) -> str:
    forms = ["cumulative_sum({})", "reverse({})"]
    if kind.name == "vector" and kind.dims[0] > 0:
        forms += ["softmax({})", "log_softmax({})"]
    return place.choices.pick(forms).format(_one_axis(place, kind, depth - 1, data))


def _called(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .calls import call

    return call(place, kind, depth)


def matrix_of(place: Place, rows: int, columns: int, depth: int = 2, data: bool = False) -> str:
    from .complexes import parts_of_complex

    c, kind = place.choices, matrix(rows, columns)
    with c.span():
        makers = [(8, _known), (2, _rows), (2, _repeated_matrix)]
        if depth > 0:
            makers += [(3, _matrix_elementwise), (3, _matrix_two), (2, _outer), (1, _matrix_transposed), (2, _block)]
            makers += [(1, _diagonal)]
            if place.functions and not data:
                makers.append((2, _called))
            if "complex" in place.features:
                makers.append((1, parts_of_complex))
        return c.weighted(makers)(place, kind, depth, data) or _rows(place, kind, depth, data)


def _rows(place: Place, kind: Kind, depth: int, data: bool) -> str:
    rows, columns = kind.dims
    if 0 in kind.dims:
        return _repeated_matrix(place, kind, depth, data)
    return "[" + ", ".join(row_vector_of(place, columns, min(depth - 1, 1), data) for _ in range(rows)) + "]"


def _repeated_matrix(place: Place, kind: Kind, depth: int, data: bool) -> str:
    from .reals import real

    rows, columns = (size(place, n) for n in kind.dims)
    forms = [
        lambda: f"rep_matrix({real(place, depth - 1, data)}, {rows}, {columns})",
        lambda: f"rep_matrix({vector_of(place, kind.dims[0], depth - 1, data)}, {columns})",
        lambda: f"rep_matrix({row_vector_of(place, kind.dims[1], depth - 1, data)}, {rows})",
    ]
    return place.choices.pick(forms)()


def _matrix_elementwise(place: Place, kind: Kind, depth: int, data: bool) -> str:
    return place.choices.pick(ELEMENTWISE).format(matrix_of(place, *kind.dims, depth - 1, data))


def _matrix_two(place: Place, kind: Kind, depth: int, data: bool) -> str:
    one, other = matrix_of(place, *kind.dims, depth - 1, data), matrix_of(place, *kind.dims, depth - 1, data)
    return "(" + place.choices.pick(OF_TWO).format(one, other) + ")"


def _outer(place: Place, kind: Kind, depth: int, data: bool) -> str:
    rows, columns = kind.dims
    if place.choices.chance(50):
        return f"(({vector_of(place, rows, depth - 1, data)}) * ({row_vector_of(place, columns, depth - 1, data)}))"
    inner = place.choices.between(1, 2)
    one, other = matrix_of(place, rows, inner, depth - 1, data), matrix_of(place, inner, columns, depth - 1, data)
    return f"(({one}) * ({other}))"


def _matrix_transposed(place: Place, kind: Kind, depth: int, data: bool) -> str:
    return f"({matrix_of(place, *kind.dims[::-1], depth - 1, data)})'"


def _block(place: Place, kind: Kind, depth: int, data: bool) -> str:
    rows, columns = kind.dims
    known = place.having(
        lambda v: (
            v.kind.name == "matrix"
            and v.kind.dims[0] >= max(rows, 1)
            and v.kind.dims[1] >= max(columns, 1)
            and (v.data or not data)
        )
    )
    if not known:
        return ""
    v = place.choices.pick(known[::-1])
    return f"{v.name}{_twice(place, kind.dims, v.kind.dims)}"


def _diagonal(place: Place, kind: Kind, depth: int, data: bool) -> str:
    n = kind.dims[0]
    if n != kind.dims[1] or n == 0:
        return ""
    form = place.choices.pick(["diag_matrix({})", "add_diag(rep_matrix(0.1, {n}, {n}), {})"])
    return form.replace("{n}", str(n)).replace("{}", vector_of(place, n, depth - 1, data))


def array_of(place: Place, kind: Kind, depth: int = 2, data: bool = False, low: int = -3, high: int = 4) -> str:
    c, n, element = place.choices, kind.dims[0], kind.element

    def inside(v: Variable) -> bool:
        held = innermost(kind) != INT or (v.low >= low and v.high <= high)
        return held and (v.data or not data)

    with c.span():
        same = place.having(lambda v: v.kind == kind and inside(v))
        larger = place.having(
            lambda v: v.kind.name == "array" and v.kind.element == element and v.kind.dims[0] >= max(n, 1) and inside(v)
        )
        if depth > 0 and place.functions and not data and c.chance(20):
            made = "" if innermost(kind) == INT else _called(place, kind, depth, data)
            if made:
                return made
        what = c.below(6)
        if what < 3 and same:
            return c.pick(same[::-1]).name
        if what == 4 and larger:
            v = c.pick(larger[::-1])
            return f"{v.name}[{_stretch(place, n, v.kind.dims[0])}]"
        if innermost(kind).name == "tuple":
            inner = ", ".join(expression(place, element, min(depth - 1, 1), data, low, high) for _ in range(max(n, 1)))
            return f"{{{inner}}}" if n else f"{{{inner}}}[2:1]"
        if what == 5 or n == 0:
            return f"rep_array({expression(place, element, depth - 1, data, low, high)}, {size(place, n)})"
        return "{" + ", ".join(expression(place, element, min(depth - 1, 1), data, low, high) for _ in range(n)) + "}"


def innermost(kind: Kind) -> Kind:
    while kind.name == "array":
        kind = kind.element
    return kind


def tuple_value(place: Place, kind: Kind, depth: int = 2, data: bool = False) -> str:
    known = _variable(place, kind, data)
    if known and place.choices.chance(50):
        return known
    if depth > 0 and place.functions and not data and place.choices.chance(30):
        made = _called(place, kind, depth, data)
        if made:
            return made
    return "(" + ", ".join(expression(place, item, depth - 1, data) for item in kind.items) + ")"


def summary(name: str, kind: Kind) -> str:
    """A real that all of a value enters, or one part of what is nested; nothing if it is empty."""
    if is_empty(kind):
        return ""
    if kind.name == "tuple":
        return " + ".join(filter(None, (summary(f"{name}.{i}", item) for i, item in enumerate(kind.items, 1))))
    if kind.name == "array" and kind.element not in (INT, REAL):
        return summary(f"{name}[{kind.dims[0]}]", kind.element)
    if kind == COMPLEX:
        return f"get_real({name}) - get_imag({name})"
    if kind.name.startswith("complex"):
        return f"get_imag(sum({name})) + 0.3 * get_real({name}[{', '.join(map(str, kind.dims))}])"
    return name if kind == REAL else f"0.3 * {name}" if kind == INT else f"sum({name})"
