"""Recorded sessions of base: made from trials, and what replaying them on both sides shows. Pure."""
