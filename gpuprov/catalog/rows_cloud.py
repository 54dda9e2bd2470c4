"""The rows about buying and wiring cloud instances: prices, quotas, layouts of network interfaces."""

from dataclasses import dataclass

from gpuprov.catalog.rows import Row


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class PriceRow(Row):
    """What one instance type costs, bought in one way."""

    instance: str
    offer: str
    """on-demand | capacity-block."""
    region: str
    """Where the price was seen; empty: one rate in all regions."""
    usd_hour: float | None
    """US dollars an hour."""
    since: str
    """The day it was seen, or from which it holds."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class RateRow(Row):
    """What one thing around instances costs, such as a NAT gateway; its id says which, and where that differs."""

    what: str
    """In words, of one."""
    unit: str
    """hour | GiB-month | IOPS-month | MiB/s-month."""
    region: str
    """Where it was seen; empty: one rate in all regions."""
    usd: float | None
    """US dollars for one unit."""
    by_use: bool
    """Whether it is paid by what is kept or sent: no sum is known beforehand."""
    since: str
    """The day it was seen."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class QuotaRow(Row):
    """One quota of a region."""

    family: str
    """As in InstanceRow.quota: G | P."""
    offer: str
    """on-demand | spot."""
    code: str
    """As Service Quotas knows it."""
    name: str | None
    """Label of the quota."""
    unit: str
    """What is counted: vCPU."""
    new_account: int | None
    """What an account that never asked has."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False, repr=False)
class EfaLayoutRow(Row):
    """Network interfaces of an instance with EFA."""

    instance: str
    layout: str
    """ip: fewest addresses; bandwidth: most of it for ENA."""
    interfaces: tuple[str, ...]
    """KIND CARD/DEVICE, or KIND FIRST-LAST/DEVICE for one on each card; KIND is ena, efa-only or efa."""
