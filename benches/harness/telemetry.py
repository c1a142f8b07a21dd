"""A receiver of OTLP over HTTP that takes everything and keeps nothing but counts."""

import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SAMPLED = 0.05


class Receiver:
    """Listens on a free port, in a thread of the benchmark's own process."""

    def __init__(self):
        self.batches = Counter()
        counts = self.batches

        class Handler(BaseHTTPRequestHandler):
            """Answers each batch as taken (OTLP 1.x, over HTTP: an empty body is a whole success)."""

            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802: the name is the library's
                """A batch of /v1/traces, /v1/metrics or /v1/logs."""
                self.rfile.read(int(self.headers["Content-Length"]))
                counts[self.path.rpartition("/")[2]] += 1
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                """Says nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def settings(self):
        """What the service is started with."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{self.server.server_port}",
                "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": str(SAMPLED),
                "KNOWHOW_METRICS_BIND": "127.0.0.1:0"}

    def told(self):
        """What the compared service did, for the head of the table."""
        batches = ", ".join(f"{count} of {what}" for what, count in sorted(self.batches.items()))
        return f"the same with telemetry ({SAMPLED:.0%} of traces; batches: {batches})"

    def stop(self):
        """Listens no more."""
        self.server.shutdown()
        self.server.server_close()
