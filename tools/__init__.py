"""Starts databases, services and their clients. The scripts, the checks, the benchmarks and the launcher of the Python wheel use it."""
