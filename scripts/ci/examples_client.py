#!/usr/bin/env python3
"""The examples' client behind a proxy that fails: what it asks again, after which pause, and what it makes of a page."""

import os
import sys
import threading
import unittest
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "deploy" / "examples"))
from knowhow import LONGEST_PAUSE, PAUSES, Knowhow, NoAnswer, Problem

PAGE = b"<html><title>Bad gateway</title></html>"


class Proxy(BaseHTTPRequestHandler):
    """Gives the answers of its server, one after the other: (status, headers, body)."""

    protocol_version = "HTTP/1.1"

    def do_GET(self):
        status, headers, body = self.server.answers.pop(0)
        self.send_response(status)
        for header in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class ClientTest(unittest.TestCase):
    def setUp(self):
        self.server = HTTPServer(("127.0.0.1", 0), Proxy)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        settings = {"KNOWHOW_URL": f"http://127.0.0.1:{self.server.server_port}", "KNOWHOW_API_KEY": "key"}
        with mock.patch.dict(os.environ, settings):
            self.knowhow = Knowhow(timeout=5)
        self.addCleanup(lambda: self.knowhow.connection.close())

    def surely(self, *answers):
        """The outcome of a request that may be sent again, and the pauses before each time."""
        self.server.answers = list(answers)
        with mock.patch("time.sleep") as sleep:
            try:
                outcome = self.knowhow.surely("alice", "GET", "/v1/soul")
            except (NoAnswer, Problem) as failure:
                outcome = failure
        return outcome, [call.args[0] for call in sleep.call_args_list]

    def test_what_passes_is_asked_again(self):
        for status in (429, 502, 503, 504):
            for body in (PAGE, b"", b'{"type": "/problems/unavailable"}'):
                outcome, pauses = self.surely((status, {}, body), (200, {}, b'{"text": "kind"}'))
                self.assertEqual((outcome, pauses), ({"text": "kind"}, [PAUSES[0]]), (status, body))

    def test_what_does_not_pass_is_not(self):
        for status in (400, 401, 403, 404, 409, 500):
            problem, pauses = self.surely((status, {}, b'{"type": "/problems/some-kind", "detail": "why"}'))
            self.assertEqual((problem.status, problem.kind, problem.detail, pauses), (status, "some-kind", "why", []))

    def test_a_page_is_no_answer(self):
        for page in (PAGE, b'"Bad gateway"', b"\xff\xfe"):
            failure, pauses = self.surely(*[(200, {}, page)] * 4)
            self.assertIsInstance(failure, NoAnswer)
            self.assertEqual(pauses, list(PAUSES))

    def test_the_pause_that_is_asked_for_is_made_within_bounds(self):
        for wait, pause in (("2", 2.0), ("0", PAUSES[0]), ("3600", LONGEST_PAUSE), ("soon", PAUSES[0])):
            for body in (PAGE, b'{"type": "/problems/unavailable"}'):
                outcome, pauses = self.surely((503, {"Retry-After": wait}, body), (200, {}, b""))
                self.assertEqual((outcome, pauses), ({}, [pause]), wait)


if __name__ == "__main__":
    unittest.main()
