"""Measure how far a judge can be trusted, against labels made by people."""
