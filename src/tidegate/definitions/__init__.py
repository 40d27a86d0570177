"""Changes that a pull request makes to scenarios, agents and policy, and base's checks that still apply."""
