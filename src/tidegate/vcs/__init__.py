"""git: commands, revisions, worktrees."""
