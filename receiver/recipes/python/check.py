"""Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md)."""

import base64
import sys

import waybill

for line in sys.stdin:
    secrets, now, method, target, headers, body = (base64.b64decode(field) for field in line.rstrip("\n").split(" "))
    try:
        waybill.verify(
            secrets.decode().split(","),
            method.decode(),
            target.decode(),
            dict(header.split(": ", 1) for header in headers.decode().split("\n")),
            body,
            int(now),
        )
        print("true")
    except waybill.NotVerified:
        print("false")
    except waybill.BadSecret:
        print("setup")
