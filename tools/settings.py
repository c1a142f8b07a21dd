"""Folders, and the settings stored in ./data (or $KNOWHOW_HOME outside of a checkout): the port, secrets and pg.env."""

import json
import os
import secrets
import shlex
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

HOME = os.environ.get("KNOWHOW_HOME")
ROOT = Path(HOME).resolve() if HOME else Path(__file__).resolve().parents[1]
DATA = ROOT if HOME else ROOT / "data"
TOOLS = DATA / "tools"
MEMORY = DATA / "pg.json"
ENV_FILE = DATA / "pg.env"
CREDENTIALS = ("KNOWHOW_TOKEN", "KNOWHOW_API_KEY", "KNOWHOW_ADMIN_TOKEN", "KNOWHOW_TENANT_ADMIN_TOKEN")
# Variables of a sourced dev.env or pg.env, which are for clients and tests, and variables of these scripts.
NOT_OF_SERVICE = ("KNOWHOW_URL", *CREDENTIALS, "KNOWHOW_LOGIN_PASSWORD", "KNOWHOW_HOME", "KNOWHOW_PG_PORT", "PORT", "PROGRAM",
                  "TEST_DATABASE_URL")


class Failed(SystemExit):
    """An error that ends the program with one sentence, unless a caller handles it."""

    def __init__(self, sentence):
        super().__init__(sentence)
        self.code = f"error: {sentence}"


def fail(sentence):
    """Ends the program with one sentence."""
    raise Failed(sentence)


def check(what, condition):
    """Ends the program if a condition does not hold."""
    if not condition:
        fail(f"not so: {what}")


def make_data():
    """Creates ./data, open to be passed through but with private files."""
    try:
        DATA.mkdir(mode=0o755, exist_ok=True)
        if not os.access(DATA, os.W_OK | os.X_OK):
            raise PermissionError
    except PermissionError:
        fail(f"{DATA} belongs to another user; remove it as that user with: make clean")


def write_private(path, text):
    """Replaces a file at once; only the owner of ./data may read it, also where root writes."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)
    if os.geteuid() == 0:
        os.chown(draft, DATA.stat().st_uid, DATA.stat().st_gid)
    draft.replace(path)


def recall():
    """The remembered settings; those of a copied checkout are forgotten, its secrets are not."""
    try:
        memory = json.loads(MEMORY.read_text())
    except (FileNotFoundError, ValueError):
        memory = {}
    except PermissionError:
        fail(f"{MEMORY} belongs to another user; remove it as that user with: make clean")
    if memory.get("root") != str(ROOT):
        memory.pop("state", None)
        memory.pop("port", None)
    memory["root"] = str(ROOT)
    memory.setdefault("login_password", secrets.token_hex(24))
    memory.setdefault("secret_key", secrets.token_hex(32))
    return memory


def remember(memory):
    """Keeps the settings for the next run."""
    write_private(MEMORY, json.dumps(memory, indent=2) + "\n")


def login_password(memory):
    """The password of the service's login role: the environment wins over what is remembered."""
    return os.environ.get("KNOWHOW_LOGIN_PASSWORD") or memory["login_password"]


def with_login(url, password):
    """The same database as `url`, through the service's login role."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2] or "localhost"
    return urlunsplit(parts._replace(netloc=f"knowhow_login:{quote(password, safe='')}@{host}"))


def write_env(memory, url, test_url):
    """Writes data/pg.env, which every script reads; the environment wins over what is remembered."""
    login = login_password(memory)
    values = {
        "DATABASE_URL": url,
        "TEST_DATABASE_URL": test_url,
        "KNOWHOW_DATABASE_URL": with_login(url, login),
        "KNOWHOW_LOGIN_PASSWORD": login,
        "KNOWHOW_SECRET_KEY": os.environ.get("KNOWHOW_SECRET_KEY") or memory["secret_key"],
    }
    write_private(ENV_FILE, "".join(f"{key}={shlex.quote(value)}\n" for key, value in values.items()))


def read_env(path=ENV_FILE):
    """Returns the variables of a file with `KEY=value` or `export KEY=value` lines."""
    lines = path.read_text().splitlines() if path.exists() else []
    words = (shlex.split(line.removeprefix("export ")) for line in lines)
    return dict(word[0].split("=", 1) for word in words if word and "=" in word[0])


def service_variables(variables):
    """Returns the variables that a service may be started with."""
    return {name: value for name, value in variables.items() if name not in NOT_OF_SERVICE}


def bare_variables():
    """Returns the variables of this process without settings of a service."""
    return {name: value for name, value in service_variables(os.environ).items()
            if not name.startswith("KNOWHOW_") and name != "DATABASE_URL"}
