"""Rules that the document cannot express: valid cursors, posts of a thread, searchable words, and idempotency keys."""

import uuid

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

STATE_DEPENDENT = ("after", "from", "q")


@schemathesis.check
def valid_data_acceptance(ctx, response, case):
    """Requires that valid data is accepted, except for parameters whose validity depends on the board's content."""
    if response.status_code == 400:
        name, _, _ = response.json()["error"]["message"].partition(":")
        if name in STATE_DEPENDENT:
            return
    positive_data_acceptance(ctx, response, case)


def has_null(value):
    """Returns whether a field or an item of a JSON value is null."""
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(one is None or has_null(one) for one in values)


@schemathesis.check
def invalid_data_rejection(ctx, response, case):
    """Requires that invalid data is rejected, except for null in a body: in an optional field it is an omitted field."""
    if not has_null(case.body):
        negative_data_rejection(ctx, response, case)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes each key unique. A repeated key would replay the stored response of a resource that may be deleted."""
    if case.meta.generation.mode.is_positive and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
