"""Names of sites by which what a program adds to the log density is told apart."""

JACOBIAN = "jacobian:"  # what `jacobian +=` adds: no identifier of Stan's begins so, data can't be called like that
