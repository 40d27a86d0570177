"""What earlier runs know: base's trials, tests that can be resumed, fingerprints, trends."""
