"""Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md)."""

import base64
import sys

import waybill

for line in sys.stdin:
    secrets, now, method, target, headers, body = (base64.b64decode(field) for field in line.rstrip("\n").split(" "))
    named = dict(header.split(": ", 1) for header in headers.decode().split("\n"))
    try:
        waybill.verify(
            secrets.decode().split(","),
            method.decode(),
            target.decode(),
            named,
            body,
            int(now),
        )
        origin, changed = waybill.written(named)
        print(" ".join(["true", *([origin] if origin else []), *changed]))
    except waybill.NotVerified:
        print("false")
    except waybill.BadSecret:
        print("setup")
