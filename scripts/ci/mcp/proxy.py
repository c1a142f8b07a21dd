"""Sends requests on to the service with a credential, for clients that cannot send one. The proxy's own address in
Host and Origin becomes the service's; all else goes through as it came, either way, a strange Host or Origin too."""

import socket
import socketserver
import threading
from urllib.parse import urlsplit


class Handler(socketserver.StreamRequestHandler):
    """One request on one connection."""

    def handle(self):
        """Reads a request with its whole body, then copies the answer until it ends."""
        own, service = "{}:{}".format(*self.server.server_address), self.server.service
        head, length = [self.rfile.readline()], 0
        for line in iter(self.rfile.readline, b"\r\n"):
            if not line:
                return  # the client has gone
            name, _, value = line.partition(b":")
            name, text = name.lower(), value.strip().decode("latin-1")
            if name == b"transfer-encoding":
                self.wfile.write(b"HTTP/1.1 411 Length Required\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                return
            if name == b"content-length":
                length = int(text)
            if name == b"host" and text == own:
                line = f"Host: {service}\r\n".encode()
            if name == b"origin" and text == f"http://{own}":
                line = f"Origin: http://{service}\r\n".encode()
            if name not in (b"connection", b"authorization"):
                head.append(line)
        head.append(f"Authorization: Bearer {self.server.token}\r\nConnection: close\r\n\r\n".encode())
        host, _, port = service.rpartition(":")
        with socket.create_connection((host, int(port))) as upstream:
            upstream.sendall(b"".join(head) + self.rfile.read(length))
            while part := upstream.recv(65536):
                self.wfile.write(part)


class Proxy(socketserver.ThreadingTCPServer):
    """A proxy on a free port of this machine; `url` says where."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self, service, token):
        super().__init__(("127.0.0.1", 0), Handler)
        self.service, self.token = urlsplit(service).netloc, token
        self.url = "http://{}:{}".format(*self.server_address)

    def __enter__(self):
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    def handle_error(self, request, client_address):
        """A client or the service may hang up whenever it likes; who cares for the answer notices."""
