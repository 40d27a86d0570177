"""Statistical formulas with their sources. Pure."""
