"""Entry of a plain `pulumi up`: the document comes from the file that the configuration or the environment names."""

import json
import os
from pathlib import Path

import pulumi
from program import program

path = pulumi.Config().get("document") or os.environ.get("GPUPROV_STACK_DOCUMENT")
if not path:
    raise pulumi.RunError("no stack document: `pulumi config set document FILE`, or set GPUPROV_STACK_DOCUMENT")
try:
    document = json.loads(Path(path).read_text(encoding="utf-8"))
except (OSError, ValueError) as error:
    raise pulumi.RunError(f"the stack document {path} cannot be read: {error}") from error
program(document)
