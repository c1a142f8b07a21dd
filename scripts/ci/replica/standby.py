"""A standby of this checkout's server, by streaming replication."""

import contextlib
import os
import shutil

from cluster import Cluster
from server import Server, free_port
from service import until
from settings import recall


class Standby(Cluster):
    """A server that follows another one."""

    def __init__(self, primary):
        first = primary.server
        home = first.home.with_name(f"{first.home.name}-replica-{os.getpid()}")
        super().__init__(Server({"state": str(home), "port": free_port()}))
        self.primary = primary
        self.server.dist = first.dist
        # A copy of a server has the passwords of the server.
        shutil.copyfile(first.password_file, self.server.password_file)
        self.server.own(self.server.password_file)
        primary.tool("pg_basebackup", "--pgdata", self.server.cluster, "--write-recovery-conf", "--checkpoint=fast")
        self.start()

    def start(self):
        """Starts it, and it follows again."""
        self.server.start()

    def stop(self):
        """Stops it."""
        self.server.stop()

    def pause(self):
        """Has it take in nothing more, as one does that is behind."""
        self.sql("select pg_wal_replay_pause()")
        until("the replay to pause", lambda: self.sql("select pg_get_wal_replay_pause_state()") == "paused")

    def resume(self):
        """Lets it take in what has come meanwhile."""
        self.sql("select pg_wal_replay_resume()")

    def catch_up(self):
        """Waits until it has what the primary has now."""
        now = self.primary.sql("select pg_current_wal_insert_lsn()")
        until("the replica to catch up", lambda: self.sql(f"select pg_last_wal_replay_lsn() >= '{now}'") == "t")


@contextlib.contextmanager
def replicated(database):
    """The checkout's server with a fresh database, and its standby."""
    primary, standby = Cluster(Server(recall())), None
    try:
        primary.sql(f"create database {database}")
        standby = Standby(primary)
        yield primary, standby
    finally:
        if standby:
            standby.stop()
            shutil.rmtree(standby.server.home, ignore_errors=True)
        primary.sql(f"drop database if exists {database} with (force)")
