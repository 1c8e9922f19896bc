"""Verifies the deliveries of a Waybill warehouse. Python 3.8 or later, nothing else.

Flask, for one:

    @app.route("/hooks", methods=["POST"])
    def hooks():
        target = request.environ.get("REQUEST_URI", request.full_path)  # as requested, not decoded
        try:
            waybill.verify([SECRET], request.method, target, request.headers, request.get_data())
        except waybill.NotVerified as problem:
            return str(problem), 401
        if is_new(request.headers["X-Service-Delivery"]):  # the same on every attempt
            handle(request.headers["X-Service-Event"], request.get_json())
        return "", 204

Take the body as it came (`request.get_data()`, Django's `request.body`), never one that was parsed and written again.
"""

import base64
import hashlib
import hmac
import time


class NotVerified(Exception):
    """The request is not a delivery, or not for one of these secrets."""


def verify(secrets, method, target, headers, body, now=None, tolerance=300):
    """Raises NotVerified unless both signatures are good and not older than `tolerance` seconds.

    secrets: all of each secret ("whsec_..."): one, or the new and the old one while a secret is being replaced
    target:  path and query exactly as requested; only GET needs it
    headers: names in any case, as Flask and Django have them, or in lower case
    body:    bytes exactly as received; empty on GET
    now:     Unix seconds; default: the clock
    """
    headers = {name.lower(): value for name, value in dict(headers).items()}
    fields = [field.strip().partition("=") for field in headers.get("x-service-signature", "").split(",")]
    t = next((value for name, _, value in fields if name == "t"), "")
    if not (t.isascii() and t.isdigit()) or t != headers.get("webhook-timestamp"):
        raise NotVerified("X-Service-Signature has no valid timestamp, or it differs from webhook-timestamp")
    delivery = headers.get("webhook-id", "")
    if not delivery or delivery != headers.get("x-service-delivery"):
        raise NotVerified("webhook-id is missing, or differs from X-Service-Delivery")

    content = body if method == "POST" else target.encode()
    service = [value for name, _, value in fields if name == "v1"]
    if not any(_equal(_hmac(secret.encode(), t, content).hex(), service) for secret in secrets):
        raise NotVerified("X-Service-Signature does not match: the secret, body, path or query differs")

    signed = body if method == "POST" else b""
    given = headers.get("webhook-signature", "").split(" ")
    standard = [one[3:] for one in given if one.startswith("v1,")]
    keys = [base64.b64decode(secret[len("whsec_"):]) for secret in secrets]
    made = [base64.b64encode(_hmac(key, delivery + "." + t, signed)).decode() for key in keys]
    if not any(_equal(one, standard) for one in made):
        raise NotVerified("webhook-signature does not match: the id differs")

    if abs((time.time() if now is None else now) - int(t)) > tolerance:
        raise NotVerified("the signature is too old, or this clock is wrong")


def _hmac(key, prefix, content):
    return hmac.new(key, prefix.encode() + b"." + content, hashlib.sha256).digest()


def _equal(made, given):
    return any([hmac.compare_digest(made.encode(), one.encode()) for one in given])
