"""A server with TLS."""

from tools.cluster import Cluster


class Encrypted(Cluster):
    """A server that shows a certificate."""

    def file(self, name, text):
        """Writes a file of the server's folder, which only the server may read."""
        path = self.cluster / name
        path.write_text(text)
        path.chmod(0o600)
        self.own(path)

    def present(self, pair, authority=None):
        """Sets the server's certificate, and the authority of its clients."""
        certificate, key = pair
        self.file("server.crt", certificate.read_text())
        self.file("server.key", key.read_text())
        if authority:
            self.file("clients.crt", authority.certificate.read_text())

    def rules(self, *lines):
        """Sets pg_hba.conf. The superuser of these programs can always connect."""
        always = "host all postgres 127.0.0.1/32 scram-sha-256"
        self.file("pg_hba.conf", "\n".join((always, *lines)) + "\n")

    def reload(self):
        """Has the server read its files again."""
        self.tool("pg_ctl", "-D", self.cluster, "reload")
