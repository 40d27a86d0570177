"""Comparison and policy to the verdict and the result."""
