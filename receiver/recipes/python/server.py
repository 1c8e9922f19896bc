"""A receiver with nothing but Python, and waybill.py beside it. The secret comes from the environment."""

import json
import os
import re
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import waybill

SECRETS = [os.environ.get("WEBHOOK_SECRET")]
MAX_BYTES = 1024 * 1024  # more than any delivery needs: a record has at most 256 KiB as JSON
handled = set()  # keep it in your database: this one is forgotten with the process


class Hooks(BaseHTTPRequestHandler):
    def do_POST(self):
        written = self.headers.get("Content-Length", "0")
        if not re.fullmatch("[0-9]{1,9}", written):  # nothing may read until the sender closes, as read(-1) does
            return self.respond(400, "no length")
        length = int(written)
        if length > MAX_BYTES:
            return self.respond(413, "too large")
        body = self.rfile.read(length)
        if len(body) < length:
            return self.respond(400, "broken off")
        try:
            waybill.verify(SECRETS, "POST", self.path, self.headers, body)
        except waybill.NotVerified as problem:
            return self.respond(401, str(problem))
        delivery = self.headers["X-Service-Delivery"]  # the same on every attempt
        if self.headers["X-Service-Test"] != "true" and delivery not in handled:
            order = json.loads(body)
            print("New order", order["eshopOrderId"], "of", order["recipientName"], flush=True)
            handled.add(delivery)
        self.respond(200, "")

    def respond(self, status, text):
        self.send_response(status)
        answer = text.encode()
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


try:
    waybill.check_secrets(SECRETS)
except waybill.BadSecret as problem:
    sys.exit(f"WEBHOOK_SECRET: {problem}.")
ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "9000"))), Hooks).serve_forever()
