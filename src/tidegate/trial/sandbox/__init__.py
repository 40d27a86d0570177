"""Confines and supervises the commands of a trial: users, files, network, system calls."""
