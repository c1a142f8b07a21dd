"""Signals that end a program."""

import signal
import sys


def exit_on_signals():
    """Has SIGTERM and SIGHUP end the program as an exception does, so that servers and files are removed."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
