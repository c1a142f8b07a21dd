"""A server of its own with TLS."""

import contextlib
import os
import shutil

from cluster import Cluster
from server import Server, free_port
from settings import recall


class Encrypted(Cluster):
    """A fresh server with `ssl = on`."""

    def __init__(self, name):
        first = Server(recall())
        home = first.home.with_name(f"{first.home.name}-{name}-{os.getpid()}")
        super().__init__(Server({"state": str(home), "port": free_port()}))
        self.server.dist = first.dist
        self.server.init()

    def file(self, name, text):
        """Writes a file of the server's folder, for the server alone."""
        path = self.server.cluster / name
        path.write_text(text)
        path.chmod(0o600)
        self.server.own(path)

    def present(self, pair, authority=None):
        """Sets the certificate that the server shows, and the authority of its clients."""
        certificate, key = pair
        self.file("server.crt", certificate.read_text())
        self.file("server.key", key.read_text())
        if authority:
            self.file("clients.crt", authority.certificate.read_text())

    def rules(self, *lines):
        """Sets pg_hba.conf. The superuser of these programs can always connect."""
        always = "host all postgres 127.0.0.1/32 scram-sha-256"
        self.file("pg_hba.conf", "\n".join((always, *lines)) + "\n")

    def settings(self, **values):
        """Adds settings."""
        with open(self.server.cluster / "postgresql.conf", "a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in values.items())

    def reload(self):
        """Has the server read its files again."""
        self.tool("pg_ctl", "-D", self.server.cluster, "reload")

    def restart(self):
        """Starts the server again."""
        self.server.stop()
        self.server.start()


@contextlib.contextmanager
def removed(*clusters):
    """Stops and removes the servers at the end."""
    try:
        yield
    finally:
        for cluster in clusters:
            cluster.server.stop()
            shutil.rmtree(cluster.server.home, ignore_errors=True)
