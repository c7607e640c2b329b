"""Rules that the document cannot express: valid cursors, posts of a thread, searchable words, topics of the board, excluded
characters, null in optional fields, and idempotency keys.
"""

import json
import uuid

import jsonschema_rs
import schemathesis
from schemathesis.core.parameters import ParameterLocation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

STATE_DEPENDENT = ("after", "from", "q", "topics")
EXCLUDED_CHARACTERS = "expected text without U+0000 or a byte-order mark"


@schemathesis.check
def valid_data_acceptance(ctx, response, case):
    """Requires that valid data is accepted, except for parameters whose validity depends on the board's content, and for
    texts with excluded characters.
    """
    if response.status_code == 400:
        name, _, expected = response.json()["error"]["message"].partition(": ")
        if name in STATE_DEPENDENT or expected == EXCLUDED_CHARACTERS:
            return
    positive_data_acceptance(ctx, response, case)


def resolved(schema, document):
    """Follows a reference, also one in a choice between a schema and null."""
    schema = next((choice for choice in schema.get("anyOf", []) if "$ref" in choice), schema)
    for name in schema.get("$ref", "").split("/")[1:]:
        schema = (document if name == "components" else schema)[name]
    return schema


def without_omitted(value, schema, document):
    """Returns a JSON value without the null fields that are not required and whose schema excludes null."""
    schema = resolved(schema, document)
    if isinstance(value, list):
        return [without_omitted(item, schema.get("items", {}), document) for item in value]
    if not isinstance(value, dict):
        return value
    properties, required = schema.get("properties", {}), schema.get("required", [])
    return {
        name: without_omitted(field, properties.get(name, {}), document)
        for name, field in value.items()
        if field is not None or name in required or name not in properties or '"null"' in json.dumps(properties[name])
    }


def is_valid_without_omitted(case):
    """Returns whether a request is valid without the null fields of its body that are equivalent to omitted ones."""
    if any(part.mode.is_negative for place, part in case.meta.components.items() if place != ParameterLocation.BODY):
        return False
    document = case.operation.schema.raw_schema
    schema = case.operation.definition.raw["requestBody"]["content"]["application/json"]["schema"]
    body = without_omitted(case.body, schema, document)
    validator = jsonschema_rs.validator_for({**schema, "components": document["components"]})
    return body != case.body and validator.is_valid(body)


@schemathesis.check
def invalid_data_rejection(ctx, response, case):
    """Requires that invalid data is rejected. Null in an optional field is an omitted field."""
    if not (isinstance(case.body, (dict, list)) and is_valid_without_omitted(case)):
        negative_data_rejection(ctx, response, case)


@schemathesis.hook
def before_call(context, case, kwargs):
    """Makes each key unique. A repeated key would replay the stored response of a resource that may be deleted."""
    if case.meta.generation.mode.is_positive and "Idempotency-Key" in case.headers:
        case.headers["Idempotency-Key"] = uuid.uuid4().hex
