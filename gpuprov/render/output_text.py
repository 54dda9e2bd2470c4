"""What a site holds in the cloud, for people and for programs."""

from dataclasses import asdict

from rich.text import Text

from gpuprov.model.output import Output, OutputHost
from gpuprov.render.terminal import Terminal


def show_output(output: Output, terminal: Terminal) -> None:
    """Print one line for each host, bucket and volume."""
    out = terminal.out
    width = max((len(host.name) for host in output.hosts), default=0)
    for host in output.hosts:
        out.print(
            Text.assemble(
                (host.name.ljust(width), "name"),
                f"  {host.address:15}  {host.pool}  {host.type}  {host.zone}  {host.instance}  {host.image}",
            )
        )
    for name, bucket in output.buckets.items():
        out.print(Text.assemble("bucket ", (name, "name"), f"  {bucket}"))
    for name, volume in output.volumes.items():
        out.print(Text.assemble("volume ", (name, "name"), f"  {volume}"))
    if not (output.hosts or output.buckets or output.volumes):
        out.print("nothing was made yet")


def output_body(output: Output) -> dict[str, object]:
    """The same as JSON: `hosts` by name, `buckets` and `volumes` by the spec's names."""
    return {
        "hosts": {host.name: _host_body(host) for host in output.hosts},
        "buckets": dict(output.buckets),
        "volumes": dict(output.volumes),
    }


def _host_body(host: OutputHost) -> dict[str, str]:
    return {key: value for key, value in asdict(host).items() if key != "name"}
