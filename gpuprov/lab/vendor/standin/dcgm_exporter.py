"""Stand-in for dcgm-exporter: Prometheus metrics on port 9400, for the fields that the counters file names."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from gpuprov.lab.vendor.standin.arguments import option
from gpuprov.lab.vendor.standin.forms import Kit, packed
from gpuprov.lab.vendor.standin.nvml import Gpu, Nvml, NvmlError

DEFAULT_COUNTERS = Path("/etc/dcgm-exporter/default-counters.csv")
PORT = 9400

VALUES: dict[str, Callable[[Gpu, float], float]] = {
    "DCGM_FI_DEV_SM_CLOCK": lambda _, __: 345,
    "DCGM_FI_DEV_MEM_CLOCK": lambda _, __: 2619,
    "DCGM_FI_DEV_MEMORY_TEMP": lambda gpu, _: 36 + gpu.index % 4,
    "DCGM_FI_DEV_GPU_TEMP": lambda gpu, _: 30 + gpu.index % 4,
    "DCGM_FI_DEV_POWER_USAGE": lambda gpu, _: gpu.power_limit_w / 10,
    "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": lambda gpu, up: round(up * gpu.power_limit_w * 100),
    "DCGM_FI_DEV_XID_ERRORS": lambda gpu, _: gpu.xid,
    "DCGM_FI_DEV_FB_FREE": lambda gpu, _: gpu.memory_mib,
}
"""What an idle GPU shows, from the GPU and the seconds since start; every other field is 0."""


class Counter:
    """One line of the counters file."""

    def __init__(self, metric: str, kind: str, text: str) -> None:
        self.metric = metric
        self.kind = kind
        self.text = text


def main() -> int:
    """Runs dcgm-exporter."""
    kit = packed()
    arguments = sys.argv[1:]
    path = Path(option(arguments, "-f", "--collectors", default=str(DEFAULT_COUNTERS)))
    try:
        nvml = Nvml()
    except NvmlError as error:
        sys.stderr.write(kit.text(error.form, **error.values))
        return 1
    counters = list(read_counters(path.read_text()))
    started = time.monotonic()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            known: dict[str, Callable[[], str]] = {
                "/metrics": lambda: metrics(counters, nvml, kit, uptime=time.monotonic() - started),
                "/health": lambda: "OK\n",
            }
            answer = known.get(self.path)
            body = answer().encode() if answer else b"404 page not found\n"
            self.send_response(200 if answer else 404)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            """Says nothing for each request, as the real exporter."""

    ThreadingHTTPServer(("", PORT), Handler).serve_forever()
    return 0


def _nothing(_: Gpu, __: float) -> float:
    return 0.0


def read_counters(text: str) -> Iterator[Counter]:
    """Reads the counters file: field, Prometheus type, help; `#` starts a comment.

    Raises:
        ValueError: a line that is none of these.
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        parts = [part.strip() for part in line.split(",", 2)]
        if len(parts) != 3:  # noqa: PLR2004 - field, type, help
            raise ValueError(f"line {number}: three columns expected: {line!r}")
        yield Counter(*parts)


def metrics(counters: Sequence[Counter], nvml: Nvml, kit: Kit, *, uptime: float) -> str:
    """Gives the text of /metrics; a GPU that fell off the bus has no samples."""
    text = ""
    host = os.uname().nodename
    for counter in counters:
        text += kit.text("dcgm-exporter.family", metric=counter.metric, help=counter.text, type=counter.kind)
        for gpu in (gpu for gpu in nvml.gpus if not gpu.lost):
            value = VALUES.get(counter.metric, _nothing)(gpu, uptime)
            text += kit.text(
                "dcgm-exporter.sample",
                metric=counter.metric,
                index=gpu.index,
                minor=gpu.minor,
                uuid=gpu.uuid,
                bus_id=gpu.bus_id,
                name=gpu.name,
                hostname=host,
                driver=nvml.driver,
                value=f"{value:.6f}" if counter.metric == "DCGM_FI_DEV_POWER_USAGE" else f"{value:.0f}",
            )
    return text
