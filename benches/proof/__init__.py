"""Tries what is promised of a deployment that goes wrong: faults, overload, neighbours, soak, migrations under load."""
