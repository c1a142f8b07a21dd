"""Runs deploy/examples/dream.py against a service and a database of its own, with the embeddings model."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.build import test_program
from tools.cluster import fresh_database, is_given
from tools.model import find_model
from tools.ports import free_port
from tools.service import Service, environment
from tools.settings import ROOT, read_env
from tools.signals import exit_on_signals
from tools.with_service import seed


def main():
    """Ends with the exit code of the example."""
    exit_on_signals()
    port, model = free_port(), os.environ.get("KNOWHOW_MODEL_DIR") or str(find_model())
    with fresh_database("dream") as database, tempfile.TemporaryDirectory() as work:
        psql = "psql" if is_given(read_env()) else f"{sys.executable} -m tools.pg psql"
        env = environment(**database, KNOWHOW_MODEL_DIR=model, KNOWHOW_CHAT_URL=f"http://127.0.0.1:{port}", KNOWHOW_CHAT_MODEL="played")
        owner, program = env["DATABASE_URL"], test_program()
        credentials = seed(program, env)
        service = Service(program, env, Path(work) / "log")
        service.start("--with-worker")
        try:
            example = [sys.executable, ROOT / "deploy/examples/dream.py", "--psql", psql, "--model-port", str(port)]
            known = {"DATABASE_URL": owner, "KNOWHOW_URL": service.url, "NO_PROXY": "127.0.0.1"}
            code = subprocess.run(example, env={**os.environ, **credentials, **known}).returncode
        finally:
            service.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
