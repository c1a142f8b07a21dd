"""Tries each way of TLS to Postgres that docs/operators/postgres.md describes, with the commands of an operator and a service that runs."""

import contextlib
import subprocess
import tempfile
from pathlib import Path

from tools.build import test_program
from tools.cluster import start_beside
from tools.ports import free_port
from tools.service import Service, environment, run
from tools.settings import fail
from tools.waiting import until

from authority import Authority
from encrypted import Encrypted

LOGIN = "knowhow_login"
UNTRUSTED = "signed by an authority that is not trusted"
# Sessions of the service that are encrypted, and all of them.
SESSIONS = """
select count(*) filter (where s.ssl) || '/' || count(*) from pg_stat_activity a join pg_stat_ssl s using (pid)
where a.usename = 'knowhow_login'
"""


class Operator:
    """Runs commands with the URL's parameters changed."""

    def __init__(self, cluster, password):
        self.cluster, self.password, self.tried = cluster, password, 0
        self.program = test_program()

    def url(self, query="", role=LOGIN, host="localhost"):
        """The URL of the database with these parameters."""
        password = self.password if role == LOGIN else self.cluster.password()
        return f"postgres://{role}:{password}@{host}:{self.cluster.port}/knowhow?{query}"

    def environment(self, **variables):
        """The variables of a command."""
        own = {"KNOWHOW_DATABASE_URL": self.url(), "DATABASE_URL": self.url(role="postgres")}
        return environment(**{**self.cluster.environment("knowhow"), **own, **variables})

    def outcome(self, command, **variables):
        """Whether a command succeeds, and its output."""
        done = subprocess.run([self.program, command], env=self.environment(**variables), text=True, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.tried += 1
        if self.password in done.stdout:
            fail(f"{command} prints the password: {done.stdout}")
        return done.returncode == 0, done.stdout

    def passes(self, url, command="doctor"):
        """Requires that the command succeeds with that URL."""
        succeeds, said = self.outcome(command, KNOWHOW_DATABASE_URL=url)
        if not succeeds:
            fail(f"{command} with {masked(url)} failed: {said}")

    def fails(self, url, *words, command="doctor"):
        """Requires that the command fails with that URL, in these words."""
        name = "DATABASE_URL" if command == "migrate" else "KNOWHOW_DATABASE_URL"
        succeeds, said = self.outcome(command, **{name: url})
        missing = [word for word in words if word not in said]
        if succeeds or missing or "unreachable; try" in said or "panicked" in said:
            fail(f"{command} with {masked(url)} must fail with {missing or words}, and said: {said}")

    @contextlib.contextmanager
    def serves(self, query, encrypted, **variables):
        """Requires that a service with its worker becomes ready, with its sessions encrypted or not."""
        url = variables.pop("KNOWHOW_DATABASE_URL", self.url(query))
        with tempfile.TemporaryDirectory() as folder:
            service = Service(self.program, self.environment(KNOWHOW_DATABASE_URL=url, **variables), Path(folder) / "log")
            try:
                service.start("--with-worker")
                yes, every = self.cluster.sql(SESSIONS).split("/")
                if yes != (every if encrypted else "0") or every == "0":
                    fail(f"of {every} sessions with {query}, {yes} are encrypted")
                yield service
            finally:
                service.stop()


def masked(url):
    """The URL without its password."""
    return f"...@{url.rpartition('@')[2]}"


def try_modes(operator, ours, others):
    """Each mode against a server with TLS, by the commands of both drivers."""
    for query in ("", "sslmode=disable", "sslmode=allow", "sslmode=prefer", "sslmode=require", f"sslrootcert={ours}",
                  f"sslmode=require&sslrootcert={ours}", f"sslmode=verify-ca&sslrootcert={ours}",
                  f"sslmode=verify-full&sslrootcert={ours}", f"sslmode=prefer&sslrootcert={ours}"):
        operator.passes(operator.url(query))
    for query in ("sslmode=verify-ca", "sslmode=verify-full", "sslrootcert=system", f"sslrootcert={others}",
                  f"sslmode=require&sslrootcert={others}", f"sslmode=verify-ca&sslrootcert={others}"):
        operator.fails(operator.url(query), UNTRUSTED, "sslmode=require")
    for command in ("migrate", "serve", "worker", "doctor"):
        role = "postgres" if command == "migrate" else LOGIN
        operator.fails(operator.url("sslmode=verify-full", role), UNTRUSTED, "add sslrootcert=/path/to/ca.crt", command=command)
        operator.fails(operator.url("sslmode=verify-full&sslrootcert=/no/such", role), "there is no such file", command=command)
        operator.fails(operator.url("sslmode=sometimes", role), "sslmode=sometimes is unknown", command=command)
    # The certificate has the name localhost alone.
    address = operator.url(f"sslmode=verify-full&sslrootcert={ours}", host="127.0.0.1")
    operator.fails(address, "is for localhost, not for 127.0.0.1")
    operator.passes(address.replace("verify-full", "verify-ca"))
    with operator.serves("sslmode=disable", False):
        pass
    with operator.serves("sslmode=allow", False):
        pass
    with operator.serves("", True):
        pass
    with operator.serves(f"sslmode=verify-full&sslrootcert={ours}&application_name=x&keepalives_count=3&connect_timeout=5", True):
        pass


def try_parameters(operator):
    """Options with blanks, several hosts, and the variables of libpq."""
    for blank in ("%20", "+"):
        operator.passes(operator.url(f"options=-c{blank}geqo%3Doff{blank}-c{blank}jit=off"))
        operator.fails(operator.url(f"options=-c{blank}geqo%3Dperhaps"), 'parameter "geqo" requires a Boolean value')
    succeeds, said = operator.outcome("doctor", PGSSLMODE="verify-full")
    if succeeds or UNTRUSTED not in said:
        fail(f"PGSSLMODE is not read by both drivers: {said}")
    with_dead = operator.url().replace("@localhost:", f"@localhost:{free_port()},localhost:")
    operator.passes(f"{with_dead}&target_session_attrs=read-write")
    operator.fails(f"{with_dead}&target_session_attrs=standby", "Connection refused", "is the primary")
    operator.fails(operator.url("target_session_attrs=read-only"), "target_session_attrs wants read-only")
    with operator.serves("", True, KNOWHOW_DATABASE_URL=f"{with_dead}&target_session_attrs=primary"):
        pass


def try_other_urls(operator, ours):
    """The URLs of a place, of the replica and of the places that a tenant is moved between."""
    bad, good = (operator.url(f"sslmode=verify-full&sslrootcert={file}") for file in (f"{ours}.missing", ours))
    untrusted = operator.url("sslmode=verify-full")
    for name, value in (("KNOWHOW_REPLICA_URL", "{}"), ("KNOWHOW_PLACES", "eu={}")):
        for url, words in ((bad, "there is no such file"), (untrusted, UNTRUSTED)):
            succeeds, said = operator.outcome("doctor", **{name: value.format(url)})
            if succeeds or words not in said:
                fail(f"{name} with {masked(url)}: {said}")
    succeeds, said = operator.outcome("doctor", KNOWHOW_PLACES=f"eu={good}")
    if UNTRUSTED in said:
        fail(f"a place is reached otherwise than home: {said}")


def try_rules(operator, ours):
    """Rules of pg_hba.conf that want TLS, or none."""
    cluster = operator.cluster
    cluster.rules("hostssl all all all scram-sha-256")
    cluster.reload()
    operator.fails(operator.url("sslmode=disable"), "no encryption")
    for query in ("", "sslmode=allow", f"sslmode=verify-full&sslrootcert={ours}"):
        operator.passes(operator.url(query))
    with operator.serves("sslmode=allow", True):
        pass
    cluster.rules("hostnossl all all all scram-sha-256")
    cluster.reload()
    operator.fails(operator.url("sslmode=require"), "SSL encryption")
    for query in ("", "sslmode=prefer", "sslmode=disable"):
        operator.passes(operator.url(query))


def try_client_certificates(operator, authority, other, folder):
    """A role that logs in by a certificate."""
    cluster = operator.cluster
    certificate, key = authority.sign("client", LOGIN)
    strange, strange_key = other.sign("strange", LOGIN)
    cluster.rules("hostssl all all all cert")
    cluster.reload()

    def url(certificate, key):
        return operator.url(f"sslmode=require&sslcert={certificate}&sslkey={key}")

    operator.passes(url(certificate, key))
    with operator.serves(f"sslmode=verify-full&sslrootcert={authority.certificate}&sslcert={certificate}&sslkey={key}", True):
        pass
    operator.fails(operator.url("sslmode=require"), "client certificate")
    operator.fails(url(strange, strange_key), "the server rejects the client certificate")
    operator.fails(url(certificate, strange_key), "is not the key of sslcert")
    for kind in ("pkcs8", "ec", "encrypted", "open"):
        changed = folder / f"{kind}.key"
        command = ["openssl", "pkcs8" if kind in ("pkcs8", "encrypted") else "ec", "-in", key, "-out", changed]
        command += {"pkcs8": ["-topk8", "-nocrypt"], "encrypted": ["-topk8", "-passout", "pass:x"]}.get(kind, [])
        subprocess.run(command, check=True, capture_output=True)
        changed.chmod(0o644 if kind == "open" else 0o600)
        if kind in ("pkcs8", "ec"):
            operator.passes(url(certificate, changed))
    operator.fails(url(certificate, folder / "encrypted.key"), "it has a passphrase")
    operator.fails(url(certificate, folder / "open.key"), "other users may read it (0644)", command="serve")


def try_server_certificates(operator, authority, folder):
    """A certificate that has expired, one that is its own authority, and none at all."""
    cluster, root = operator.cluster, authority.certificate
    cluster.present(authority.sign("expired", "db", ("localhost",), days=-1))
    cluster.reload()
    operator.fails(operator.url(f"sslmode=verify-ca&sslrootcert={root}"), "has expired", command="serve")
    operator.passes(operator.url("sslmode=require"))
    cluster.settings(ssl="off")
    cluster.restart()
    for command in ("serve", "worker", "doctor"):
        operator.fails(operator.url("sslmode=require"), "the server does not offer TLS", command=command)
    operator.fails(operator.url("sslmode=verify-full", role="postgres"), "the server does not offer TLS", command="migrate")
    for query in ("", "sslmode=allow", "sslmode=prefer", f"sslmode=prefer&sslrootcert={root}"):
        operator.passes(operator.url(query))


def try_renewal(operator, folder):
    """An authority that is renewed under a running service."""
    cluster, root = operator.cluster, folder / "renewed.crt"
    old, new = (Authority(folder, name) for name in ("old", "new"))
    root.write_text(old.certificate.read_text())
    cluster.present(old.sign("by-old", "db", ("localhost",)))
    cluster.reload()
    with operator.serves(f"sslmode=verify-full&sslrootcert={root}", True) as service:
        root.write_text(new.certificate.read_text())
        cluster.present(new.sign("by-new", "db", ("localhost",)))
        cluster.reload()
        cluster.sql("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'knowhow_login'")
        until("the service to be ready by the new authority", service.is_ready)


def main():
    """Tries all of it."""
    start_beside()
    with tempfile.TemporaryDirectory() as work, Encrypted.temporary("tls") as cluster:
        cluster.init()
        folder = Path(work)
        ours, other = Authority(folder, "ours"), Authority(folder, "other")
        cluster.settings(ssl="on", ssl_ca_file="clients.crt")
        cluster.present(ours.sign("server", "db", ("localhost",)), ours)
        cluster.rules("host all all all scram-sha-256")
        cluster.start()
        cluster.sql("create database knowhow")
        operator = Operator(cluster, "5ec4e7-of-the-login")
        owner = operator.url(f"sslmode=verify-full&sslrootcert={ours.certificate}", role="postgres")
        run(operator.program, operator.environment(DATABASE_URL=owner), "migrate")
        try_modes(operator, ours.certificate, other.certificate)
        try_parameters(operator)
        try_other_urls(operator, ours.certificate)
        try_rules(operator, ours.certificate)
        try_client_certificates(operator, ours, other, folder)
        cluster.rules("host all all all scram-sha-256")
        try_renewal(operator, folder)
        try_server_certificates(operator, ours, folder)
        print(f"TLS to Postgres: {operator.tried} commands and 7 services behaved as libpq would")


if __name__ == "__main__":
    main()
