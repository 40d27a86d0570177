"""GitHub: the event that started us, the comment that we keep, the files and lines that the runner reads."""
