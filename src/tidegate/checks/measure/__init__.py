"""Measure a trial from its raw record. Pure: a stored trial can be measured again with other gates."""
