"""YAML files as data with positions, and the problems found in them."""
