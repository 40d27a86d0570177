"""Where runs are stored: the run folder, `.tidegate`, judges' answers, imported runs, reports of stored runs."""
