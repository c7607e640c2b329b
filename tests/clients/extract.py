"""Writes the receivers that the OpenAPI document describes to files."""

import json
import re
import sys
from pathlib import Path
from urllib.request import urlopen

FILES = {"rust": "receive.rs", "typescript": "is_genuine.ts", "python": "is_genuine.py"}

with urlopen(sys.argv[1]) as response:
    tags = json.load(response)["tags"]
[description] = [tag["description"] for tag in tags if tag["name"] == "webhooks"]
blocks = dict(re.findall(r"^```(\w+)\n(.*?)^```$", description, re.MULTILINE | re.DOTALL))
assert FILES.keys() <= blocks.keys(), blocks.keys()
for language, file in FILES.items():
    Path(file).write_text(blocks[language])
