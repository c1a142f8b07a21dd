"""Waits for conditions."""

import time

from .settings import fail

PATIENCE_S = 150


def wait(is_done, seconds, pause=0.05):
    """Waits until the condition holds; returns the seconds that it took, or None after `seconds`."""
    began = time.monotonic()
    while not is_done():
        if time.monotonic() - began > seconds:
            return None
        time.sleep(pause)
    return time.monotonic() - began


def until(what, is_done, seconds=PATIENCE_S):
    """Waits until the condition holds; ends the program after `seconds`."""
    if wait(is_done, seconds, 0.1) is None:
        fail(f"waited {seconds} s for {what}")
