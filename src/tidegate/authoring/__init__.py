"""Help for authors of suites: init, add, rubric drafts, simulation, guidance comparison, the demo repository."""
