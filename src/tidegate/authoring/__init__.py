"""What authors of suites do beside a run: start a suite, add scenarios, draft rubrics, simulate, compare guidance."""
