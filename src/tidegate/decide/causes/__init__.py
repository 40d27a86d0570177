"""Find the likely cause of each regression by comparing base's and head's calls. Pure: never a guess, or no cause."""
