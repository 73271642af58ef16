"""The layout of Stan programs: comments and includes stay, whitespace is made anew, the program stays the same."""
