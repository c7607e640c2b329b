"""A proxy of a board with a later version of the API, whose open enumerations have another value, and whose events have
another topic and a further resource.

usage: later_version.py URL
"""

import re
import sys
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

OPEN = re.compile(rb'"(state|kind|folder|target|topic)":"[a-z_.]+"')
LATER = rb'"\1":"of_a_later_version"'
EVENT, LATER_EVENT = b'"data":{', b'"data":{"reaction":{"reactionId":"1"},'

board = urlsplit(sys.argv[1])


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def forward(self) -> None:
        length = int(self.headers.get("content-length", "0"))
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("accept-encoding", "host")}
        upstream = HTTPConnection(board.hostname or "", board.port)
        upstream.request(self.command, self.path, self.rfile.read(length), headers)
        response = upstream.getresponse()
        body = response.read()
        if not self.path.endswith("/openapi.json"):
            body = OPEN.sub(LATER, body).replace(EVENT, LATER_EVENT)
        self.send_response(response.status)
        for name, value in response.getheaders():
            if name.lower() not in ("content-length", "connection", "date", "server", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        upstream.close()

    do_GET = do_POST = do_PATCH = do_DELETE = forward

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
print(f"http://127.0.0.1:{server.server_port}{board.path}", flush=True)
server.serve_forever()
