"""The HTML report in a real browser: it asks for nothing, complains of nothing, and its filter filters."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from browser import Browser, open_browser
from parity_reports import make_failure, make_report

from gpuprov.render.reports.html import html_text

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
COMPLAINTS = ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded", "Page.javascriptDialogOpening")
SHOWN = "Array.from(document.querySelectorAll('#findings tbody tr')).filter(row => row.offsetParent !== null).length"
COUNT = "document.getElementById('shown').textContent"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with open_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Browser:
    """The report with everything in it, freshly loaded."""
    return show(browser, tmp_path, html_text(make_report()))


def show(browser: Browser, folder: Path, text: str) -> Browser:
    (folder / "report.html").write_text(text, encoding="utf-8")
    browser.open((folder / "report.html").as_uri())
    return browser


def change(browser: Browser, selector: str, statement: str) -> None:
    """Change a control as a person does: its value, and the event that tells of it."""
    browser.value(
        f"(() => {{ const control = document.querySelector({selector!r}); {statement};"
        " control.dispatchEvent(new Event('input', {bubbles: true})); })()"
    )


def test_it_asks_for_nothing_and_complains_of_nothing(page: Browser, tmp_path: Path) -> None:
    assert [event["request"]["url"] for event in page.told("Network.requestWillBeSent")] == [
        (tmp_path / "report.html").as_uri()
    ]
    assert page.told(*COMPLAINTS) == []


def test_a_filter_leaves_the_rows_that_match(page: Browser) -> None:
    assert (page.value(SHOWN), page.value(COUNT)) == (6, "6 of 6 shown")
    page.value("document.querySelector('[name=words]').focus()")
    page.call("Input.insertText", text="LIBCUDA1 570")
    assert (page.value(SHOWN), page.value(COUNT)) == (1, "1 of 6 shown")
    page.value("document.querySelector('button[type=reset]').click()")
    page.value("new Promise(done => setTimeout(done, 50))")
    assert page.value(COUNT) == "6 of 6 shown"
    change(page, "[name=host]", "control.value = 'node-3'")
    assert page.value(SHOWN) == 1
    change(page, "[name=host]", "control.value = 'node-4'")
    assert page.value(SHOWN) == 5
    page.value("document.querySelector('[name=kind][value=unknown]').click()")
    assert page.value(COUNT) == "4 of 6 shown"
    assert page.told(*COMPLAINTS) == []


def test_without_javascript_every_row_is_there_and_no_dead_filter(page: Browser, tmp_path: Path) -> None:
    page.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        show(page, tmp_path, html_text(make_report()))
        assert page.value(SHOWN) == 6
        assert page.value("document.getElementById('filter').offsetParent === null")
    finally:
        page.call("Emulation.setScriptExecutionDisabled", value=False)


def test_what_a_host_says_is_shown_and_never_run(page: Browser) -> None:
    assert page.value("document.querySelectorAll('script').length") == 1
    assert "<script>alert" in page.value("document.getElementById('findings').textContent")
    # Even an element that slipped in could not run: the page's own policy forbids it, and says so.
    page.value("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.ran = 1\">')")
    page.value("new Promise(done => setTimeout(done, 200))")
    assert page.value("window.ran === undefined")
    assert [entry for entry in page.told("Log.entryAdded") if "Content Security Policy" in entry["entry"]["text"]]


def test_a_report_of_errors_opens_as_well(browser: Browser, tmp_path: Path) -> None:
    show(browser, tmp_path, html_text(make_failure()))
    assert browser.value(COUNT) == "0 of 0 shown"
    assert "12.10 is not quoted" in browser.value("document.body.textContent")
    assert browser.told(*COMPLAINTS) == []


def test_the_page_is_drawn(page: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.png"
    page.screenshot(path)
    assert path.stat().st_size > 20_000
    print(f"screenshot: {path}")  # noqa: T201 - for whoever wants to look at it
