"""A standby of another server, by streaming replication."""

import shutil

from tools.cluster import Cluster
from tools.waiting import until


class Standby(Cluster):
    """A server that follows a primary."""

    def follow(self, primary):
        """Copies the primary and follows it from then on."""
        self.primary = primary
        # A copy of a server has the passwords of the server.
        shutil.copyfile(primary.password_file, self.password_file)
        self.own(self.password_file)
        primary.tool("pg_basebackup", "--pgdata", self.cluster, "--write-recovery-conf", "--checkpoint=fast")
        self.start()

    def pause(self):
        """Pauses the replay, so that the standby falls behind."""
        self.sql("select pg_wal_replay_pause()")
        until("the replay to pause", lambda: self.sql("select pg_get_wal_replay_pause_state()") == "paused")

    def resume(self):
        """Resumes the replay."""
        self.sql("select pg_wal_replay_resume()")

    def catch_up(self):
        """Waits until the standby has the present state of the primary."""
        now = self.primary.sql("select pg_current_wal_insert_lsn()")
        until("the replica to catch up", lambda: self.sql(f"select pg_last_wal_replay_lsn() >= '{now}'") == "t")
