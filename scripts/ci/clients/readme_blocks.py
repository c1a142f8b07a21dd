"""Writes the blocks of code in TypeScript of a page into a folder, as readme-1.mjs and so on."""

import re
import sys
from pathlib import Path

page, folder = Path(sys.argv[1]), Path(sys.argv[2])
blocks = re.findall(r"^```ts\n(.*?)^```$", page.read_text(), flags=re.M | re.S)
for number, block in enumerate(blocks, 1):
    (folder / f"{page.stem.lower()}-{number}.mjs").write_text(block)
