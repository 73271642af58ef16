"""Library functions, one file per chapter of the Stan Functions Reference."""
