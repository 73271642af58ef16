"""Names for the variables and functions of random programs: plain ones, and those that have gone wrong somewhere."""

from __future__ import annotations

from .choices import Choices

PLAIN = tuple("abcdefghkmnpqrstuvwxyz")
PYTHON = (
    "lambda", "def", "class", "import", "from", "global", "is", "not", "and", "or", "pass", "del", "async", "await",
    "with", "yield", "try", "except", "raise", "assert", "finally", "nonlocal", "elif", "None", "True", "False",
    "as", "match", "case", "type", "print_", "len", "range", "list", "dict", "slice", "zip", "str", "bool",
    "float_", "object",
)  # fmt: skip
GENERATED = (
    "target_", "branch", "each_3", "each", "mu_", "mu_1", "x_", "x_1", "a_1", "a_2", "s_", "self", "args",
    "xp", "np", "ppl", "fn", "dist", "jnp", "state", "body", "carry", "lanes", "value", "inputs", "kwargs", "stan",
    "model_", "theta_", "branch_1", "step_1", "loop", "loop_1", "site", "terms", "target_1", "i_", "n_1", "out",
    "done", "stop", "returned", "escape", "go", "flag", "last", "result", "term", "data_", "N_", "dtype", "shape",
    "name", "numpyro", "jax",
)  # fmt: skip

LAWS = ("gamma", "normal", "poisson", "exponential", "multi_normal", "cauchy", "lognormal", "uniform", "binomial")
CALLED_BY_ANY = ("beta", "trigamma", "erfc", "choose", "distance", "crossprod", "quantile", "lbeta", "log10", "rank")


class Names:
    """Names that one program has not used yet."""

    def __init__(self, choices: Choices, adversarial: bool):
        self.choices, self.adversarial = choices, adversarial
        self.used: set[str] = set()
        self.random: set[str] = set()  # variables that are drawn at random
        self.positive: set[str] = set()  # parameters that are positive
        self.words: tuple[str, ...] = ()  # of the library, which variables may have

    def fresh(self) -> str:
        pools: list[tuple[int, tuple[str, ...]]] = [(10, PLAIN)]
        if self.adversarial:
            pools += [(8, PYTHON), (10, GENERATED), *((3, w) for w in (self.words,) if w)]
        name = self.choices.pick(self.choices.weighted(pools))
        found, count = name, 2
        while found in self.used:
            found, count = f"{name}{count}", count + 1
        self.used.add(found)
        return found
