"""What setup.cfg asks for at least is what the run with the lowest versions installs."""

import configparser
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_lowest_versions_are_those_that_are_tried():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    required = dict(line.split(">=") for line in config["options"]["install_requires"].split())
    tried = dict(re.findall(r"^([\w-]+)==(\S+)$", (ROOT / "constraints-lowest.txt").read_text(), re.MULTILINE))
    assert tried.pop("jaxlib") == tried["jax"], "which JAX takes"
    assert tried == required
