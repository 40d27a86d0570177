"""The frozen values that the stages hand to one another."""
