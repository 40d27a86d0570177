"""Turn a result into comment, page, terminal text, JUnit, JSON and exports. Pure."""
