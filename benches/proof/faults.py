"""The faults. Each does its harm, says `end()` when it is over, and returns when everything runs again."""

import os
import socket
import subprocess
import time

from harness.instance import client_program, on_database, pg_environment
from harness.saving import import_all

from tools.proxy import Proxy
from tools.waiting import until, wait

from .stage import CONNECTIONS

IMPORTED = 200
SLOW = 60
# superuser_reserved_connections
RESERVED = 3


class Fault:
    """One thing that goes wrong for some seconds."""

    title, quick = "", True

    def __init__(self, seconds):
        self.seconds = seconds

    def prepare(self, stage):
        """What must be so before the users begin."""

    def hurt(self, stage, end):
        """Does its harm."""
        raise NotImplementedError

    def settle(self, stage):
        """Puts back what it has changed; what besides has gone wrong, in words."""
        return []


class PostgresKilled(Fault):
    title = "`kill -9` of Postgres, started again"

    def hurt(self, stage, end):
        stage.server.kill()
        time.sleep(self.seconds / 2)
        stage.server.start()
        end()


class PostgresRestarted(Fault):
    def __init__(self, seconds, mode):
        super().__init__(seconds)
        self.mode, self.title = mode, f"`pg_ctl restart -m {mode}`"

    def hurt(self, stage, end):
        stage.server.restart(self.mode)
        end()


class ServiceKilled(Fault):
    title = "`kill -9` of the service, started again"

    def hurt(self, stage, end):
        stage.kill_service()
        time.sleep(self.seconds / 2)
        end()
        stage.serve()


class WorkerKilled(Fault):
    """While it makes the vectors of an import; without the model it does what needs none."""

    title = "`kill -9` of the worker in its jobs, 5 times"
    quick = False

    def prepare(self, stage):
        self.others = stage.tenant("imports")
        stage.again(**stage.model())
        stage.work_on()

    def hurt(self, stage, end):
        import_all(stage, self.others, IMPORTED)
        for _ in range(5):
            time.sleep(self.seconds / 5)
            stage.kill_worker()
            stage.work_on()
        end()

    def settle(self, stage):
        waiting = "select count(*) from graphile_worker._private_jobs where attempts < max_attempts and run_at <= now()"
        took = wait(lambda: stage.psql(waiting) == "0", 180, 0.5)
        dead = stage.psql("select count(*) from graphile_worker._private_jobs where attempts >= max_attempts")
        skills = stage.psql(f"select count(*) from skills where tenant_id = '{self.others.id}'")
        vectors = stage.psql(f"select count(*) from skill_embeddings where tenant_id = '{self.others.id}'")
        stage.kill_worker()
        wrong = [] if took is not None else [f"{stage.psql(waiting)} jobs still wait after 3 minutes"]
        wrong += [f"{dead} jobs are dead"] if dead != "0" else []
        wrong += [f"{vectors} vectors for {skills} skills"] if stage.model() and vectors != skills else []
        return wrong


class OnTheWay(Fault):
    """Something between the service and Postgres."""

    def prepare(self, stage):
        self.proxy = Proxy(stage.server.port)
        stage.login_url = stage.direct.replace(f":{stage.server.port}/", f":{self.proxy.port}/")
        stage.again()

    def settle(self, stage):
        stage.login_url = stage.direct
        stage.again()
        self.proxy.close()
        return []


class Stalled(OnTheWay):
    title = "the way to Postgres stalls for {seconds} s"

    def hurt(self, stage, end):
        self.proxy.stall()
        time.sleep(self.seconds)
        self.proxy.flow()
        end()


class Reset(OnTheWay):
    title = "all connections to Postgres are reset, 3 times"

    def hurt(self, stage, end):
        for _ in range(3):
            time.sleep(self.seconds / 6)
            self.proxy.reset()
        end()


class Delayed(OnTheWay):
    title = "each way to and from Postgres takes 200 ms, for {seconds} s"
    quick = False

    def hurt(self, stage, end):
        self.proxy.delay_s = 0.2
        time.sleep(self.seconds)
        self.proxy.delay_s = 0.0
        end()


class Exhausted(Fault):
    title = "others hold all connections of Postgres for {seconds} s"

    def hurt(self, stage, end):
        script = stage.work / "sleep.sql"
        script.write_text("select pg_sleep(60);\n")
        # The service is put out first, or those that it has would serve it well. The last slots are a superuser's: ours.
        stage.psql("alter role knowhow_login connection limit 0; select pg_terminate_backend(pid) from pg_stat_activity "
                   "where usename = 'knowhow_login'")
        until("the service to be put out", lambda: stage.connections() == 0, 10)
        others = int(stage.psql("select count(*) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()"))
        free = CONNECTIONS - RESERVED - others
        holding = crowd(stage, script, free)
        taken = "select count(*) from pg_stat_activity where query like '%pg_sleep%' and pid <> pg_backend_pid()"
        until("others to hold all connections", lambda: int(stage.psql(taken)) >= free, 20)
        stage.psql("alter role knowhow_login connection limit -1")
        time.sleep(self.seconds)
        holding.kill()
        holding.wait()
        end()
        stage.psql("select pg_terminate_backend(pid) from pg_stat_activity where query like '%pg_sleep%' "
                   "and pid <> pg_backend_pid()")


class Locked(Fault):
    title = "`lock table skills in access exclusive mode` for {seconds} s"

    def hurt(self, stage, end):
        stage.psql(f"begin; lock table skills in access exclusive mode; select pg_sleep({self.seconds}); commit")
        end()


class SlowClients(Fault):
    title = f"{SLOW} clients send a byte a second, half of them heads and half bodies"
    quick = False

    def hurt(self, stage, end):
        head = f"POST /v1/skills HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {self.token(stage)}\r\n"
        whole = head + "Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
        slow = []
        for number in range(SLOW):
            connection = socket.create_connection(("127.0.0.1", stage.port))
            if number % 2:
                connection.sendall(whole.encode())
            slow.append(connection)
        until = time.monotonic() + self.seconds
        while time.monotonic() < until:
            for place, connection in enumerate(slow):
                try:
                    connection.sendall(b" " if place % 2 else b"P")
                except OSError:
                    pass  # the service has had enough of it
            time.sleep(1)
        end()
        for connection in slow:
            connection.close()

    def token(self, stage):
        """Of somebody who may."""
        return stage.people.token(999)


def crowd(stage, script, many):
    """So many connections that do nothing for a minute, which a program of its own holds."""
    program, libraries = client_program("pgbench")
    environment = {**os.environ, **pg_environment(on_database(stage.owner_url, stage.name)), **libraries}
    return subprocess.Popen([program, "-n", "-c", str(many), "-j", "1", "-t", "1", "-f", str(script)], env=environment,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def all_faults(quick):
    """In the order in which they are tried."""
    long, short = (2, 2) if quick else (5, 2)
    faults = [PostgresKilled(short), PostgresRestarted(short, "fast"), PostgresRestarted(short, "immediate"),
              ServiceKilled(short), Reset(long), Stalled(long), Exhausted(long), Locked(long), Delayed(long), SlowClients(10),
              WorkerKilled(10)]
    return [fault for fault in faults if fault.quick or not quick]


