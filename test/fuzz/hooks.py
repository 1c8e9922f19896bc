"""Lets half of the requests name records that exist: KNOWN_RECORDS maps the beginning of a path to an identifier."""

import json
import os
import pathlib
import re

import schemathesis

KNOWN = json.loads(os.environ["KNOWN_RECORDS"])


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    if not path_parameters or sum(map(ord, str(path_parameters))) % 2:
        return path_parameters
    for beginning, identifier in KNOWN.items():
        if beginning + "{" in context.operation.path:
            # The id of a webhook's recovery is unknown.
            return {name: path_parameters[name] if name == "recoveryId" else identifier for name in path_parameters}
    return path_parameters


@schemathesis.serializer("application/x-ndjson")
def to_ndjson(context, value):
    """One line: what the schema describes is a line."""
    return json.dumps(value).encode()


@schemathesis.deserializer("application/x-ndjson")
def from_ndjson(context, response):
    """The result of that line; a made-up body may also be no line at all."""
    lines = response.content.splitlines()
    return json.loads(lines[0]) if lines else {"line": 1, "statusCode": 200, "message": ""}


# These need a receiver's name server or a worker, and neither is there: 503, as documented.
NEED_OTHERS = ("/examine", "/try-now", "/give-up")


@schemathesis.check
def no_server_error(context, response, case):
    if response.status_code == 503 and case.operation.path.endswith(NEED_OTHERS):
        return
    assert response.status_code < 500, f"a server error: {response.status_code}"


# Sentences of the API, each with its rule, which no schema of one field can express.
EXPLAINED = [
    (re.compile(each["sentence"], re.DOTALL), each["rule"])
    for each in json.loads(pathlib.Path(__file__).with_name("explained.json").read_text())
]
# About permissions, existence, state or load: a request's schema says nothing of these.
NOT_ABOUT_THE_REQUEST = (401, 403, 404, 409, 429, 503)


@schemathesis.check
def valid_is_accepted(context, response, case):
    """A request that fits the schema is refused only by a rule between fields, or between a field and what is stored."""
    status = response.status_code
    if case.meta is None or not case.meta.generation.mode.is_positive or status < 400 or status in NOT_ABOUT_THE_REQUEST:
        return
    message = response.json()["message"]
    for problem in message.split("; "):
        if not any(sentence.search(problem) for sentence, _ in EXPLAINED):
            if "UNEXPLAINED" in os.environ:
                with open(os.environ["UNEXPLAINED"], "a") as file:
                    body = json.dumps(case.body, default=str)[:600]
                    file.write(f"{case.operation.label}\t{status}\t{problem}\t{case.query}\t{body}\n")
            raise AssertionError(f"a request that fits the schema was refused: {status} {problem}")
