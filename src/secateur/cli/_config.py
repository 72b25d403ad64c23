"""Read the options of a command from a TOML or JSON file."""

import json
from pathlib import Path
from typing import Any

import click

from .._utils.checks import did_you_mean
from ._options import Options


def set_defaults_from_file(context: click.Context, _parameter: click.Parameter, path: str | None) -> None:
    """Make the options in the file `path` the defaults of the command; options of the command line take precedence.

    This is the callback of the option --config.
    """
    if path is None:
        return
    options = {}
    for option in context.command.params:
        for flag in (*option.opts, *option.secondary_opts):
            if flag.startswith("--") and option.name != "config":
                options[flag.removeprefix("--")] = option
    defaults: Options = {}
    for name, value in _read_config(path).items():
        key = name.replace("_", "-")
        if key not in options:
            hint = did_you_mean(key, options)
            raise click.UsageError(f"{path}: {name!r} is not an option of {context.info_name}{hint}")
        option = options[key]
        is_repeatable = getattr(option, "multiple", False)
        defaults[str(option.name)] = _as_list(value) if is_repeatable else value
    context.default_map = {**(context.default_map or {}), **defaults}


def _as_list(value: object) -> list[Any]:
    """Return the values of a repeatable option; those of a table are NAME=VALUE, as for --set and --class-weight."""
    if isinstance(value, dict):
        return [f"{name}={item if isinstance(item, str) else json.dumps(item)}" for name, item in value.items()]
    return value if isinstance(value, list) else [value]


def _read_config(path: str) -> Options:
    """Return the names and values in a TOML or JSON file."""
    import tomllib

    try:
        text = Path(path).read_text(encoding="utf-8")
        config = json.loads(text) if path.lower().endswith(".json") else tomllib.loads(text)
    except OSError as error:
        raise click.UsageError(f"--config {path} cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise click.UsageError(f"--config {path} is neither TOML nor JSON ({error})") from error
    if not isinstance(config, dict):
        raise click.UsageError(f"--config {path}: it must contain names and values of options")
    return config
