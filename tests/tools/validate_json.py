#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate_json.py SCHEMA FILE...: each file against the schema; 77 when jsonschema is missing."""
import json
import sys

try:
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as f:
    schema = json.load(f)
Draft202012Validator.check_schema(schema)


def closed(node):
    """The schema lets new keys pass; what is written today must not have any that it omits."""
    if isinstance(node, dict):
        node = {key: closed(value) for key, value in node.items()}
        if "properties" in node and "required" in node:
            node["additionalProperties"] = False
        return node
    return [closed(value) for value in node] if isinstance(node, list) else node


failed = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as f:
        document = json.load(f)
    for error in Draft202012Validator(closed(schema)).iter_errors(document):
        print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:200]}")
        failed = 1
    ids = [node["id"] for node in document["nodes"]]
    if ids != list(range(len(ids))):
        print(f"{path}: ids of nodes are not their places")
        failed = 1
sys.exit(failed)
