"""Mutants of the tool under test: which there are, what each changes, and which recorded calls meet it. Pure."""
