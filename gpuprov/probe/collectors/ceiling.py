"""The highest CUDA version that the driver runs: neither a toolkit's version nor a framework's (A31)."""

import re

from gpuprov.model.fact import Absent, Known, Unknown
from gpuprov.model.snapshot import CollectorOutput, Recording
from gpuprov.probe.collector import Collector, Found, failure, fixed, need, odd
from gpuprov.probe.collectors.smi import LIMIT, NEEDS_DRIVER, without_driver

GIVES = ("stack.driver.cuda",)

# No field of --query-gpu tells it. The head of -q does, in every release; COMPUTE is the shortest thing to ask for.
_COMMAND = need("nvidia-smi") + NEEDS_DRIVER + "nvidia-smi -q -d COMPUTE"
_CUDA = re.compile(r"CUDA Version\s*: +(?P<version>\S+)")


def parse_ceiling(output: CollectorOutput, recording: Recording) -> Found:
    """stack.driver.cuda, also from the plain table's head; WSL's older tools say ERR! there (A28)."""
    if without_driver(output):
        return {"stack.driver.cuda": Absent()}
    found = _CUDA.search(output.stdout)
    if found is None:
        said = failure(output, recording, "nvidia-smi") if output.status else odd(output, "the answer of nvidia-smi")
        return {"stack.driver.cuda": said}
    version = found["version"]
    known = re.fullmatch(r"\d{1,4}\.\d{1,4}", version)
    return {"stack.driver.cuda": Known(version) if known else Unknown(f"nvidia-smi gives no CUDA version: {version}")}


COLLECTORS = (Collector(name="ceiling", command=fixed(_COMMAND), gives=GIVES, parse=parse_ceiling, limit=LIMIT),)
