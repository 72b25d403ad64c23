"""What the changelog says."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def untold(*names):
    """Those of which there is no sentence; hyphens, underscores and spaces are alike."""
    texts = [path.read_text("utf-8") for path in [*(ROOT / "changelog.d").glob("*.md"), ROOT / "CHANGELOG.md"]]
    words = re.sub("[-_]", " ", "".join(texts)).lower()
    return [name for name in names if not re.search(rf"\b{re.escape(re.sub('[-_]', ' ', name).lower())}\b", words)]
