"""What a trial shows: gates, evaluators, judges and rubrics, measurements."""
