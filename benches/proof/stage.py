"""An own Postgres, service and worker on free ports, each of which a test may kill."""

import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from harness.instance import ROOT, Failed, Instance
from harness.seed import Tenant
from harness.texts import BuiltIn

sys.path.insert(0, str(ROOT / "scripts/dev"))
from server import Server, free_port  # noqa: E402
from settings import DATA, recall, with_login  # noqa: E402

# Fewer than the embedded server of a checkout has, so that they are soon exhausted.
CONNECTIONS = 90
# A dead worker's jobs go to another one after so many seconds.
RECOVERY_S = 3
SLUG = "proof"


class OwnServer(Server):
    """An embedded Postgres in a folder of its own, with the programs of the checkout's."""

    def __init__(self, folder):
        os.environ.pop("KNOWHOW_PG_PORT", None)
        super().__init__({"state": str(folder), "port": free_port()})

    def make(self, *settings):
        """Makes the cluster and starts it. Later settings win over those of a checkout's server."""
        programs = Server(recall())
        programs.unpack()
        self.dist.symlink_to(programs.dist)
        self.init()
        with open(self.cluster / "postgresql.conf", "a") as file:
            file.write("\n".join([f"max_connections = {CONNECTIONS}", "shared_buffers = 128MB", *settings, ""]))
        self.start()

    def kill(self):
        """SIGKILL for the postmaster; its children notice and leave."""
        os.kill(self.pid(), signal.SIGKILL)

    def restart(self, mode):
        """`pg_ctl restart`, as an operator does it."""
        done = self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-l", self.log, "-m", mode, "-w", "-t", "60", "restart",
                        start_new_session=True)
        if done.returncode:
            raise Failed(f"Postgres did not restart ({mode}): {done.stdout.strip()}")

    def remove(self):
        """Stops it and removes its files."""
        if self.pid() is not None:
            self.run(self.dist / "bin/pg_ctl", "-D", self.cluster, "-m", "immediate", "-w", "-t", "30", "stop")
        shutil.rmtree(self.home, ignore_errors=True)


class Stage(Instance):
    """What is tried: a Postgres that is ours alone, the service, a worker, and a tenant whose tokens we sign."""

    def __init__(self, program, work, folder=None, settings=()):
        self.server = OwnServer(folder or Path("/var/tmp") / f"knowhow-proof-{os.getpid()}-{secrets.token_hex(3)}")
        # No balancer needs to notice that it stops.
        self.port, self.worker, self.settings = free_port(), None, {"KNOWHOW_DRAIN_S": "0"}
        try:
            self.server.make(*settings)
            own = self.server.url("postgres")
            os.environ["DATABASE_URL"] = own
            os.environ["KNOWHOW_DATABASE_URL"] = with_login(own, secrets.token_hex(16))
            os.environ["KNOWHOW_SECRET_KEY"] = secrets.token_hex(32)
            super().__init__(program, work)
            self.direct = self.login_url
            self.create()
        except BaseException:
            self.server.remove()
            raise

    def choose_port(self):
        """The same after a restart: clients come back to where they were."""
        return self.port

    def serve(self, **settings):
        """Starts the service, with these settings from now on; returns the seconds until it was ready."""
        self.settings.update(settings)
        return self.start(**self.settings)

    def again(self, **settings):
        """Stops the service in order and starts it."""
        self.stop_service()
        return self.serve(**settings)

    def kill_service(self):
        """SIGKILL."""
        self.service.kill()
        self.service.wait()

    def work_on(self):
        """Starts a worker."""
        settings = {"KNOWHOW_WORKER_RECOVERY_S": str(RECOVERY_S), **self.model()}
        with open(self.log, "a") as log:
            self.worker = subprocess.Popen([self.program, "worker"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                           start_new_session=True, env=self.environment(**settings))

    def kill_worker(self):
        """SIGKILL."""
        self.worker.kill()
        self.worker.wait()

    def model(self):
        """The setting of the local model, where there is one."""
        folder = os.environ.get("KNOWHOW_MODEL_DIR")
        return {"KNOWHOW_MODEL_DIR": folder} if folder else {}

    def tenant(self, slug=SLUG, **settings):
        """A tenant with nobody in it."""
        tenant = Tenant(self, 1, 0, BuiltIn(), slug)
        tenant.make_tenant(**settings)
        tenant.id = self.psql(f"select tenant_id from tenants where slug = '{slug}'")
        return tenant

    def connections(self):
        """Connections of the service's login to Postgres."""
        return int(self.psql("select count(*) from pg_stat_activity where usename = 'knowhow_login'"))

    def stop(self):
        """Ends everything and removes it; safe to call at any time."""
        if self.worker and self.worker.poll() is None:
            self.kill_worker()
        self.stop_service()
        self.server.remove()


def surely(what, is_done, seconds):
    """Waits for what a trial is about; without it there would be nothing to try."""
    if patiently(is_done, seconds) is None:
        raise Failed(f"waited in vain for {what}")


def patiently(is_done, seconds, pause=0.05):
    """Whether it came to be within so many seconds; and how many it took."""
    began = time.monotonic()
    while not is_done():
        if time.monotonic() - began > seconds:
            return None
        time.sleep(pause)
    return time.monotonic() - began
