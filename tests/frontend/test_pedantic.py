"""Pedantic warnings: each case of stanc's pedantic mode, where it warns and where it must not."""
from __future__ import annotations

import json

import pytest

import stanimport
from stanimport.__main__ import main


def codes(text: str) -> list[tuple[int, str]]:
    return [(w.line, w.code) for w in stanimport.check("p.stan", source=text, pedantic=True)]


# Programs whose lines the warnings are about, with their codes.
CASES = {
    "no prior": (
        """data { vector[3] y; }
        parameters {
          real mu;
        } model { y ~ normal(mu, 1); }""", [(3, "priors")],
    ),
    "a prior through other parameters": (
        """data { vector[3] y; }
        parameters { real mu; real<lower=0> tau; }
        model { tau ~ exponential(1); mu ~ normal(0, tau); y ~ normal(mu, 1); }""", [],
    ),
    "a prior by target +=": (
        """data { vector[3] y; } parameters { real mu; }
        model { target += normal_lpdf(mu | 0, 1) + normal_lpdf(y | mu, 1); }""", [],
    ),
    "two priors": (
        """parameters {
          real mu;
        } model {
          mu ~ normal(0, 1);
          mu ~ normal(1, 1);
        }""", [(2, "priors"), (4, "distributed-twice")],
    ),
    "unused": (
        """parameters { real a;
          real b;
        } transformed parameters { real c = b; } model { a ~ normal(0, 1); } generated quantities { real d = b; }""",
        [(2, "unused-parameter")],
    ),
    "not positive": (
        """data { real x; } parameters { real s; real<lower=0> r; real<lower=-1> t; }
        model { s ~ normal(0, 1); r ~ normal(0, 1); t ~ normal(0, 1);
          x ~ normal(0, s);
          x ~ normal(0, r);
          x ~ normal(0, t);
        }""", [(3, "distributed-twice"), (3, "support"), (5, "support")],
    ),
    "a constant outside": (
        """parameters { real x; }
        model {
          x ~ normal(0, -1);
        }""", [(3, "support")],
    ),
    "support": (
        """parameters { real x; real<lower=0> y; vector[2] v; simplex[2] p; }
        model {
          x ~ gamma(2, 2);
          y ~ gamma(2, 2);
          v ~ dirichlet([1, 1]');
          p ~ dirichlet([1, 1]');
        }""", [(3, "support"), (5, "support")],
    ),
    "matrices": (
        """data { vector[2] x; vector[2] z; } parameters { matrix[2, 2] m; cov_matrix[2] S; corr_matrix[2] R; }
        model { to_vector(m) ~ normal(0, 1); S ~ wishart(3, identity_matrix(2)); R ~ lkj_corr(2);
          x ~ multi_normal([0, 0]', m);
          z ~ multi_normal([0, 0]', R);
        }""", [(2, "lkj"), (3, "support")],
    ),
    "hard bounds": (
        """parameters {
          real<lower=0, upper=1> p;
          real<lower=-1, upper=1> r;
          real<lower=0, upper=10> s;
          real<lower=2, upper=1> e;
        } model { p ~ beta(2, 2); r ~ normal(0, 1); s ~ normal(0, 1); e ~ normal(0, 1); }""",
        [(4, "hard-constraint"), (5, "bounds")],
    ),
    "uniform": (
        """parameters { real a; real<lower=0, upper=1> b; }
        model {
          a ~ uniform(0, 1);
          b ~ uniform(0, 1);
        }""", [(3, "uniform")],
    ),
    "gamma": (
        """parameters { real<lower=0> a; }
        model {
          a ~ inv_gamma(0.5, 0.5);
        }""", [(3, "vague-gamma")],
    ),
    "scale": (
        """parameters { real a; }
        model {
          a ~ normal(1000, 0.5);
        }""", [(3, "scale")],
    ),
    "non-linear": (
        """parameters { real<lower=0> a; vector[3] b; }
        model {
          log(a) ~ normal(0, 1);
          2 * b + 1 ~ normal(0, 1);
          b[1] ~ normal(0, 1);
        }""", [(1, "priors"), (3, "jacobian")],
    ),
    "control flow": (
        """data { int N; } parameters { real a; }
        model { real s = 1; a ~ normal(0, 1);
          if (a > 0) { s = 2; }
          for (n in 1:N) { if (n > 2) target += n; }
          while (s > 1.5) { s -= 1; }
        }""", [(3, "control-flow"), (5, "control-flow")],
    ),
    "control flow in a function": (
        """functions { real f(real x, int n) {
            if (n > 2) return x;
            if (x > 0) return 1;
            return 2;
          } }
        parameters { real a; } model { target += f(a, 3); }""", [(3, "control-flow")],
    ),
    "unassigned": (
        """data { int N; } model { real x; real y; vector[N] z; real w;
          if (N > 1) x = 1; else x = 2;
          if (N > 1) y = 1;
          for (n in 1:N) z[n] = n;
          target += x + sum(z);
          target += y;
          w += 1;
        }""", [(6, "unassigned"), (7, "unassigned")],
    ),
    "integer division": (
        """data { int N; } transformed data {
          real half = N / 2;
        }""", [(2, "integer-division")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_cases(name):
    text, expected = CASES[name]
    assert codes(text) == expected


def test_only_when_asked():
    text = CASES["no prior"][0]
    assert stanimport.check("p.stan", source=text) == []


def test_the_shell_prints_records_for_editors(tmp_path, capsys):
    (tmp_path / "inner.stan").write_text("real f(real x) {\n  return y;\n}\n")
    wrong, loose = tmp_path / "wrong.stan", tmp_path / "loose.stan"
    wrong.write_text('functions {\n  #include "inner.stan"\n}\nmodel { int i = 1.5; }\n')
    loose.write_text("parameters { real x; }\nmodel { }\n")
    assert main(["check", "--pedantic", "--format", "json", str(wrong), str(loose)]) == 1
    first, second, third = json.loads(capsys.readouterr().out)
    assert (first["file"], first["line"], first["column"]) == (str(tmp_path / "inner.stan"), 2, 10)
    assert (first["end_line"], first["end_column"]) == (2, 11)
    assert first["included_from"] == [{"file": str(wrong), "line": 2}]
    assert (second["line"], second["severity"], second["code"]) == (4, "error", "assignment")
    assert (third["file"], third["severity"], third["code"]) == (str(loose), "warning", "unused-parameter")
    assert main(["check", "--format", "json", str(loose)]) == 0
    assert json.loads(capsys.readouterr().out) == []
