"""Reads requests from the standard input, one a line, and says of each whether the recipe verifies it (README.md)."""

import base64
import sys

import waybill

V1A = sys.argv[1:] == ["v1a"]
if V1A:
    import waybill_v1a


def verdict(secrets, now, method, target, headers, body):
    named = dict(header.split(": ", 1) for header in headers.decode().split("\n"))
    known = secrets.decode().split(",")
    if V1A:
        waybill_v1a.verify(known, named, body, int(now))
        return ["true"]
    waybill.verify(known, method.decode(), target.decode(), named, body, int(now))
    origin, changed = waybill.written(named)
    return ["true", *([origin] if origin else []), *changed]


REFUSED = (waybill.NotVerified, waybill_v1a.NotVerified) if V1A else waybill.NotVerified
SETUP = (waybill.BadSecret, waybill_v1a.BadKey) if V1A else waybill.BadSecret
for line in sys.stdin:
    try:
        print(" ".join(verdict(*(base64.b64decode(field) for field in line.rstrip("\n").split(" ")))))
    except REFUSED:
        print("false")
    except SETUP:
        print("setup")
