"""Rubric and record → what a judge is asked; its answers → scores. Pure: the asking is done elsewhere."""
