"""Read AgentV's eval files and targets.yaml."""
