"""A way to Postgres that counts round trips: how often the service began to send after Postgres had."""

import socket
import threading
import time


class Wire:
    """Listens on a port of its own and passes everything on, both ways."""

    def __init__(self, host, port):
        self.target = (host, port)
        self.flights = 0
        self.postgres_spoke = False
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        """Takes connections until it is closed."""
        while True:
            try:
                service, _ = self.listener.accept()
                postgres = socket.create_connection(self.target)
            except OSError:
                return
            for end in (service, postgres):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for ends, heard in (((service, postgres), self.service_spoke), ((postgres, service), self.postgres_answered)):
                threading.Thread(target=carry, args=(*ends, heard), daemon=True).start()

    def service_spoke(self):
        """Counts the first words after an answer."""
        with self.lock:
            self.flights += self.postgres_spoke
            self.postgres_spoke = False

    def postgres_answered(self):
        """From here on the service begins anew."""
        with self.lock:
            self.postgres_spoke = True

    def count(self, work):
        """The round trips of some work, with what it leaves running for a moment: a release that asks Postgres is one too."""
        before = self.flights
        work()
        time.sleep(0.01)
        return self.flights - before

    def close(self):
        """Takes no more connections; those that are open end with their service."""
        self.listener.close()


def carry(source, target, heard):
    """Passes on what comes, until either end closes."""
    try:
        while data := source.recv(65_536):
            heard()
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
