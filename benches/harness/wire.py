"""A proxy to Postgres that counts round trips: how often the service began to send after Postgres had."""

import time

from tools.proxy import Proxy


class Wire(Proxy):
    """A proxy with a count of round trips."""

    flights, target_spoke = 0, False

    def note(self, is_request):
        """Counts the first data of the service after an answer."""
        self.flights += is_request and self.target_spoke
        self.target_spoke = not is_request

    def count(self, work):
        """Returns the round trips of some work, and of statements that it leaves running for a moment."""
        before = self.flights
        work()
        time.sleep(0.01)
        return self.flights - before
