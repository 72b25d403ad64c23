"""The model that most tests of the report look at, and its page in a browser."""

import shutil

import pytest

from report_models import HOSTILE, hostile_model
from secateur.report import report_html

CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--no-first-run", "--disable-extensions", "--in-process-gpu", "--disable-software-rasterizer",
]  # fmt: skip


@pytest.fixture(scope="session")
def model():
    return hostile_model()


@pytest.fixture(scope="session")
def browser():
    playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine; scripts/browser installs one")
    with playwright_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def open_page(browser, tmp_path_factory):
    """Open a page from disk; whatever it complains of or asks for is kept in `page.trouble`."""
    folder = tmp_path_factory.mktemp("pages")
    contexts = []

    def opened(text, **context):
        file = folder / f"{len(contexts)}.html"
        file.write_text(text, "utf-8")
        contexts.append(
            browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", **context)
        )
        page = contexts[-1].new_page()
        page.set_default_timeout(30_000)
        page.trouble = []
        page.on("console", lambda message: page.trouble.append(message.text))
        page.on("pageerror", lambda error: page.trouble.append(str(error)))
        page.on("dialog", lambda dialog: page.trouble.append(dialog.message))
        page.on("request", lambda request: request.url == file.as_uri() or page.trouble.append(request.url))
        page.goto(file.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def shared(open_page, model):
    return open_page(report_html(model, title=HOSTILE))


@pytest.fixture
def page(shared, model):
    """The page as it was when it was opened."""
    shared.evaluate(
        """() => { const { state, picture } = secateur; state.past = []; state.future = []; state.edits = [];
        state.opened.clear(); state.stop = secateur.raw.marks.fitted; state.selected = 0;
        document.getElementById("search").value = ""; picture.find(""); state.refresh(); picture.view.fit(); secateur.tabs.open("node"); }"""
    )
    yield shared
    assert shared.trouble == []
