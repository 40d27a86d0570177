"""Run × Run → Comparison: rows, the suite as a whole, and the evidence for what is said of them."""
