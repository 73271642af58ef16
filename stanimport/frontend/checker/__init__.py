"""The type checker: from AST to typed program, by stanc's rules."""
