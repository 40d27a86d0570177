"""A trial's raw record → what was measured of it. Pure: a stored trial can be measured again, under other gates."""
