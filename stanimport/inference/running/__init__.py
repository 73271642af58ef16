"""A run beside the program: in the background, interrupted, shown."""
