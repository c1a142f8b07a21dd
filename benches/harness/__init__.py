"""The benchmark harness behind benches/run.py."""
