"""Eval files and targets of AgentV."""
