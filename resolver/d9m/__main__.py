"""The command `d9m`, and `python -m d9m`."""

from d9m.cli import signals

signals.end_at_once()  # before anything else is imported

from d9m.cli.main import main  # noqa: E402

if __name__ == "__main__":
    main()
