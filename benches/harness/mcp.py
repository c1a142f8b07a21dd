"""Requests of the Model Context Protocol, revision 2026-07-28, and what a good answer is."""

import json

from tools.settings import Failed

PATH = "/mcp"
REVISION = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": REVISION,
        "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {}}


def view(name):
    """The call of skill_view: headers and body."""
    return request("tools/call", name="skill_view", arguments={"name": name})


def list_skills():
    """The first page of skills/list: headers and body."""
    return request("skills/list")


def request(method, **params):
    """Headers and body of a message; `Authorization` and `Content-Type` come from whoever sends it."""
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": REVISION, "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    return headers, {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}


def text(headers, body):
    """The same as it goes over the wire behind the headers that the wrk script adds."""
    body = json.dumps(body, separators=(",", ":"))
    headers = {**headers, "Content-Type": "application/json", "Content-Length": len(body)}
    return "".join(f"{name}: {value}\r\n" for name, value in headers.items()) + f"\r\n{body}"


def ask(instance, token, message):
    """One message on its own connection; returns the result."""
    headers, body = message
    status, _, answer = instance.send("POST", PATH, token, body, headers)
    answered = json.loads(answer) if status == 200 else {}
    if "result" not in answered or "error" in answered or answered["result"].get("isError"):
        raise Failed(f"{body['method']} was answered with {status}: {answer.decode(errors='replace')[:300]}")
    return answered["result"]
