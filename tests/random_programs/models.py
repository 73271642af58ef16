"""Random programs do what published models do: lags, censoring, mixtures, filters, covariances, sums over counts."""

from __future__ import annotations

from .containers import vector_of
from .idioms import Lines, _around, _indented, _length, _real, _some
from .integers import condition
from .kinds import REAL, matrix, vector
from .laws import both
from .scope import Place, Variable, size


def modelling(place: Place) -> Lines:
    """One of them; nothing where it does not fit."""
    makers = [(3, lagged), (2, volatility), (2, covariance), (2, filtered), (2, not_centered)]
    if place.target:
        makers += [(3, censored), (3, mixture), (2, summed_over_counts), (2, detections)]
    return place.choices.weighted(makers)(place)


def _new(place: Place, kind: object, name: str) -> None:
    place.add(Variable(name, kind, 0, 0, place.data_only, place.data_only, True))  # type: ignore[arg-type]


def lagged(place: Place) -> Lines:
    """A series of which the last values enter the next one, as far as there are any."""
    c, n = place.choices, max(2, _length(place))
    if 2 * n > place.budget or place.loops > 2:
        return []
    series, t, k = (place.names.fresh() for _ in range(3))
    outer = _around(place, t, n)
    inner = _around(outer, k, 2)
    weight = f"tanh({_real(outer)})"
    step = f"{series}[{t}] += 0.3 * {weight} * {series}[{t} - {k}];"
    lags = c.pick([
        [f"for ({k} in 1:2) if ({t} > {k}) {step}"],
        [f"for ({k} in 1:min({{{t} - 1, 2}})) {{", *_indented(_some(inner, 1)), f"  {step}", "}"],
        [f"for ({k} in 1:2) {{", f"  if ({t} - {k} < 1) break;", f"  {step}", "}"],
        [f"for ({k} in 1:2) {{", f"  if ({t} - {k} < 1) continue;", f"  {step}", "}"],
        [f"{series}[{t}] += {t} > 2 ? 0.4 * sum({series}[{t} - 2 : {t} - 1]) : {weight};"],
    ])  # fmt: skip
    start = c.pick([f"{vector_of(place, n, 1, place.data_only)}", f"rep_vector({_real(place)}, {n})"])
    _new(place, vector(n), series)
    return [f"vector[{size(place, n)}] {series} = {start};", f"for ({t} in 1:{size(place, n)}) {{",
            *_indented([*_some(outer, 1), *lags]), "}"]  # fmt: skip


def volatility(place: Place) -> Lines:
    """Residuals and their scales, each of which depends on both before."""
    c, n = place.choices, max(2, _length(place))
    if n > place.budget or place.loops > 2:
        return []
    errors, scales, t = (place.names.fresh() for _ in range(3))
    inner = _around(place, t, n, 2)
    scale = f"sqrt(0.2 + 0.3 * square({errors}[{t} - 1]) + 0.4 * square({scales}[{t} - 1]))"
    error = f"tanh({_real(inner)}) - 0.2 * {scales}[{c.pick([t, f'{t} - 1'])}]"
    steps = [f"{scales}[{t}] = {scale};", f"{errors}[{t}] = {error};"]
    if place.target and c.chance(60):
        steps.append(both(f"{errors}[{t}] ~ normal(0, {scales}[{t}]);",
                          f"target += normal_lpdf({errors}[{t}] | 0, {scales}[{t}]);"))  # fmt: skip
    lines = [f"vector[{size(place, n)}] {errors};", f"vector[{size(place, n)}] {scales};",
             f"{errors}[1] = {_real(place)};", f"{scales}[1] = exp(tanh({_real(place)}));",
             f"for ({t} in 2:{size(place, n)}) {{", *_indented([*_some(inner, 1), *steps]), "}"]  # fmt: skip
    _new(place, vector(n), errors)
    _new(place, vector(n), scales)
    return lines


def covariance(place: Place) -> Lines:
    """The covariance of a Gaussian process, by a function or entry by entry, and what is drawn from it."""
    c, n = place.choices, min(3, max(2, _length(place)))
    if n * n > place.budget or place.loops > 2:
        return []
    x, k, f, i, j = (place.names.fresh() for _ in range(5))
    at = vector_of(place, n, 1, place.data_only)
    outer = _around(place, i, n)
    scale, width = f"exp(tanh({_real(place)}))", f"(1 + exp(tanh({_real(place)})))"
    kernel = f"square({scale}) * exp(-0.5 * square(({x}[{i}] - {x}[{j}]) / {width}))"
    by_entries = [
        f"matrix[{n}, {n}] {k};",
        f"for ({i} in 1:{n}) {{", *_indented(_some(outer, 1)), f"  {k}[{i}, {i}] = square({scale}) + 0.6;",
        f"  for ({j} in ({i} + 1):{n}) {{", f"    {k}[{i}, {j}] = {kernel};", f"    {k}[{j}, {i}] = {k}[{i}, {j}];",
        "  }", "}",
    ]  # fmt: skip
    by_function = [f"matrix[{n}, {n}] {k} = add_diag(gp_exp_quad_cov({x}, {scale}, {width}), 0.6);"]
    by_rows = [f"matrix[{n}, {n}] {k} = identity_matrix({n});",
               f"for ({i} in 1:{n}) {k}[{i}, {i}:{n}] += {scale} * to_row_vector({x}[{i}:{n}]) * 0.1;",
               f"{k} = multiply_lower_tri_self_transpose({k}') + diag_matrix(rep_vector(0.5, {n}));"]  # fmt: skip
    made = c.pick([by_entries, by_function, by_rows])
    lines = [f"array[{n}] real {x} = to_array_1d(tanh({at}));", *made]
    if made is by_rows:
        lines[0] = f"vector[{n}] {x} = tanh({at});"
    _new(place, matrix(n, n), k)
    lines.append(f"vector[{n}] {f} = cholesky_decompose({k}) * ({vector_of(place, n, 1, place.data_only)});")
    _new(place, vector(n), f)
    return lines


def filtered(place: Place) -> Lines:
    """A Kalman filter: mean and covariance of a state of two, and the log density of what is seen."""
    c, n = place.choices, max(2, _length(place))
    if 2 * n > place.budget or place.loops > 1:
        return []
    m, p, gain, seen, total, t = (place.names.fresh() for _ in range(6))
    inner = _around(place, t, n)
    lines = [f"  {m} = [[1, 0.3], [0, 0.8]] * {m};", f"  {p} = quad_form_sym({p}, [[1, 0], [0.3, 0.8]]) + "
             f"diag_matrix([0.2, exp(tanh({_real(inner)}))]');", *_indented(_some(inner, 1))]  # fmt: skip
    update = [f"real {seen} = tanh({_real(inner)}) - {m}[1];", f"vector[2] {gain} = {p}[, 1] / ({p}[1, 1] + 0.5);",
              f"{total} += normal_lpdf({seen} | 0, sqrt({p}[1, 1] + 0.5));", f"{m} += {gain} * {seen};",
              c.pick([f"{p} -= {gain} * {p}[1];", f"{p} = {p} - {gain} * {p}[1, ];"])]  # fmt: skip
    if c.chance(40):
        update = [f"if ({condition(inner, 1, place.data_only or c.chance(60))}) {{", *_indented(update), "}"]
    _new(place, REAL, total)
    return [f"real {total} = 0;", "{", f"  vector[2] {m} = [{_real(place)}, 0.1]';",
            f"  matrix[2, 2] {p} = diag_matrix(rep_vector(1.5, 2));",
            f"  for ({t} in 1:{size(place, n)}) {{",
            *_indented(_indented([*lines, *update])), "  }",
            f"  {total} = tanh(0.1 * {total} + sum({m}));", "}"]  # fmt: skip


def not_centered(place: Place) -> Lines:
    """Effects of groups by a factor of their correlations, the groups those of a list of indices."""
    c, n = place.choices, max(2, _length(place))
    if 2 * n > place.budget or place.loops > 1:
        return []
    effects, means, z, scales, i = (place.names.fresh() for _ in range(5))
    inner = _around(place, i, n)
    factor = f"[[1, 0], [tanh({_real(place)}), 0.8]]"
    group = c.pick([f"{i}", f"{n} + 1 - {i}", f"({i} % 2) + 1"])
    rows = [f"matrix[2, {n}] {z} = rep_matrix({vector_of(place, 2, 1, place.data_only)}, {n});",
            f"vector[2] {scales} = exp(tanh({vector_of(place, 2, 1, place.data_only)}));",
            f"matrix[{n}, 2] {effects} = (diag_pre_multiply({scales}, {factor}) * {z})';", f"vector[{n}] {means};"]
    step = f"{means}[{i}] = {effects}[{group}, 1] + {effects}[{group}, 2] * tanh({_real(inner)});"
    lines = [*rows, f"for ({i} in 1:{size(place, n)}) {{", *_indented([*_some(inner, 1), step]), "}"]
    _new(place, matrix(n, 2), effects)
    _new(place, vector(n), means)
    return lines


def censored(place: Place) -> Lines:
    """Outcomes some of which are known to lie above or below a bound."""
    c, n = place.choices, _length(place)
    if n > place.budget:
        return []
    i, y, mu = (place.names.fresh() for _ in range(3))
    inner = _around(place, i, n)
    law = c.pick(["logistic", "gumbel", "double_exponential", "normal"])
    given = f"{mu}, exp(tanh({_real(inner)}))"
    forms = {"lpdf": f"{law}_lpdf({y} | {given})", "lcdf": f"{law}_lcdf({y} | {given})",
             "lccdf": f"{law}_lccdf({y} | {given})",
             "between": f"log_diff_exp({law}_lcdf({y} + 0.7 | {given}), {law}_lcdf({y} | {given}))"}  # fmt: skip
    first, second, third = (c.pick(list(forms)) for _ in range(3))
    seen = f"target += {forms[first]};"
    if first == "lpdf":
        seen = both(f"{y} ~ {law}({given});", seen)
    lines = [f"real {mu} = tanh({_real(inner)});", f"real {y} = 1.5 * tanh({_real(inner)});", *_some(inner, 1),
             f"if ({condition(inner, 1, c.chance(70))}) {seen}",
             f"else if ({condition(inner, 1, c.chance(70))}) target += {forms[second]};",
             f"else target += {forms[third]};"]  # fmt: skip
    return [f"for ({i} in 1:{size(place, n)}) {{", *_indented(lines), "}"]


def mixture(place: Place) -> Lines:
    """A mixture of laws for every outcome, its components in a local vector or mixed two by two."""
    c, n = place.choices, _length(place)
    if 2 * n > place.budget:
        return []
    i, k, terms, weights = (place.names.fresh() for _ in range(4))
    inner = _around(place, i, n)
    part = _around(inner, k, 2)
    y = f"({vector_of(place, n, 1)})[{i}]"
    by_terms = [f"vector[2] {terms} = {weights};",
                f"for ({k} in 1:2) {{", *_indented(_some(part, 1)),
                f"  {terms}[{k}] += normal_lpdf({y} | {k} - tanh({_real(part)}), 1.2);", "}",
                f"target += log_sum_exp({terms});"]  # fmt: skip
    one, other = f"normal_lpdf({y} | tanh({_real(inner)}), 1)", f"student_t_lpdf({y} | 4, {_real(inner)}, 1.5)"
    share = c.pick([f"exp({weights}[1])", f"inv_logit({_real(inner)})"])
    mixed = [f"target += log_mix({share}, {one}, {other});"]
    declared = [f"array[2] real {terms};", f"{terms}[1] = log({share}) + {one};",
                f"{terms}[2] = log1m({share}) + {other};", f"target += log_sum_exp({terms});"]  # fmt: skip
    lines = c.pick([by_terms, mixed, declared])
    return [f"vector[2] {weights} = log_softmax({vector_of(place, 2, 1)});", f"for ({i} in 1:{size(place, n)}) {{",
            *_indented([*_some(inner, 1), *lines]), "}"]  # fmt: skip


def summed_over_counts(place: Place) -> Lines:
    """A count that is not known, summed out from the largest one seen to some bound."""
    c, n = place.choices, _length(place)
    if 4 * n > place.budget or place.loops > 1:
        return []
    i, k, low, terms = (place.names.fresh() for _ in range(4))
    inner = _around(place, i, n)
    part = _around(inner, k, 4)
    law = f"poisson_log_lpmf({low} + {k} - 1 | tanh({_real(inner)}))"
    seen = f"binomial_lpmf({low} | {low} + {k} - 1, inv_logit({_real(part)}))"
    from .integers import integer

    lines = [f"int {low} = {integer(inner, 0, 3, 1, static=c.chance(70))};", f"vector[4] {terms};",
             f"for ({k} in 1:4) {{", *_indented(_some(part, 1)), f"  {terms}[{k}] = {law} + {seen};", "}",
             f"target += log_sum_exp({terms});"]  # fmt: skip
    return [f"for ({i} in 1:{size(place, n)}) {{", *_indented([*_some(inner, 1), *lines]), "}"]


def detections(place: Place) -> Lines:
    """What is seen between the first and the last time, and the chance of not being seen again."""
    c, n = place.choices, max(2, _length(place))
    if 2 * n > place.budget or place.loops > 1:
        return []
    chance, t, back = (place.names.fresh() for _ in range(3))
    outer = _around(place, t, n)
    first = c.pick(["1", "2", f"min({{2, {n}}})"])
    step = f"{chance}[{back}] = 1 - inv_logit({_real(place)}) * (1 - 0.6 * {chance}[{back} + 1]);"
    backwards = c.pick([
        [f"for ({t} in 1:{n - 1}) {{", f"  int {back} = {n} - {t};", f"  {step}", "}"],
        [f"for ({t} in 1:{n - 1}) {{", f"  int {back};", f"  {back} = {n} - {t};", f"  {step}", "}"],
    ])  # fmt: skip
    law = f"bernoulli_lpmf({condition(outer, 1, True)} | inv_logit({_real(outer)}) * {chance}[{t}])"
    return [f"vector[{n}] {chance};", f"{chance}[{n}] = 1;", *backwards, f"for ({t} in {first}:{n}) {{",
            *_indented([*_some(outer, 1), f"target += {law};"]), "}", f"target += log({chance}[{first}]);"]  # fmt: skip
