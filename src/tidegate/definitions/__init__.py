"""What a pull request changes in scenarios, agents and rules, and which settings of agents it may choose."""
