"""The pictures of the README show the pages as they are. `docs/images/update` takes them again."""

import sys
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from server import Server

sys.path.append("docs/images")

import screenshots  # noqa: E402

# Mean difference of the brightness, 0 to 255, of the pictures in a small size. Times and tokens differ less.
MAX_DIFFERENCE = 5

COMPARE = """async (images) => {
    const [known, current] = await Promise.all(images.map(async (image) => {
        const bitmap = await createImageBitmap(await (await fetch(image)).blob())
        const context = new OffscreenCanvas(160, 100).getContext("2d")
        context.drawImage(bitmap, 0, 0, 160, 100)
        return context.getImageData(0, 0, 160, 100).data
    }))
    return known.reduce((sum, value, index) => sum + Math.abs(value - current[index]), 0) / known.length
}"""


def run(browser: Browser, server: Server) -> None:
    with TemporaryDirectory() as folder:
        screenshots.take(browser, server, Path(folder))
        page = browser.new_page()
        for current in sorted(Path(folder).iterdir()):
            difference = page.evaluate(COMPARE, [data_url(screenshots.FOLDER / current.name), data_url(current)])
            assert difference <= MAX_DIFFERENCE, f"{current.name} differs by {difference}; run docs/images/update"
        page.context.close()


def data_url(picture: Path) -> str:
    return f"data:image/png;base64,{b64encode(picture.read_bytes()).decode()}"
