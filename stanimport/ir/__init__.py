"""What the passes share: names, and what may stand in a program between them."""
