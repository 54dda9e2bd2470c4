"""The variables of the roles for accounts and settings; pure."""

from typing import Any

from gpuprov.plan.removal import Removal
from gpuprov.want.access import KEYS_PATTERN, SSHD_PATH
from gpuprov.want.tuning import UNIT, UNIT_PATH
from gpuprov.want.types import PoolWant


def settled_variables(pool: PoolWant, removal: Removal) -> dict[str, Any]:
    """Users, groups and settings that must be, and what of ours goes."""
    access = pool.access
    return {
        "gpuprov_access_users": [{"name": user.name, "uid": user.uid} for user in access.users],
        "gpuprov_access_groups": [
            {"name": group.name, "gid": group.gid, "members": list(group.members)} for group in access.groups
        ],
        "gpuprov_access_lock": list(removal.lock),
        "gpuprov_access_leave": [{"group": group, "name": name} for group, name in removal.leave],
        "gpuprov_access_keys": KEYS_PATTERN if access.keys else "",
        "gpuprov_access_forget_keys": SSHD_PATH in removal.files,
        "gpuprov_tuning_settings": [{"key": key, "value": value} for key, value in pool.tuning.settings.items()],
        "gpuprov_tuning_restore": list(removal.restore),
        "gpuprov_tuning_limits": [{"item": item, "value": value} for item, value in pool.tuning.limits.items()],
        "gpuprov_tuning_stop": [UNIT] if UNIT_PATH in removal.files else [],
    }
