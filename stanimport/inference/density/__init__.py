"""A program with its data as one density of a flat point, and what is compiled of it."""
