"""GitHub: the event, the sticky comment, the API client, and the runner's files and workflow commands."""
