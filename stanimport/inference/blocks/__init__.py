"""Log densities of many rows of data, computed block by block."""
