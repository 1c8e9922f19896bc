"""Verifies the deliveries of a Waybill warehouse. Python 3.8 or later, nothing else.

Flask, for one:

    @app.route("/hooks", methods=["POST"])
    def hooks():
        target = request.environ.get("REQUEST_URI", request.full_path)  # as requested, not decoded
        try:
            secrets = SECRETS.get(request.headers.get("X-Service-Webhook"), [])  # each webhook has its own
            waybill.verify(secrets, request.method, target, request.headers, request.get_data())
        except waybill.NotVerified as problem:
            return str(problem), 401  # BadSecret is not caught: it is our own mistake, and becomes a 500
        if is_new(request.headers["X-Service-Delivery"]):  # the same on every attempt
            handle(request.headers["X-Service-Event"], request.get_json())
        return "", 204

Take the body as it came (`request.get_data()`, Django's `request.body`), never one that was parsed and written again.
"""

import hashlib
import hmac
import re
import time


# What is signed beside the time, method, path, query and body; X-Service-Test is absent where it is no test.
SIGNED = {
    "v3": ("delivery", "event-id", "event", "sequence", "webhook", "origin", "changed", "test"),
    "v2": ("delivery", "event-id", "event", "sequence", "webhook", "test"),
}


# A whole secret: generated ("whsec_...", its length is 4n + 2) or your own; which is no quoted text, API key or placeholder.
GENERATED = re.compile(r"whsec_[A-Za-z0-9+/]{32,86}={0,2}")
OWN = re.compile(r"[!-~][ -~]{22,254}[!-~]")
NOT_OWN = re.compile(
    r"""^["'`]|^wb_[A-Za-z0-9_-]{43}$|[$#%]\{[^{}]*\}|\$\([^()]*\)|\{\{.*\}\}|^<.*>$|^%.*%$|^\[.*\]$|^\$[A-Za-z_][A-Za-z0-9_]*$"""
)


class NotVerified(Exception):
    """The request is not a delivery, or not for one of these secrets."""


class BadSecret(Exception):
    """A mistake in your own setup, not in the request: answer 500, never 401."""


def check_secrets(secrets):
    """Raises BadSecret unless `secrets` is a list of whole secrets. Call it at the start, too: anybody can sign with an empty one."""
    if not isinstance(secrets, (list, tuple)):
        raise BadSecret("the secrets are not a list: write [secret]")
    for secret in secrets:
        if not isinstance(secret, str) or not _is_whole(secret):
            raise BadSecret("a secret is not set, cut off, in quotes or spaces, or a placeholder")


def _is_whole(secret):
    if secret.startswith("whsec_"):
        return GENERATED.fullmatch(secret) is not None and len(secret) % 4 == 2
    return OWN.fullmatch(secret) is not None and NOT_OWN.search(secret) is None


def verify(secrets, method, target, headers, body, now=None, tolerance=300):
    """Raises NotVerified unless the signature is good and not older than `tolerance` seconds; BadSecret as `check_secrets` does.

    secrets: those of the webhook that X-Service-Webhook names, all of each ("whsec_..."): one, or the new and the old one while a secret is being replaced
    target:  path and query exactly as requested
    headers: names in any case, as Flask and Django have them, or in lower case
    body:    bytes exactly as received; empty on GET
    now:     Unix seconds; default: the clock
    """
    check_secrets(secrets)
    headers = {name.lower(): value for name, value in dict(headers).items()}
    fields = _fields(headers)
    t = next((value for name, _, value in fields if name == "t"), "")
    if not (t.isascii() and t.isdigit()):
        raise NotVerified("X-Service-Signature has no valid timestamp")

    version = _version(fields)
    lines = [t, *(headers.get("x-service-" + name, "") for name in SIGNED[version]), method, target, ""]
    content = "\n".join(lines).encode() + body
    given = [value for name, _, value in fields if name == version]
    made = [hmac.new(secret.encode(), content, hashlib.sha256).hexdigest() for secret in secrets]
    if not any([hmac.compare_digest(one.encode(), other.encode()) for one in made for other in given]):
        raise NotVerified(version + " of X-Service-Signature does not match: the secret, a header, path, query or body differs")

    if abs((time.time() if now is None else now) - int(t)) > tolerance:
        raise NotVerified("the signature is too old, or this clock is wrong")


def written(headers):
    """Of a verified request: who made the change ("shop", "warehouse" or "service"), and the fields that it changed.

    (None, []) where there is no v3, of an older sender: v2 does not cover these headers, and anybody may have set them.
    """
    headers = {name.lower(): value for name, value in dict(headers).items()}
    if _version(_fields(headers)) != "v3":
        return None, []
    changed = headers.get("x-service-changed", "")
    return headers.get("x-service-origin"), changed.split(",") if changed else []


def _fields(headers):
    return [field.strip().partition("=") for field in headers.get("x-service-signature", "").split(",")]


def _version(fields):
    return "v3" if any(name == "v3" for name, _, _ in fields) else "v2"
