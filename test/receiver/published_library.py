"""Reads requests from the standard input, one a line, and says of each whether the published library verifies it."""

import base64
import datetime
import sys

from standardwebhooks import webhooks


class Clock(datetime.datetime):
    """The receiver's clock, as each request wants it."""

    seconds = 0

    @classmethod
    def now(cls, tz=None):
        return datetime.datetime.fromtimestamp(cls.seconds, tz)


webhooks.datetime = Clock

for line in sys.stdin:
    secrets, now, _, _, headers, body = (base64.b64decode(field) for field in line.rstrip("\n").split(" "))
    Clock.seconds = int(now)
    named = dict(header.split(": ", 1) for header in headers.decode().split("\n"))
    verified = False
    for secret in secrets.decode().split(","):
        try:
            # The empty body of a GET is not JSON: only verify it.
            # The library decodes text as base64; bytes are the key itself.
            key = secret if secret.startswith("whsec_") else secret.encode()
            webhooks.Webhook(key).verify(body.decode(), named, json_parse=False)
            verified = True
        except webhooks.WebhookVerificationError:
            pass
    print("true" if verified else "false")
