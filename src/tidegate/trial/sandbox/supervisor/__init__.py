"""The supervisor: a small process that runs one command after another and terminates everything they start."""
