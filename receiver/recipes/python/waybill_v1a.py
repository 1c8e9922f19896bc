"""Verifies `v1a`, the signature for receivers that know public keys and no secret. Python 3.8 or later and `pip install cryptography`:
Python itself has no Ed25519.

    KEYS = [os.environ["WAREHOUSE_KEY"]]  # each "publicKey" of GET /eshop/signing-keys: one, or two while one is being replaced
    waybill_v1a.check_public_keys(KEYS)

    waybill_v1a.verify(KEYS, request.headers, request.get_data())  # NotVerified: answer 401

It covers X-Service-Delivery, the time and the body, of POST alone. The event type, the webhook, the sequence and the test mark it does
not cover: where these need protection from more than TLS protects them from, verify `v3` too (waybill.py).
"""

import base64
import re
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# "whpk_" and the base64 of 32 bytes, which are not all zero: anybody can sign for such a key.
PUBLIC_KEY = re.compile(r"whpk_(?!A+=)[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=")


class NotVerified(Exception):
    """The request is not a delivery, or not for one of these keys."""


class BadKey(Exception):
    """A mistake in your own setup, not in the request: answer 500, never 401."""


def check_public_keys(keys):
    """Raises BadKey unless `keys` is a list of one or more whole public keys. Call it at the start, too."""
    if not isinstance(keys, (list, tuple)) or not keys:
        raise BadKey("the public keys are not a list: write [key]")
    for key in keys:
        if not isinstance(key, str) or PUBLIC_KEY.fullmatch(key) is None:
            raise BadKey('a public key is not set, cut off, or not the "publicKey" of GET /eshop/signing-keys')


def verify(keys, headers, body, now=None, tolerance=300):
    """Raises NotVerified unless the signature is good and not older than `tolerance` seconds; BadKey as `check_public_keys` does.

    headers: names in any case
    body:    bytes exactly as received
    now:     Unix seconds; default: the clock
    """
    check_public_keys(keys)
    headers = {name.lower(): value for name, value in dict(headers).items()}
    delivery, t = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if delivery != headers.get("x-service-delivery"):
        raise NotVerified("webhook-id is not X-Service-Delivery")
    if not (t.isascii() and t.isdigit()):
        raise NotVerified("webhook-timestamp is not in Unix seconds")
    if not body:
        raise NotVerified("the body is empty: a GET is verified by v3 alone")

    content = f"{delivery}.{t}.".encode() + body
    given = [one[4:] for one in headers.get("webhook-signature", "").split() if one.startswith("v1a,")]
    if not any(_signed(key, one, content) for key in keys for one in given):
        raise NotVerified("v1a of webhook-signature does not match: the public key, webhook-id, the time or the body differs")

    if abs((time.time() if now is None else now) - int(t)) > tolerance:
        raise NotVerified("the signature is too old, or this clock is wrong")


def _signed(key, signature, content):
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.b64decode(key[5:]))
        public.verify(base64.b64decode(signature, validate=True), content)
        return True
    except (InvalidSignature, ValueError):
        return False
