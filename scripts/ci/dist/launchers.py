"""Uses the wheel and the npm packages of dist/ in empty folders as a newcomer does, and the program of the tarball."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path

from tools.caller import request
from tools.ports import free_port
from tools.settings import bare_variables, fail, read_env
from tools.waiting import wait
from trial import artefact, run, temporary_folder

READY_S = 180


def start_and_stop(launcher, home):
    """Starts the service with a launcher, reads the skills with the printed token, and stops both servers."""
    port = free_port()
    # Without this checkout's `tools`: the packages have their own.
    known = {name: value for name, value in bare_variables().items() if name != "PYTHONPATH"}
    env = {**known, "KNOWHOW_HOME": str(home), "PORT": str(port)}
    log = home.with_suffix(".log")
    with open(log, "w") as file:
        began = time.monotonic()
        service = subprocess.Popen([launcher], env=env, cwd=home.parent, stdin=subprocess.DEVNULL, stdout=file, stderr=file)
    try:
        def serves():
            return re.search(r"Knowhow +serves", log.read_text())
        wait(lambda: service.poll() is not None or serves(), READY_S)
        if service.poll() is not None or not serves():
            fail(f"{launcher} did not serve:\n{log.read_text()}")
        printed = read_env(home / "dev.env")
        status, _, answer = request(printed["KNOWHOW_URL"], "GET", "/v1/skills", printed["KNOWHOW_TOKEN"])
        if status != 200 or "items" not in json.loads(answer):
            fail(f"{launcher} answered {status}: {answer}")
        print(f"{Path(launcher).name} of {home.name} answers after {time.monotonic() - began:.0f} s", flush=True)
    finally:
        run(launcher, "stop", env=env)
    if code := service.wait(30):
        fail(f"{launcher} ended with exit code {code}")


def main():
    """Installs and tries each of them."""
    with temporary_folder() as folder:
        folder = Path(folder)
        tarball = folder / "tarball"
        tarball.mkdir()
        run("tar", "-C", tarball, "-xzf", artefact("knowhow-*.tar.gz"), "--strip-components=1")
        version = run(tarball / "knowhow", "--version")

        run(sys.executable, "-m", "venv", folder / "venv")
        run(folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", artefact("knowhow_server-*.whl"))
        run("npm", "install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix", folder / "project",
            artefact("knowhow-server-linux-*.tgz"), artefact("knowhow-server-[0-9]*.tgz"))
        for name, bin in (("wheel", folder / "venv/bin"), ("npm", folder / "project/node_modules/.bin")):
            if run(bin / "knowhow", "--version") != version:
                fail(f"the program of {name} has another version than the tarball")
            if subprocess.run([bin / "knowhow", "no-such-command"], stderr=subprocess.DEVNULL).returncode == 0:
                fail(f"a failed command of {name} ends with 0")
            start_and_stop(str(bin / "knowhow-server"), folder / name)


main()
