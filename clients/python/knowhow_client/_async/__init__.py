"""The asynchronous client. `_sync` is generated from this package by scripts/sync.py."""
