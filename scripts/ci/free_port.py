#!/usr/bin/env python3
"""Prints a port of this machine on which nobody listens."""

import socket

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    print(probe.getsockname()[1])
