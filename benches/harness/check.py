"""Each operation once, looked at: what is measured must be the right answer."""

import json

from tools.settings import Failed

from . import mcp
from .operations import REFUSED


def check(instance, tenant):
    """Stops a run that would measure something else."""
    items = check_reads(instance, tenant)
    check_refusals(instance, tenant.token(1))
    check_turns(instance, tenant)
    check_mcp(instance, tenant, items)


def check_reads(instance, tenant):
    """The index, a load, a raw file, and their 304; returns the index."""
    token, skill, ask = tenant.token(1), tenant.skills[0], instance.send
    status, headers, body = ask("GET", "/v1/skills", token)
    items = json.loads(body)["items"] if status == 200 else []
    expect(len(items) == min(50, len(tenant.skills)), f"the index answered {status} with {len(items)} skills")
    expect(ask("GET", "/v1/skills", token, headers={"If-None-Match": headers["ETag"]})[0] == 304, "the index has no 304")
    path = f"/v1/skills/{skill['name']}"
    used = [json.loads(ask("GET", path, token)[2])["times_used"] for _ in range(2)]
    expect(used[1] == used[0] + 1, f"two loads counted {used}")
    last = tenant.token(tenant.users)
    status, headers, body = ask("GET", f"{path}/SKILL.md", last)
    expect(status == 200 and headers["ETag"] == skill["etag"] and len(body) > 500, "a copied SKILL.md differs")
    expect(ask("GET", f"{path}/SKILL.md", last, headers={"If-None-Match": skill["etag"]})[0] == 304, "SKILL.md has no 304")
    return items


def check_refusals(instance, token):
    """What stands for a request that does nothing is refused, and only after its token was verified."""
    for name, path in REFUSED.items():
        expect(instance.send("GET", path, token)[0] == 400, f"{name}: {path} is not refused with 400; choose another one")
        expect(instance.send("GET", path)[0] == 401, f"{name}: {path} was refused before the token was looked at")


def check_turns(instance, tenant):
    """A turn finds something, says a named skill once, and is the same turn under the same key."""
    token = tenant.token(1)

    def turn(message, **more):
        status, _, body = instance.send("POST", f"/v1/sessions/{session}/turns", token, {"message": message, "deadline_ms": 30_000, **more})
        expect(status == 200, f"a turn was answered with {status}: {body.decode()[:300]}")
        return json.loads(body)

    calls = [message for message in tenant.messages if message.startswith("use skill-")][:1]
    session = tenant.sessions([1])[0]
    expect(len(turn(calls[0])["active"]) == 1 and not turn(calls[0])["active"], f"{calls[0]!r} names no skill, or twice")
    expect(turn(calls[0], context_reset=True)["active"], "a context_reset is not heeded")
    wishes = [message for message in tenant.messages if message not in calls]
    first = turn(wishes[0], turn_key="one")
    expect(turn(wishes[0], turn_key="one") == first, "the same turn key was answered with another turn")
    expect(first["relevant"] or any(turn(wish)["relevant"] for wish in wishes[1:]), f"nothing was found for any of {wishes}")
    etag = tenant.etags("/v1/snapshot", [1])[0]
    again = instance.send("GET", "/v1/snapshot", token, headers={"If-None-Match": etag})
    expect(again[0] == 304, "the snapshot has no 304")


def check_mcp(instance, tenant, items):
    """MCP answers what REST answers, and counts as it does."""
    token, name = tenant.token(1), tenant.skills[0]["name"]
    ask, path = instance.send, f"/v1/skills/{tenant.skills[0]['name']}"
    before = json.loads(ask("GET", path + "?peek=true", token)[2])["times_used"]
    viewed = mcp.ask(instance, token, mcp.view(name))["content"][0]["text"]
    used = json.loads(ask("GET", path, token)[2])
    expect(viewed.endswith(used["content"]) and used["times_used"] == before + 2,
           "skill_view answers with another skill than REST, or does not count")
    listed = mcp.ask(instance, token, mcp.list_skills())["skills"]
    same = [entry["uri"] for entry in listed] == [f"skill://{item['name']}/SKILL.md" for item in items]
    expect(same, f"skills/list answered with {len(listed)} skills, others than the index")


def expect(good, sentence):
    """Stops the run."""
    if not good:
        raise Failed(sentence)
