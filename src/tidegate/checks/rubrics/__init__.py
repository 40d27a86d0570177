"""Turn a rubric and a trial's record into the judge's prompts, and its answers into scores. Pure: sends nothing."""
