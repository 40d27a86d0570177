"""Turn what was decided into a result with its sentences, and a result into every report. Pure."""
