"""Puts moto, its hooks and what stands before it together for one account."""

from collections.abc import Callable

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

from gpuprov.lab.aws.account import Account
from gpuprov.lab.aws.corrections import correction_hooks
from gpuprov.lab.aws.efa import efa_hooks
from gpuprov.lab.aws.gateway import Gateway
from gpuprov.lab.aws.hooks import install
from gpuprov.lab.aws.instances import instance_hooks
from gpuprov.lab.aws.networking import network_hooks, network_replacements
from gpuprov.lab.aws.placement import placement_additions, placement_hooks
from gpuprov.lab.aws.storage import storage_hooks
from gpuprov.lab.aws.ways import ways_hooks


def wire(account: Account) -> tuple[Gateway, Callable[[], None]]:
    """Return the application of an account's API, and what takes the hooks off moto again.

    Raises:
        GpuprovError: moto lacks what a hook is for.
    """
    account.add_first_image()
    corrections = (*correction_hooks(), *ways_hooks(), *placement_hooks())
    hooks = (*corrections, *network_hooks(account), *storage_hooks(account), *instance_hooks(account), *efa_hooks())
    take_off = install(hooks, network_replacements(account), placement_additions())
    gateway = Gateway(
        DomainDispatcherApplication(create_backend_app),
        account.book,
        account=account.cloud.account,
        publish_image=account.publish_image,
        capacity=account.capacity,
        guard=account.guard,
        lock=account.lock,
        say=account.say,
    )
    return gateway, take_off
