"""An own Postgres, service and worker on free ports, each of which a test may kill."""

import os
import secrets

from harness.instance import Instance
from harness.seed import Tenant
from harness.texts import BuiltIn

from tools.cluster import Cluster
from tools.ports import free_port
from tools.settings import with_login

# Fewer than the embedded server of a checkout has, so that they are soon exhausted.
CONNECTIONS = 90
# A dead worker's jobs go to another one after so many seconds.
RECOVERY_S = 3
SLUG = "proof"


class Stage(Instance):
    """A Postgres server, the service, a worker, and a tenant whose tokens the test signs."""

    def __init__(self, program, work, home=None, **settings):
        self.server = Cluster.temporary(f"proof-{secrets.token_hex(3)}", home)
        self.fixed_port, self.worker = free_port(), None
        try:
            self.server.make(max_connections=CONNECTIONS, shared_buffers="128MB", **settings)
            own = self.server.url("postgres")
            os.environ["DATABASE_URL"] = own
            os.environ["KNOWHOW_DATABASE_URL"] = with_login(own, secrets.token_hex(16))
            os.environ["KNOWHOW_SECRET_KEY"] = secrets.token_hex(32)
            # No balancer needs time to notice a stop.
            super().__init__(program, work, KNOWHOW_DRAIN_S="0")
            self.direct = self.login_url
            self.create()
        except BaseException:
            self.server.remove()
            raise

    def choose_port(self):
        """Returns the same port after a restart, for the clients."""
        return self.fixed_port

    def serve(self, **settings):
        """Starts the service, with these settings from now on; returns the seconds until it was ready."""
        self.settings.update(settings)
        return self.start(**self.settings)

    def again(self, **settings):
        """Stops the service in order and starts it."""
        self.stop_service()
        return self.serve(**settings)

    def kill_service(self):
        """Kills the service."""
        self.kill()

    def work_on(self):
        """Starts a worker."""
        settings = {"KNOWHOW_WORKER_RECOVERY_S": str(RECOVERY_S), **self.model()}
        self.worker = self.spawn("worker", env=self.environment(**settings))

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
