"""One trial: workspace, recorder, supervised processes, agent session, gate probes, stored record."""
