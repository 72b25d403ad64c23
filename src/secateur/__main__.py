"""`python -m secateur` is the command `secateur`."""

from .cli import main

if __name__ == "__main__":
    main()
