"""What the pull request changed in the scenarios themselves, and what base's own definitions say."""
