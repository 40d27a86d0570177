"""What earlier runs know: base's trials, resumable tests, fingerprints, trends, and where they are stored."""
