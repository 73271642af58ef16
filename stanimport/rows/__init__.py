"""Which terms of a program's density belong to single rows of its data: what a minibatch can be scaled by."""
