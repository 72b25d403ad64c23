"""The page in Debian's Firefox, which Playwright cannot drive: it draws the tree, and complains of nothing fatal."""

import shutil
import subprocess

import matplotlib.image
import pytest

from secateur.report import report_html

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")


@pytest.mark.skipif(FIREFOX is None, reason="no firefox on this machine")
def test_firefox_draws_the_page(model, tmp_path):
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(report_html(model), "utf-8")
    subprocess.run(
        [FIREFOX, "--headless", "--profile", tmp_path, "--window-size=1280,900", "--screenshot", picture, page.as_uri()],
        check=True, timeout=120, capture_output=True,
    )  # fmt: skip

    pixels = matplotlib.image.imread(picture)[:, :, :3].reshape(-1, 3)
    colours = {tuple(pixel) for pixel in (255 * pixels[::7]).round().astype(int).tolist()}
    assert {(0, 114, 178), (0, 158, 115)} <= colours, "the bars of the leaves, which only the script draws"
