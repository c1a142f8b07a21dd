"""Sends HTTP requests to a service, with a token or an API key."""

import http.client
import json
from urllib.parse import urlsplit

from .settings import fail

TIMEOUT_S = 60


class Caller:
    """A user or an operator with a credential. An API key needs the name of its user."""

    def __init__(self, credential, user=None):
        self.credential, self.user = credential, user

    def request(self, url, method, path, body=None, **headers):
        """Sends one request; returns status, headers and body."""
        headers |= {"Knowhow-User": self.user} if self.user else {}
        return request(url, method, path, self.credential, body, headers)

    def ask(self, url, method, path, body=None, wanted=(200, 201, 202, 204)):
        """Sends one request that must be answered with a wanted status; returns the body."""
        status, _, answer = self.request(url, method, path, body)
        if status not in wanted:
            fail(f"{method} {path} as {self.user} was answered {status}: {answer.decode(errors='replace')[:500]}")
        return answer


def request(url, method, path, token=None, body=None, headers=None):
    """Sends one request on a connection of its own; returns status, headers and body."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=TIMEOUT_S)
    try:
        return send(connection, method, path, token, body, headers)
    finally:
        connection.close()


def send(connection, method, path, token=None, body=None, headers=None):
    """Sends one request on an open connection; returns status, headers and body."""
    headers = dict(headers or {})
    if token:
        headers["Authorization"] = f"Bearer {token}"
    if body is not None:
        body = json.dumps(body)
        headers["Content-Type"] = "application/json"
    connection.request(method, path, body=body, headers=headers)
    answer = connection.getresponse()
    return answer.status, answer.headers, answer.read()


def status_of(url, path):
    """Returns the status of a GET request; 0 if there is no answer."""
    try:
        return request(url, "GET", path)[0]
    except (OSError, http.client.HTTPException):
        return 0
