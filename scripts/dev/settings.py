"""What the development scripts remember in ./data: folders, the port, secrets, and data/pg.env."""

import json
import os
import secrets
import shlex
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "data"
TOOLS = DATA / "tools"
MEMORY = DATA / "pg.json"
ENV_FILE = DATA / "pg.env"


def fail(sentence):
    """Ends the program with one sentence."""
    sys.exit(f"error: {sentence}")


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
