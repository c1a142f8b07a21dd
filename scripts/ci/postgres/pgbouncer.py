"""PgBouncer with TLS, fetched through apt if it is not installed; no root is needed."""

import glob
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from server import free_port
from settings import fail

CONFIG = """\
[databases]
* = host=localhost port={database} auth_user=cnpg_pooler_pgbouncer
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
pool_mode = {mode}
auth_type = scram-sha-256
auth_file = {folder}/users.txt
auth_query = select usename, passwd from public.user_search($1)
ignore_startup_parameters = extra_float_digits,options
default_pool_size = 40
max_client_conn = 200
client_tls_sslmode = require
client_tls_cert_file = {folder}/pooler.crt
client_tls_key_file = {folder}/pooler.key
server_tls_sslmode = verify-ca
server_tls_ca_file = {folder}/ours.crt
server_tls_cert_file = {folder}/cnpg.crt
server_tls_key_file = {folder}/cnpg.key
"""


class Pooler:
    """A process of PgBouncer, in transaction mode if it can carry prepared statements."""

    def __init__(self, work, database, parameters):
        self.port, self.process = free_port(), None
        self.folder = Path(work)
        self.program, self.libraries = find(self.folder)
        # Postgres shares its own libraries with this environment, which may be of another release.
        self.env = {**os.environ, "LD_LIBRARY_PATH": self.libraries}
        version = subprocess.run([self.program, "--version"], env=self.env, text=True, capture_output=True, check=True).stdout
        self.version = re.search(r"PgBouncer (\d+)\.(\d+)", version)
        self.carries = tuple(map(int, self.version.groups())) >= (1, 21)
        config = CONFIG.format(folder=self.folder, port=self.port, database=database,
                               mode="transaction" if self.carries else "session")
        if self.carries:
            config += f"max_prepared_statements = {parameters['max_prepared_statements']}\n"
        (self.folder / "pooler.ini").write_text(config)
        (self.folder / "users.txt").write_text("")

    def start(self):
        """Starts it, as another user if this is root: it refuses to run as root."""
        user = ["-u", "nobody"] if os.geteuid() == 0 else []
        for file in self.folder.iterdir():
            if file.is_file() and user:
                shutil.chown(file, "nobody")
        if user:
            shutil.chown(self.folder, "nobody")
        self.process = subprocess.Popen([self.program, "-q", *user, self.folder / "pooler.ini"], env=self.env)
        time.sleep(0.5)
        if self.process.poll() is not None:
            fail("the pooler did not start")

    def stop(self):
        """Ends it."""
        if self.process:
            self.process.terminate()
            self.process.wait(10)


def find(folder):
    """The program, and the folder of its libraries."""
    if installed := shutil.which("pgbouncer"):
        return installed, ""
    files = folder / "packages"
    files.mkdir()
    said = subprocess.run(["apt-cache", "depends", "pgbouncer"], text=True, capture_output=True).stdout
    # The names of these libraries change with the release of Debian.
    libraries = re.findall(r"Depends: (lib(?:event|c-?ares)\S*)", said)
    fetched = subprocess.run(["apt-get", "download", "-q", "pgbouncer", *libraries], cwd=files, capture_output=True)
    if fetched.returncode:
        fail("pgbouncer could not be fetched; install it with: apt-get install -y pgbouncer")
    for package in files.glob("*.deb"):
        subprocess.run(["dpkg", "-x", package, files / "root"], check=True)
    return files / "root/usr/sbin/pgbouncer", ":".join(glob.glob(f"{files}/root/usr/lib/*-linux-gnu"))
