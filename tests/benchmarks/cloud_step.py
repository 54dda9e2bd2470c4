"""One step of gpuprov in the cloud, in a process of its own; `cloud.py` runs it in a site's folder.

    cloud_step.py make            the stack of the spec, with every instance on record as known
    cloud_step.py document        writes down the document of a stack that stands
    cloud_step.py up              what a no-op `up` does before it looks at hosts: recovery, then the look
    cloud_step.py preview|status  the look, and what is printed of it

What this process itself took goes into `step.json`: `measure.py` counts the engine's with it.
"""

import io
import json
import resource
import sys
import threading
from pathlib import Path

from gpuprov.app.access import Access
from gpuprov.app.cloud_ground import CloudGround
from gpuprov.app.cloud_site import CloudSite, open_cloud
from gpuprov.app.ground import UpRequest, open_ground
from gpuprov.app.site import open_site
from gpuprov.cloud.ssh_keys import find_key
from gpuprov.model.diagnostic import GpuprovError
from gpuprov.model.progress import ignore_progress
from gpuprov.provision.host_keys import HostKeys, address_of, update_record
from gpuprov.render.cloud_view_text import show_cloud_view
from gpuprov.render.resources_text import show_resource_plan
from gpuprov.render.terminal import text_terminal
from gpuprov.store.lock import hold_site

SPEC = Path("gpuprov.yaml")
DOCUMENT = Path("document.json")
TOOK = Path("step.json")
HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


def make() -> None:
    """Make everything, and note the instances' keys as `up` does after their boot."""
    place: CloudSite = open_cloud(open_site(SPEC))
    ground = CloudGround(place, Access())
    done = place.stack.apply(
        ground.decide(), replace=(), report=ignore_progress, cancel=threading.Event(), refresh=False
    )
    if done.diagnostics:
        raise GpuprovError(*done.diagnostics)
    key = find_key(HOST_KEY)
    if key is None:
        sys.exit("the benchmark's own host key is none")
    hosts = {host.instance_id: HostKeys(address=address_of(host), keys=(key,)) for host in done.made.hosts}
    update_record(place.folder, lambda _: hosts)
    document()


def document() -> None:
    """Write down what the spec asks for now, for whoever has no gpuprov."""
    place = open_cloud(open_site(SPEC))
    DOCUMENT.write_text(json.dumps(CloudGround(place, Access()).decide()), encoding="utf-8")


def look(step: str) -> None:
    """Look as a command does; whatever would be changed is no no-op, and ends this with an error."""
    site = open_site(SPEC)
    with hold_site(site.state, ["gpuprov", step]):
        ground = open_ground(site, UpRequest(spec=SPEC, access=Access(), target="cloud"), patience=15.0)
        if step == "up":
            ground.settle(ignore_progress)
        found = ground.look(ignore_progress)
        if not found.resources.empty or found.absent:
            sys.exit(f"not a no-op: {[c.address for c in found.resources.changes]}, {list(found.absent)}")
        terminal = text_terminal(io.StringIO())
        show_resource_plan(found.resources, terminal, verbose=False)
        if step == "status" and found.view is not None:
            show_cloud_view(found.view, terminal)


def main() -> None:
    """Do the step, and write down what this process took."""
    step = sys.argv[1]
    if step == "make":
        make()
    elif step == "document":
        document()
    else:
        look(step)
    used = resource.getrusage(resource.RUSAGE_SELF)
    took = {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss * 1024 / 1e6}
    TOOK.write_text(json.dumps(took), encoding="utf-8")


if __name__ == "__main__":
    main()
