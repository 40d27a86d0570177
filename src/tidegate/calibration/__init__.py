"""How far a judge can be trusted: labels by people, held against the judge's answers."""
