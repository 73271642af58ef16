"""Random programs lay values out: row by row, one group behind the other, in tuples, in boxes of many sizes."""

from __future__ import annotations

from .containers import expression
from .idioms import Lines, _around, _indented, _length, _real, _some
from .integers import condition
from .kinds import REAL, all_dims, array, declared, matrix, tuple_of, vector
from .scope import Place, Variable, size


def rows_of_matrices(place: Place) -> Lines:
    """An array of matrices, each row of which is computed from rows before."""
    c, n = place.choices, _length(place)
    if 2 * n > place.budget or place.loops > 2:
        return []
    name, i, k = (place.names.fresh() for _ in range(3))
    outer = _around(place, i, n)
    inner = _around(outer, k, 2)
    row = f"[{_real(inner)}, {_real(inner)}]"
    first = c.pick([f"{name}[{k}][{i}] = {row};", f"{name}[{k}, {i}] = {row};", f"{name}[{k}][{i}, ] += {row};",
                    f"{name}[{k}][{i}, 1] -= sum({row});"])  # fmt: skip
    before = c.pick([f"{name}[3 - {k}][{i} - 1]", f"{name}[{k}, {i} - 1]", f"{name}[{k}][{i} - 1, {{2, 1}}]"])
    then = [f"if ({i} > 1) {name}[{k}][{i}] += 0.4 * {before};"] if c.chance(70) else []
    last = [f"{name}[{k}, {i}, 2] *= tanh({_real(inner)});"] if c.chance(50) else []
    lines = [f"array[2] matrix[{size(place, n)}, 2] {name} = rep_array(rep_matrix(0.1, {n}, 2), 2);",
             f"for ({i} in 1:{size(place, n)}) {{", *_indented(_some(outer, 1)), f"  for ({k} in 1:2) {{",
             *_indented(_indented([first, *_some(inner, 1), *then, *last])), "  }", "}"]  # fmt: skip
    place.add(Variable(name, array(matrix(n, 2), 2), 0, 0, place.data_only, place.data_only, True))
    return lines


def one_behind_the_other(place: Place) -> Lines:
    """Groups whose entries a running position counts."""
    if "ragged" not in place.features or 3 * place.sizes["NG"] > place.budget or place.loops > 1:
        return []
    c = place.choices
    position, values, total, g, i = (place.names.fresh() for _ in range(5))
    outer = _around(place, g, place.sizes["NG"])
    inner = _around(outer, i, 3)
    value = f"sin({_real(inner)})"
    if c.chance(60):
        value = f"({i} > 1 ? 0.4 * {values}[{position} - 1] : {_real(outer)}) + {value}"
    part = c.pick([f"{values}[{position} - length_g[{g}] + 1 : {position}]",
                   f"segment({values}, start_g[{g}], length_g[{g}])"])  # fmt: skip
    entries = [f"for ({i} in 1:length_g[{g}]) {{", f"  {position} += 1;", f"  {values}[{position}] = {value};", "}"]
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    return [f"real {total} = 0;", "{", f"  int {position} = 0;", f"  vector[NR] {values} = rep_vector(0.2, NR);",
            f"  for ({g} in 1:NG) {{", *_indented(_indented(entries)), f"    {total} += tanh(sum({part}));", "  }",
            f"  {total} += 0.1 * {position};", "}"]  # fmt: skip


def tuples_of_containers(place: Place) -> Lines:
    """A tuple whose containers a loop fills."""
    c, n = place.choices, _length(place)
    if "tuples" not in place.features or n > place.budget:
        return []
    name, total, i = (place.names.fresh() for _ in range(3))
    inner = _around(place, i, n)
    steps = [f"{name}.1[{i}] = {_real(inner)};", f"{name}.2[{i}] = [{name}.1[{i}], {_real(inner)}]';"]
    steps += [f"if ({i} > 1) {name}.2[{i}] += 0.3 * {name}.2[{i} - 1];"] if c.chance(60) else []
    steps += [f"{name}.3 += {name}.1[{i}] * {name}.2[{i}, 2];"]
    sizes = [size(place, n) for _ in range(3)]
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    return [f"real {total} = 0;", "{", f"  tuple(vector[{sizes[0]}], array[{sizes[1]}] vector[2], real) {name};",
            f"  {name}.1 = rep_vector(0.3, {n});", f"  {name}.2 = rep_array([0.1, 0.2]', {n});", f"  {name}.3 = 0;",
            f"  for ({i} in 1:{sizes[2]}) {{", *_indented(_indented([*_some(inner, 1), *steps])), "  }",
            f"  {total} += tanh({name}.3 + sum({name}.1) - {name}.2[{n}, 2]);", "}"]  # fmt: skip


def arrays_of_tuples(place: Place) -> Lines:
    """An array of tuples that a loop fills item by item, from the ones before, on some of its ways."""
    c, n = place.choices, _length(place)
    if "tuples" not in place.features or 2 * n > place.budget or place.loops > 2:
        return []
    name, total, i, j = (place.names.fresh() for _ in range(4))
    outer = _around(place, i, n)
    inner = _around(outer, j, 2)
    pair = tuple_of(REAL, array(REAL, 2))
    kind = c.pick([array(tuple_of(REAL, vector(2)), n), array(tuple_of(REAL, vector(2), pair), n),
                   array(tuple_of(REAL, vector(2), array(pair, 2)), n)])  # fmt: skip
    changes = [f"{name}[{i}].1 = {_real(outer)};", f"for ({j} in 1:2) {name}[{i}].2[{j}] = {_real(inner)};"]
    if len(kind.element.items) == 3:
        held = f"{name}[{i}].3" + ("" if kind.element.items[2] == pair else f"[{c.between(1, 2)}]")
        changes += [f"{held}.1 = {name}[{i}].1 + {_real(outer)};", f"{held}.2[{c.between(1, 2)}] -= {_real(outer)};",
                    f"{held} = ({_real(outer)}, {{{held}.1, {held}.2[1]}});"]  # fmt: skip
    changes += [f"if ({i} > 1) {name}[{i}].2 += 0.3 * {name}[{i} - 1].2;",
                f"if ({condition(outer, 1, place.data_only)}) {name}[{i}].1 *= {_real(outer)};",
                f"({name}[{i}].1, {name}[{i}].2[1]) = ({_real(outer)}, {name}[{i}].1);",
                f"if ({i} > 1) {name}[{i}].1 = tanh({name}[{i} - 1].1) + {_real(outer)};"]  # fmt: skip
    chosen = [line for line in changes if c.chance(65)]
    taken = f"{name}[{i}].1 + sum({name}[{i}].2)"
    if len(kind.element.items) == 3:
        taken += f" - {held}.2[2]"
    head = declared(kind, [str(d) for d in all_dims(kind)], name)
    steps = [*_some(outer, 1), *chosen, f"{total} += tanh({taken});"]
    lines = [f"{head} = {expression(place, kind, 2, place.data_only)};", f"for ({i} in 1:{size(place, n)}) {{",
             *_indented(steps), "}"]  # fmt: skip
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    place.add(Variable(name, kind, 0, 0, place.data_only, place.data_only, True))
    return [f"real {total} = 0;", *lines]


def boxes(place: Place) -> Lines:
    """A local array of two axes, whose sizes differ between the iterations of a loop and may be zero."""
    c, n = place.choices, min(3, _length(place))
    if n * n * n > place.budget or place.loops > 1:
        return []
    name, total, i, j, k = (place.names.fresh() for _ in range(5))
    outer = _around(place, i, n)
    inner = _around(_around(outer, j, n), k, n)
    rows, columns = c.pick([(i, f"{n} - {i}"), (f"{i} - 1", i), (i, "2"), (f"{n} - {i}", f"{i} + 1")])
    kind = c.pick([f"array[{rows}, {columns}] real {name};", f"matrix[{rows}, {columns}] {name};"])
    change = f"{name}[{j}, {k}] = " + (f"{j} > 1 ? 0.4 * {name}[{j} - 1, {k}] + tanh({_real(inner)}) : " if c.chance(60)
                                        else "") + f"{_real(inner)};"  # fmt: skip
    taken = c.pick([f"sum(to_vector(to_matrix({name})))", f"sum(to_array_1d({name}))", f"num_elements({name}) * 0.1"])
    test = f"if ({rows} > 0) {total} += tanh(sum({name}[{rows}]));"
    place.add(Variable(total, REAL, 0, 0, place.data_only, place.data_only, True))
    return [f"real {total} = 0;", f"for ({i} in 1:{n}) {{", f"  {kind}",
            *_indented([f"for ({j} in 1:{rows}) for ({k} in 1:{columns}) {change}", *_some(outer, 1), test,
                        f"{total} += 0.2 * tanh({taken});"]), "}"]  # fmt: skip
