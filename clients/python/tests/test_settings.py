"""Settings, errors, and what an import costs."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from knowhow_client import Knowhow, KnowhowError, errors
from knowhow_client._folders import unpack
from knowhow_client.models import TurnAnswer


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KNOWHOW_URL", "http://example.test/")
    monkeypatch.setenv("KNOWHOW_API_KEY", "kh_secret")
    monkeypatch.setenv("KNOWHOW_USER", "alice")
    kh = Knowhow()
    assert repr(kh) == "Knowhow(url='http://example.test', user='alice')"
    assert "kh_secret" not in repr(kh._transport.options)
    assert repr(kh.with_options(user="bob")) == "Knowhow(url='http://example.test', user='bob')"
    assert "user=None" in repr(Knowhow(token="jwt")), "a token acts for its own user"
    with pytest.raises(KnowhowError, match="not both"):
        Knowhow(api_key="a", token="b")
    with pytest.raises(KnowhowError, match="ASCII"):
        kh.with_options(user="jürgen")
    monkeypatch.delenv("KNOWHOW_API_KEY")
    with pytest.raises(KnowhowError, match="KNOWHOW_API_KEY"):
        Knowhow()
    monkeypatch.delenv("KNOWHOW_URL")
    with pytest.raises(KnowhowError, match="KNOWHOW_URL"):
        Knowhow()


@pytest.mark.parametrize("name", ["", ".", ".."])
def test_names_that_would_change_the_path(name: str) -> None:
    with pytest.raises(KnowhowError, match="is no name"):
        Knowhow("http://127.0.0.1:9", api_key="kh_x", user="x").skills.delete(name)


def test_problems_are_classes() -> None:
    members = {"type": "/problems/version-conflict", "status": 409, "detail": "the current version is 3", "current_version": 3, "new": 1}
    problem = errors.problem(409, members, None, "id")
    assert isinstance(problem, errors.VersionConflict) and isinstance(problem, errors.Conflict)
    assert (problem.current_version, problem.members["new"], problem.request_id) == (3, 1, "id")
    assert str(problem) == "409 version-conflict: the current version is 3"
    copy = pickle.loads(pickle.dumps(problem))
    assert type(copy) is errors.VersionConflict and copy.current_version == 3
    assert type(errors.problem(409, {"type": "/problems/of-next-year"}, None, None)) is errors.Conflict
    assert type(errors.problem(418, {}, None, None)) is errors.Problem
    assert type(errors.problem(599, {}, None, None)) is errors.ServerError


def test_answers_of_a_newer_service() -> None:
    import msgspec

    newer = b'{"turn":1,"max_turns":6,"active":[],"too_long":[],"relevant":[],"related":[],"text":"x","degraded":["new"],"new":{}}'
    assert msgspec.json.decode(newer, type=TurnAnswer).degraded == ["new"]


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "a/../../evil", "a\\..\\evil", "link/evil"])
def test_unsafe_archives(path: str, tmp_path: Path) -> None:
    import io
    import zipfile

    (tmp_path / "out").mkdir()
    (tmp_path / "out/link").symlink_to(tmp_path)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr(path, "evil")
    if path.startswith("/"):  # zipfile stores no absolute path.
        archive = io.BytesIO(archive.getvalue().replace(b"etc/evil", b"/tc/evil"))
    with pytest.raises(KnowhowError, match="unsafe path"):
        unpack(archive, tmp_path / "out")
    assert not list(tmp_path.rglob("*evil*"))


def test_an_import_does_nothing() -> None:
    code = (
        "import sys, threading\n"
        "sys.addaudithook(lambda event, args: event.startswith('socket.connect') and sys.exit(3))\n"
        "import knowhow_client\n"
        "assert threading.active_count() == 1\n"
        "assert not {'pydantic', 'requests', 'langchain'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={"PATH": os.environ["PATH"]})
