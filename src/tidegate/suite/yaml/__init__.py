"""Read YAML into plain data that remembers positions, and describe problems by position."""
