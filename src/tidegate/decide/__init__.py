"""What the results show: statistics, the procedure, comparison, causes, replay and the verdict. Pure."""
