"""The system's Chromium, driven by playwright."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SWITCHES = (
    "--no-sandbox",  # in a container root has none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser without a window. Where none is installed the test is skipped, but in CI it fails."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        if os.environ.get("CI"):
            pytest.fail(f"none of {', '.join(NAMES)} is installed")
        pytest.skip(f"the report was not looked at: none of {', '.join(NAMES)} is installed")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=SWITCHES)
        yield browser
        browser.close()
    with warnings.catch_warnings():  # the driver leaves a pipe for the collector to close
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def loaded_in(page: Page, most: float) -> float:
    """Milliseconds until the page was loaded, at best of three times: the machine may be busy, the page must not be."""
    took = float("inf")
    for _ in range(3):
        took = min(took, page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
        if 0 < took < most:
            break
        page.reload()
        page.wait_for_selector("h1")
    return took


def keep_picture(page: Page, name: str) -> None:
    """Where TIDEGATE_SCREENSHOTS names a folder, it gets a picture of the whole page."""
    if folder := os.environ.get("TIDEGATE_SCREENSHOTS"):
        page.screenshot(path=f"{folder}/{name}.png", full_page=True)
