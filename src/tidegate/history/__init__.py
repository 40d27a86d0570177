"""What earlier runs know: base's trials, resumable tests, fingerprints, and where they are stored."""
