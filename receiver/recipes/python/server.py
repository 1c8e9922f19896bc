"""A receiver with nothing but Python, and waybill.py beside it. The secret comes from the environment."""

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import waybill

SECRETS = [os.environ.get("WEBHOOK_SECRET")]
MAX_BYTES = 4 * 1024 * 1024  # a delivery has 256 KiB at most, and a little around it
handled = set()  # keep it in your database: this one is forgotten with the process


class Hooks(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", "0"))
        if length > MAX_BYTES:
            return self.respond(413, "too large")
        body = self.rfile.read(length)
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
