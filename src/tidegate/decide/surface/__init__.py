"""The surface of the tool under test: read from help texts, tool lists and recorded calls, and what uses it. Pure."""
