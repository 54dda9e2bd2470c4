"""Inventories as people have them, read by the real ansible-inventory."""

from pathlib import Path

import pytest

from gpuprov.model.diagnostic import Diagnostic, GpuprovError, Severity
from gpuprov.provision import onprem
from gpuprov.provision.onprem import Inventory, hosts_of, read_inventory

pytestmark = pytest.mark.slow  # starts other programs or AWS's stand-in: not for `make quick`

INI = """\
# a rack
[train]
gpu[01:03] ansible_host=10.0.0.5 cuda=12.10

[login]
head ansible_user=ops pin=000000

[rack:children]
train
login

[rack:vars]
ansible_port=2222
"""


def refusal(path: Path, **options: str) -> Diagnostic:
    with pytest.raises(GpuprovError) as caught:
        read_inventory(path, **options)
    return caught.value.diagnostics[0]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture(scope="module")
def ini(tmp_path_factory: pytest.TempPathFactory) -> Inventory:
    folder = tmp_path_factory.mktemp("ini")
    write(folder, "group_vars/train.yml", "ansible_user: trainer\n")
    write(folder, "host_vars/gpu02.yml", "ansible_host: gpu02.example\n")
    return read_inventory(write(folder, "site", INI))


def test_ranges_groups_and_their_variables(ini: Inventory) -> None:
    assert {h.name for h in ini.hosts} == {"gpu01", "gpu02", "gpu03", "head"}
    hosts = {h.name: h for h in hosts_of(ini, "rack")}
    assert hosts["gpu01"].connection.address == "10.0.0.5"
    assert hosts["gpu02"].connection.address == "gpu02.example"
    assert hosts["gpu02"].connection.user == "trainer"
    assert hosts["head"].connection.user == "ops"
    assert {h.connection.port for h in hosts.values()} == {2222}
    assert set(hosts["gpu01"].groups) == {"train", "rack"}
    assert [h.name for h in hosts_of(ini, "train")] == ["gpu01", "gpu02", "gpu03"]
    assert "ansible_host" not in hosts["gpu01"].variables


def test_values_that_ini_changes_are_told_with_their_line(ini: Inventory) -> None:
    told = {d.address: d for d in ini.warnings}
    assert set(told) == {"cuda", "pin"}
    assert told["cuda"].code == "GP-INV-006"
    assert told["cuda"].severity is Severity.WARNING
    assert "12.10 is read as 12.1" in told["cuda"].summary
    assert told["cuda"].span is not None
    assert (told["cuda"].span.line, told["cuda"].span.column) == (3, 34)
    assert "000000 is read as 0" in told["pin"].summary


def test_a_group_nobody_wrote_is_told_with_its_like(ini: Inventory) -> None:
    with pytest.raises(GpuprovError) as caught:
        hosts_of(ini, "trian")
    assert caught.value.diagnostics[0].code == "GP-INV-004"
    assert "train" in caught.value.diagnostics[0].hint


def test_a_yaml_inventory_with_limit_and_odd_types(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "site.yml",
        "all:\n  children:\n    train:\n      hosts:\n        a: {ansible_user: yes}\n        b: {ansible_port: 2222}\n"
        "    login:\n      hosts: {c: {}}\n",
    )
    inventory = read_inventory(path, limit="train,!b")
    assert [h.name for h in inventory.hosts] == ["a"]
    assert inventory.groups["login"] == ("c",)
    assert [d.code for d in inventory.warnings] == ["GP-INV-006"]
    assert "ansible_user is a truth value" in inventory.warnings[0].summary


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.yml").code == "GP-INV-001"


def test_an_inventory_without_hosts_and_a_limit_that_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(
        [
            '{"_meta": {"hostvars": {}}, "all": {"children": ["ungrouped"]}}',
            '{"_meta": {"hostvars": {}}, "all": {"children": ["ungrouped"]}, "ungrouped": {"hosts": ["gpu01"]}}',
            '{"_meta": {"hostvars": {}}, "all": {"children": ["ungrouped"]}, "ungrouped": {"hosts": ["gpu01"]}}',
            "no JSON",
        ]
    )
    monkeypatch.setattr(onprem, "run_ansible", lambda *_, **__: next(answers))
    path = write(tmp_path, "site.yml", "all: {}\n")
    assert refusal(path).code == "GP-INV-002"
    assert refusal(path, limit="all,!gpu01").code == "GP-INV-002"
    told = refusal(path, limit="gpu1")
    assert told.code == "GP-INV-004"
    assert "gpu01" in told.hint
    assert refusal(path).code == "GP-INV-001"


def test_a_broken_inventory_is_told_in_ansibles_own_words_with_the_line(tmp_path: Path) -> None:
    told = refusal(write(tmp_path, "half", "[train]\nn1 novalue\n"))
    assert told.code == "GP-INV-001"
    assert "Expected key=value host variable assignment, got: novalue" in told.detail
    assert told.span is not None
    assert (told.span.line, told.span.column, told.span.text) == (2, 4, "n1 novalue")


def test_every_variable_that_is_refused_is_told_at_once(tmp_path: Path) -> None:
    path = write(tmp_path, "site", "n1 ansible_connection=docker\nn2 ansible_become_method=su ansible_port=0\n")
    with pytest.raises(GpuprovError) as caught:
        read_inventory(path)
    assert {d.code for d in caught.value.diagnostics} == {"GP-INV-003"}
    assert [(d.address, d.summary.split("honour ")[1].split("=")[0]) for d in caught.value.diagnostics] == [
        ("n1", "ansible_connection"),
        ("n2", "ansible_become_method"),
        ("n2", "ansible_port"),
    ]


# ansible-vault encrypt_string of the text `s3cret` with the password `pw`.
VAULTED = """\
$ANSIBLE_VAULT;1.1;AES256
36633935623765666137356239316139316330343561336537326566376266323965333063633732
3265316532636139326630353932633538633062666532380a343064643765636535613934646264
32353539626235613666323238356333316235356334663965303662333832663962323139306631
6536373663363463610a366462376432373538666335333461373765663364333133613961623435
6530
"""


def test_vaulted_variables_are_opened_with_the_password_file(tmp_path: Path) -> None:
    password = write(tmp_path, "password", "pw\n")
    body = VAULTED.replace("\n", "\n          ")
    path = write(
        tmp_path,
        "site.yml",
        f"all:\n  hosts:\n    a: &a\n      ansible_become_password: !vault |\n          {body}\n    b: *a\n",
    )
    inventory = read_inventory(path, vault_password_file=str(password))
    assert {h.connection.become.password for h in inventory.hosts} == {"s3cret"}
    assert "s3cret" not in repr(inventory)


def test_a_vaulted_variable_without_its_password_is_told_and_nobody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(GpuprovError) as caught:
        onprem.Vault(tmp_path / "site.yml", None).open(VAULTED)
    told = caught.value.diagnostics[0]
    assert told.code == "GP-INV-001"
    assert "no vault password is given" in told.detail
    assert "--vault-password-file" in told.hint


def test_ansibles_own_environment_counts_where_the_inventory_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = '{"_meta": {"hostvars": {"a": {"ansible_user": "said"}}}, "all": {"hosts": ["a", "b"]}}'
    monkeypatch.setattr(onprem, "run_ansible", lambda *_, **__: answer)
    monkeypatch.setenv("ANSIBLE_REMOTE_USER", "env")
    monkeypatch.setenv("ANSIBLE_REMOTE_PORT", "2222")
    a, b = read_inventory(write(tmp_path, "site.yml", "")).hosts
    assert (a.connection.user, b.connection.user) == ("said", "env")
    assert a.connection.port == 2222
