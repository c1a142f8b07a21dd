"""Adapters for agent frameworks. Each module needs the extra of its name: `pip install knowhow-client[langchain]`."""
