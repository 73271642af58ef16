"""Minibatches: the mean over all batches of the density, and of its gradient, is that of all data, exactly."""
from __future__ import annotations

import itertools
import pickle
import sys
import warnings

import numpy as np
import pytest
import random_batches
from batch_programs import LOCAL, NO_SUM, REFUSED, UNBIASED
from scipy import stats

import stanimport
from stanimport import pipeline, questions
from stanimport.source import Source
from stanlib.batches import BatchWarning

N, BATCH = 3, 2


def data_of(module):
    """Data for a program, of N rows: by its declarations."""
    rng, given = np.random.default_rng(3), {"N": N, "K": 2, "J": 2, "flip": 1}
    made = {}
    for v in module.stan.data:
        shape = tuple(given[n] for n in v.shape)
        drawn = rng.integers(1, 3, shape) if v.type.endswith("int") else rng.normal(size=shape)
        made[v.name] = drawn if shape else given[v.name]
    return made


def axis_of(variable):
    return variable.shape.index("N") if "N" in variable.shape else None


def cut(values, variables, batch):
    """The rows of a batch, of all variables that have some."""
    by_name = {v.name: v for v in variables}
    out = {}
    for name, value in values.items():
        axis = axis_of(by_name[name.partition(".")[0]])
        out[name] = value if axis is None else value[(slice(None),) * axis + (np.asarray(batch),)]
    return out


def numpyro_density(module, inputs, values, model):
    from numpyro.infer.util import log_density

    return log_density(model, (), inputs, values)[0]


def pyro_density(module, inputs, values, model):
    from pyro import poutine

    return poutine.trace(poutine.condition(model, values)).get_trace(**inputs).log_prob_sum()


def start_of(source):
    """Values of all parameters by their sites: those that Pyro's uniform laws draw."""
    import pyro
    from pyro import poutine

    module = stanimport.loads(source, backend="pyro", scheme="comprehensive")
    pyro.set_rng_seed(1)
    nodes = poutine.trace(module.model).get_trace(**data_of(module)).nodes
    drawn = {n: s for n, s in nodes.items() if s["type"] == "sample" and not s["is_observed"]}
    return {n: s["value"].numpy() for n, s in drawn.items() if not n.partition("__plate")[1]}


def of_all(module, inputs, density, values):
    return density(module, inputs, values, module.model)


def mean_of_batches(module, inputs, density, values):
    """The mean of the density over all batches of BATCH rows."""
    batches = list(itertools.combinations(range(N), BATCH))
    model = module.model.minibatch(N=N)
    total = 0.0
    for b in batches:
        given = module.transformed_data(**{**cut(inputs, module.stan.data, b), "N": BATCH})
        total = total + density(module, given, cut(values, module.stan.parameters, b), model)
    return total / len(batches)


def value_and_gradient(module, function, inputs, values):
    if module.stan.backend == "numpyro":
        import jax

        value, gradient = jax.jit(jax.value_and_grad(lambda v: function(module, inputs, numpyro_density, v)))(values)
        return float(value), {n: np.asarray(g) for n, g in gradient.items()}
    torch = sys.modules["torch"]
    leaves = {n: torch.tensor(v).requires_grad_() for n, v in values.items()}
    value = function(module, inputs, pyro_density, leaves)
    gradient = torch.autograd.grad(value, list(leaves.values()), allow_unused=True)
    made = {n: np.zeros(np.shape(v)) if g is None else g.numpy() for (n, v), g in zip(values.items(), gradient)}
    return value.item(), made


GENERATIVE = ("locals", "a predictor", "groups", "a linear model's law")


@pytest.mark.sampled(12)
@pytest.mark.parametrize("backend", ["numpyro", "pyro"])
@pytest.mark.parametrize("case", UNBIASED)
def test_the_mean_over_all_batches_is_the_density_of_all_data(case, backend, x64, torch_double):
    values = start_of(UNBIASED[case])
    for scheme in ("comprehensive", "mixed", *(["generative"] if case in GENERATIVE else [])):
        module = stanimport.loads(UNBIASED[case], backend=backend, scheme=scheme)
        raw = data_of(module)
        expected = value_and_gradient(module, of_all, raw, values)
        found = value_and_gradient(module, mean_of_batches, raw, values)
        np.testing.assert_allclose(found[0], expected[0], rtol=1e-10, err_msg=scheme)
        for name, gradient in expected[1].items():
            np.testing.assert_allclose(found[1][name], gradient, rtol=1e-9, atol=1e-12, err_msg=f"{scheme} {name}")


@pytest.mark.parametrize("statement", REFUSED)
def test_what_depends_on_all_rows_is_refused_by_name(statement):
    module = stanimport.loads(f"data {{ int N; vector[N] y; }} parameters {{ real m; }} model {{ {statement} }}")
    with pytest.raises(stanimport.StanSemanticError, match=REFUSED[statement]):
        module.model.minibatch(N=10)


@pytest.mark.sampled(4)
@pytest.mark.filterwarnings("ignore::stanimport.StanWarning")
@pytest.mark.parametrize("seed", range(138, 146))
def test_what_is_accepted_of_random_programs_is_exact(seed, x64):
    """Their statements mix rows in every way; each is kept that a minibatch doesn't refuse."""
    program = random_batches.Programs(seed).one(is_accepted)
    module = stanimport.loads(program, scheme="comprehensive")
    rng = np.random.default_rng(seed)
    values = {"m": 0.7, "z": rng.normal(size=N), "b": rng.normal(size=2), "e": rng.normal(size=(2, N))}
    raw = data_of(module)
    expected = of_all(module, raw, numpyro_density, values)
    found = mean_of_batches(module, raw, numpyro_density, values)
    np.testing.assert_allclose(found, expected, rtol=1e-9, err_msg=program)


def is_accepted(program):
    try:
        questions.rows_of(Source("model.stan", program), pipeline.Options("numpyro", "comprehensive"), ["N"])
    except stanimport.StanSemanticError:
        return False
    return True


@pytest.mark.parametrize("declared, said", [
    ("ordered[N] z;", "the rows of z depend on one another"),
    ("matrix[N, N] z;", "more than one axis of rows"),
    ("real<lower=max(y)> z;", "the domain of z depends on rows"),
])  # fmt: skip
def test_parameters_whose_rows_belong_together_are_refused(declared, said):
    module = stanimport.loads(LOCAL.format(declared, "y ~ normal(0, 1);"))
    with pytest.raises(stanimport.StanSemanticError, match=said):
        module.model.minibatch(N=10)


@pytest.mark.parametrize("declared, statements, said", [
    ("int<lower=1, upper=9> s;", "for (n in 1:N) y[n] ~ normal(m * s, 1);", "s is not one of each row"),
    ("int<lower=1, upper=9> s;", "for (n in 1:N) y[n] ~ normal(n < s ? m : 0, 1);", f"{NO_SUM}, for 'n < s'"),
    ("array[N] int<lower=0, upper=1> s;", "for (n in 2:N) s[n] ~ bernoulli(s[n - 1] ? 0.2 : 0.5);", NO_SUM),
    ("array[N] int<lower=0, upper=1> s;", "y ~ normal(m * sum(s), 1);", NO_SUM),
    ("array[N] int<lower=0, upper=1> s;", "y[s] ~ normal(m, 1);", NO_SUM),
    ("array[2] int<lower=0, upper=1> s;", "for (n in 1:N) y[n] ~ normal(m * s[1], 1);", "s is not one of each row"),
    ("array[N] int<lower=0, upper=N> s;", "for (n in 1:N) y[n] ~ normal(m * s[n], 1);", "domain of s depends on rows"),
])  # fmt: skip
def test_discrete_parameters_that_tie_rows_are_refused(declared, statements, said):
    module = stanimport.loads(LOCAL.format(f"real m; {declared}", statements))
    with pytest.raises(stanimport.StanSemanticError, match=said):
        module.model.minibatch(N=10)


@pytest.mark.parametrize("guide, said", [
    ("m ~ normal(mean(y), 1); z ~ normal(y, 1);", "no sum of one of each row"),
    ("m ~ normal(0, 1); z ~ normal(c, 1);", "c has an entry for every row"),
])  # fmt: skip
def test_guides_that_depend_on_all_rows_are_refused(guide, said):
    source = LOCAL.format("real m; vector[N] z;", "m ~ normal(0, 1); z ~ normal(m, 1); y ~ normal(z, 2);")
    parameters = "vector[N] c;" if "c," in guide else ""
    module = stanimport.loads(f"{source} guide parameters {{ {parameters} real k; }} guide {{ {guide} }}")
    with pytest.raises(stanimport.StanSemanticError, match=said):
        module.guide.minibatch(N=10)


def test_parameters_of_rows_that_an_automatic_guide_would_share_are_warned_of():
    source = LOCAL.format("real m; vector[N] z;", "m ~ normal(0, 1); z ~ normal(m, 1); y ~ normal(z, 2);")
    with pytest.warns(BatchWarning, match="z has an entry for every row"):
        stanimport.loads(source).model.minibatch(N=10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        guided = f"{source} guide parameters {{ real k; }} guide {{ m ~ normal(k, 1); z ~ normal(k * y, 1); }}"
        stanimport.loads(guided).model.minibatch(N=10)
        stanimport.loads(LOCAL.format("real m;", "y ~ normal(m, 1);")).model.minibatch(N=10)


def test_a_guide_is_scaled_as_its_model(x64):
    source = LOCAL.format("real m; vector[N] z;", "m ~ normal(0, 1); z ~ normal(m, 1); y ~ normal(z, 2);")
    guided = f"{source} guide parameters {{ real k; }} guide {{ m ~ normal(k, 1); z ~ normal(k * y, 1); }}"
    module = stanimport.loads(guided)
    guide = module.guide.minibatch(N=10)
    values = {"m": 0.3, "z": np.array([0.1, 0.7]), "k": 2.0}
    from numpyro.handlers import substitute, trace
    from scipy import stats

    sites = trace(substitute(guide, values)).get_trace(N=2, y=[0.5, -1.0])
    latent = [s for n, s in sites.items() if n in ("m", "z")]
    density = sum(float((s["fn"].log_prob(s["value"]) * (s["scale"] or 1.0)).sum()) for s in latent)
    expected = stats.norm.logpdf(0.3, 2.0) + 5 * stats.norm.logpdf(values["z"], 2.0 * np.array([0.5, -1.0])).sum()
    np.testing.assert_allclose(density, expected)


def test_sizes_are_subsampled_together(x64):
    """Terms that run over two sizes are scaled for both."""
    source = """
        data { int N; int M; matrix[N, M] y; } parameters { vector[N] a; }
        model { a ~ normal(0, 1); for (m in 1:M) for (n in 1:N) y[n, m] ~ normal(a[n], 1); }
    """
    module = stanimport.loads(source, scheme="comprehensive")
    model = module.model.minibatch(N=6, M=8)
    from scipy import stats

    y, a = np.array([[0.5, 1.0], [-1.0, 0.3]]), np.array([0.2, -0.4])
    expected = 3 * stats.norm.logpdf(a).sum() + 12 * stats.norm.logpdf(y, a[:, None]).sum()
    found = numpyro_density(module, module.transformed_data(N=2, M=2, y=y), {"a": a}, model)
    np.testing.assert_allclose(found, expected)


def test_models_of_batches_pickle_as_such(x64):
    module = stanimport.loads(UNBIASED["locals"])
    model = pickle.loads(pickle.dumps(module.model.minibatch(N=10)))
    values, inputs = {"m": 0.3, "z": np.zeros(1)}, {"N": 1, "y": np.array([0.5])}
    assert numpyro_density(module, inputs, values, model) < numpyro_density(module, inputs, values, module.model) - 10


def test_a_minibatch_names_a_declared_size():
    module = stanimport.loads(UNBIASED["locals"])
    with pytest.raises(stanimport.StanError, match="no size 'M'"):
        module.model.minibatch(M=10)
    with pytest.raises(stanimport.StanError, match="has 3 of 2 in the minibatch of N"):
        module.model.minibatch(N=2)(N=3, y=np.zeros(3))


def test_what_a_loop_of_unknown_length_adds_is_scaled_as_each_of_its_statements():
    loop = "real t = m; while (t > 1) { target += -t; y ~ normal(t, 2); t -= 1; } y ~ normal(m, 1);"
    module = stanimport.loads(LOCAL.format("real<lower=0> m;", loop))
    found = numpyro_density(module, {"N": 1, "y": np.array([0.4])}, {"m": 2.5}, module.model.minibatch(N=10))
    of_a_row = stats.norm.logpdf(0.4, 2.5, 1) + stats.norm.logpdf(0.4, [2.5, 1.5], 2).sum()
    np.testing.assert_allclose(found, 10 * of_a_row - 2.5 - 1.5, rtol=1e-6)


def test_a_sum_of_several_statements_can_not_be_told_apart():
    many = " ".join(f"y ~ normal({i}, 1);" for i in range(17))
    module = stanimport.loads(LOCAL.format("real<lower=0> m;", f"if (m > 1) {{ {many} }}"))
    with pytest.raises(stanimport.StanError, match="what target__branch.sum is a sum of can't be told"):
        numpyro_density(module, {"N": 1, "y": np.zeros(1)}, {"m": 0.5}, module.model.minibatch(N=10))


def test_a_bound_by_the_number_of_all_rows_is_none_of_a_batch():
    from numpyro import handlers

    source = "data { int N; array[N] int<lower=1, upper=N> id; vector[N] y; } parameters { real m; } "
    module = stanimport.loads(source + "model { y ~ normal(m, 1); m ~ normal(0, 1); }")
    batch = {"N": 2, "id": [9, 10], "y": [0.5, 1.0]}
    handlers.seed(module.model.minibatch(N=10), 0)(**batch)
    with pytest.raises(stanimport.StanDataError, match="id is out of bounds"):
        handlers.seed(module.model, 0)(**batch)
