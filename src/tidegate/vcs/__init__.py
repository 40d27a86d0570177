"""git: commands with limits, revisions, worktrees."""
