"""What knows Stan's syntax and rules: text to tokens, tokens to AST, AST to typed program."""
