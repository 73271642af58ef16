"""What the front end says of wrong programs, word for word: `python -m tests.frontend.approve` accepts new messages."""
from __future__ import annotations

import sys
from pathlib import Path

import pytest

import stanimport

sys.path.insert(0, str(Path(__file__).parent))
from approve import FOLDER, messages

PROGRAMS = sorted(FOLDER.glob("*.stan"))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_messages(path):
    assert messages(path) == path.with_suffix(".expected").read_text()


@pytest.mark.parametrize("text, hint", [
    ("parameters { real x; } model { x = normal(0, 1); }", "write ~ for its distribution"),
    ("data { int N; } model { for (i in range(N)) { } }", "write 1:N"),
    ("data { int N; } model { for i in 1:N { } }", "write for (i in 1:N)"),
    ("model { while 1 < 2 { } }", "the condition stands in parentheses: while (...)"),
    ("parameters { float x; }", "write real"), ("parameters { Real x; }", "write real"),
    ("data { bool b; }", "write int"),
    ("model { let x = 1; }", "such as real x"), ("data { int N; vector y; }", "give its size: vector[N] y"),
    ("data { int N; matrix[N] y; }", "matrix[M, N]"), ("parameters { simplex[3, 2] x; }", "array[N] simplex[...]"),
    ("parameters { real x<lower=0>; }", "behind the type: real<lower=0> x"),
    ("parameters { real<0, 1> x; }", "name the bounds"), ("parameters { real<lower 0> x; }", "write lower=..."),
    ("parameters { real x; } model { x ~ normal(mean=0, sd=1); }", "arguments have no names"),
    ("data { int N; } model { if (N = 1) { } }", "write == to compare"),
    ("data { int N; } model { if (N > 1) { } elif (N > 2) { } }", "write else if"),
    ("data { int N; } model { if (N > 1 and N < 3) { } }", "write &&"),
    ("data { int N; } model { if not (N > 1) { } }", "write ! for not"),
    ("model { int k = 0; k++; }", "write += 1"),
    ("parameters { real x; } model { target =+ x; }", "write target += ..."),
    ("functions { real f(vector[3] x) { return sum(x); } }", "have no sizes: vector"),
    ("model { } generated quantity { }", "did you mean 'generated quantities'?"),
    ("transformed data { array[2] int a = [1, 2]; }", "{1, 2, 3}"),
    ("data { int N; } model { if (N == True) { } }", "write 1"),
    ("parameters { real x; } model { x ~ half_normal(1); }", "write normal, of a variable declared with <lower=0>"),
    ("parameters { real x; } model { x ~ laplace(0, 1); }", "did you mean 'double_exponential'?"),
    ("model { for (int n = 1; n <= 3; n++) { } }", "write for (i in 1:N)"),
    ("model { real a, real b; }", "declarations end with a semicolon: ...; real ..."),
    ("parameters { reel x; }", "did you mean 'real'?"), ("parameters { reel<lower=0> x; }", "did you mean 'real'?"),
    ("parameters { vecotr[3] x; }", "did you mean 'vector'?"), ("model { Matrix[2, 2] x; }", "did you mean 'matrix'?"),
    ("data { vector[2] array y; }", "array[...] stands in front of the type"),
    ("parameters { real(lower=0) x; }", "bounds stand in <>, sizes in []: real<lower=0>"),
    ("parameters { vector(3) x; }", "sizes in []: vector[N]"),
    ("parameters { vector<lower=0>[2][3] x; }", "an array of such values: array[M] vector[...]"),
    ("parameters { real x; } model { x =~ normal(0, 1); }", "write ~ for a distribution"),
    ("parameters { real x; } model { x ~= normal(0, 1); }", "write ~ for a distribution"),
    ("model { real a == 3; }", "write = to assign"),
    ("functions { twice(real x) { return 2 * x; } }", "stands in front of its name: real twice(...), or void twice"),
    ("functions { real f(x) { return x; } }", "stands in front of its name: real x"),
    ("functions { real f(real x, y) { return x; } }", "stands in front of its name: real y"),
    ("data { N int; }", "the type stands in front of the name: int N"),
    ("model { print(\u201ca\u201d); }", 'write " instead'), ("model { print(\u2018a\u2019); }", 'write " instead'),
    ("model { real x = 1 \u2013 2; }", "write - instead"), ("model { real x = 1 \u00d7 2; }", "write * instead"),
    ("data { int<lower=0> N\uff1b }", "write ; instead"), ("model { if (1 \u2264 2) { } }", "write <= instead"),
    ("model { real x\u00a0= 1; }", "write a space: the character is U+00A0"),
    ("model { real \u200bx = 1; }", "the character is U+200B"), ("model { real \u03bc; }", "ASCII characters"),
])  # fmt: skip
def test_habits_of_other_languages_are_known(text, hint):
    with pytest.raises(stanimport.StanError) as caught:
        stanimport.check("m.stan", source=text)
    assert hint in caught.value.diagnostics[0].hint


@pytest.mark.parametrize("text", ["transformed data { real x = 1 + ; }", "transformed data { real x = 1 -; }"])
def test_an_operand_that_is_missing_is_no_increment(text):
    with pytest.raises(stanimport.StanError, match="unexpected ';'") as caught:
        stanimport.check("m.stan", source=text)
    assert caught.value.diagnostics[0].hint == "expected an expression"
