"""Compare two runs: the state of each row, the suite as a whole, and the evidence."""
