"""An http server on the loopback whose answers a test decides."""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Reply = Callable[[str, Mapping[str, str]], tuple[int, Mapping[str, str], bytes]]
"""Path and request headers (names in lower case) -> status, headers, body."""


@contextmanager
def answering(reply: Reply) -> Iterator[str]:
    """Serve until the end of the block; gives the server's URL, without a `/` at its end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            status, headers, body = reply(self.path, {name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_port}"
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
