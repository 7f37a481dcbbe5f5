"""A data class from arguments such as `--learning-starts 100`."""

import argparse
import dataclasses


def cli(kind):
    parser = argparse.ArgumentParser()
    for field in dataclasses.fields(kind):
        parse = (lambda text: text == "True") if isinstance(field.default, bool) else type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=parse, default=field.default)
    return kind(**vars(parser.parse_args()))
