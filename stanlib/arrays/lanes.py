"""What `namespace` returns for values that differ between lanes: no primitives, but the mark that tells them."""
LIBRARY = "lanes"
