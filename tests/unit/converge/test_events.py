import pytest

from gpuprov.converge.events import Kind, is_end, parse_event


@pytest.mark.parametrize(
    "event",
    [
        {"event": "verbose", "stdout": "x"},
        {"event": "playbook_on_task_start", "event_data": {"task": "t"}},
        {"event": "runner_on_ok"},
        {},
    ],
)
def test_events_without_a_host_are_none(event: dict[str, object]) -> None:
    assert parse_event(event) is None


def test_a_result_that_is_no_mapping_is_empty() -> None:
    found = parse_event({"event": "runner_on_ok", "event_data": {"host": "h", "task": " t ", "res": "censored"}})
    assert found is not None
    assert (found.kind, found.task, found.result, found.changed) == (Kind.OK, "t", {}, False)


def test_skipped_and_controller_tasks_do_not_run_on_the_host() -> None:
    for name, action, expected in (
        ("runner_on_ok", "gpuprov_files", True),
        ("runner_on_failed", "gpuprov_files", True),
        ("runner_on_skipped", "gpuprov_files", False),
        ("runner_on_start", "gpuprov_files", False),
        ("runner_on_ok", "ansible.builtin.validate_argument_spec", False),
    ):
        found = parse_event({"event": name, "event_data": {"host": "h", "task": "t", "task_action": action}})
        assert found is not None
        assert found.on_host is expected, name


def test_only_the_statistics_are_the_end() -> None:
    assert is_end({"event": "playbook_on_stats"})
    assert not is_end({"event": "runner_on_ok"})
