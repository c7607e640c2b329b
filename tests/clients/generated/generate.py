"""Generates the clients of `calls.ts`, `calls.py` and `calls.rs` from the OpenAPI document of the server."""

import json
from os import environ
from pathlib import Path
from subprocess import run
from urllib.request import urlopen

DOCUMENT, WITHOUT_WEBHOOKS = "openapi.json", "without_webhooks.json"

GENERATOR = "openapi-generator-cli generate --skip-validate-spec"
COMMANDS = f"""
{GENERATOR} --input-spec {DOCUMENT} --generator-name python --output python
{GENERATOR} --input-spec {DOCUMENT} --generator-name rust --output rust
{GENERATOR} --input-spec {DOCUMENT} --generator-name typescript-axios --output axios
{GENERATOR} --input-spec {WITHOUT_WEBHOOKS} --generator-name typescript-fetch --output fetch
orval --config orval.config.mjs
openapi-ts --file openapi-ts.config.mjs
swagger-typescript-api generate --path {DOCUMENT} --output . --name swagger.ts
datamodel-codegen --input {DOCUMENT} --input-file-type openapi --output models.py --output-model-type pydantic_v2.BaseModel --use-annotated --field-constraints
"""

with urlopen(f"{environ['API']}/openapi.json") as response:
    document = json.load(response)
Path(DOCUMENT).write_text(json.dumps(document))

# With webhooks the code of typescript-fetch has empty imports.
del document["webhooks"]
Path(WITHOUT_WEBHOOKS).write_text(json.dumps(document))

for command in COMMANDS.strip().splitlines():
    print(command)
    done = run(command.split(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
