"""What a user does, through the client that openapi-python-client has generated as the package knowhow_client."""

import os
from io import BytesIO
from pathlib import Path

from knowhow_client import AuthenticatedClient
from knowhow_client.api.exchange import export_skills, import_skills
from knowhow_client.api.resources import get_resource, put_resource
from knowhow_client.api.skills import delete_skill, list_skills, load_skill, read_skill_md
from knowhow_client.models import ImportForm, Problem
from knowhow_client.types import File

NAME = "client-python"
client = AuthenticatedClient(base_url=os.environ["KNOWHOW_URL"], token=os.environ["KNOWHOW_TOKEN"])

with open(Path(os.environ["KNOWHOW_WORK"]) / f"{NAME}.zip", "rb") as archive:
    upload = File(payload=archive, file_name=f"{NAME}.zip", mime_type="application/zip")
    note = File(
        payload=BytesIO(b"---\nname: client-python-note\ndescription: A note. Use when testing.\n---\nDo it.\n"),
        file_name="SKILL.md",
        mime_type="text/markdown",
    )
    report = import_skills.sync(client=client, body=ImportForm(files=[upload, note]))
assert report.created == 2 and not report.failed, report

page = list_skills.sync(client=client, prefix="client-python")
assert [item.name for item in page.items] == [NAME, f"{NAME}-note"], page
assert "1. Try it." in load_skill.sync(NAME, client=client).content
assert read_skill_md.sync(NAME, client=client).startswith("---\nname: client-python\n")

assert get_resource.sync(NAME, "references/a.md", client=client).payload.read() == b"alpha of client-python\n"
bytes_in = bytes(range(256))
saved = put_resource.sync(NAME, "assets/all.bin", client=client, body=File(payload=BytesIO(bytes_in)))
assert saved.version == 2, saved
assert get_resource.sync(NAME, "assets/all.bin", client=client).payload.read() == bytes_in

assert export_skills.sync(client=client).payload.read().startswith(b"PK"), "no zip"

assert delete_skill.sync_detailed(NAME, client=client).status_code == 204
gone = load_skill.sync(NAME, client=client)
assert isinstance(gone, Problem) and gone.type_ == "/problems/not-found" and gone.status == 404, gone
refused = list_skills.sync(client=AuthenticatedClient(base_url=os.environ["KNOWHOW_URL"], token="kh_none"))
assert isinstance(refused, Problem) and refused.status == 401, refused
print("openapi-python-client: import, list, load, resources, export, delete")
