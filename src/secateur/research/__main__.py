"""python -m secateur.research DOCS: update the tables and pictures of the reproduction pages."""

import sys

from . import write_docs

if __name__ == "__main__":
    write_docs(sys.argv[1] if len(sys.argv) > 1 else "docs")
