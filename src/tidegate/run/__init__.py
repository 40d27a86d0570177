"""Plan → Trials: both sides, their builds, the trials and the judging, and what earlier runs have left."""
