"""Loops as array code: the index of a loop without carried dependences stands for all its iterations at once.

    with lanes(1, N) as n:                   # n holds the values 1, ..., N
        if n is not None:                    # there are iterations
            y = at(x, n) * slope             # a slice of x times a number: one value per lane

A loop's iterations are its lanes, a value that differs between them is a `Lanes`: an array with one leading axis per
loop that it depends on, found by the identity of the loop and not by position. Operators and library functions line
these axes up, so that a value of the outer loop meets one of the inner loop as a column meets a row. Bounds and
conditions that depend on data alone make new axes with fewer or more lanes (ragged nests, `if` by group), conditions
on parameters mask. Everything happens while a model is traced: what reaches the array library is array code.

Source: Allen and Kennedy (2002), "Optimizing Compilers for Modern Architectures", chapters 2 and 5, for when a loop may
run like this; stanimport.passes decides it.
"""
