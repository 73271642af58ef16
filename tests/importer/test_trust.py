"""Files that others can have written are never run: planted translations, shared caches, networks that programs name.

docs/security.md says what is defended against and what is not; every row of its table is tried here.
"""
from __future__ import annotations

import base64
import hashlib
import importlib
import json
import marshal
import os
import pathlib
import subprocess
import sys
import types

import pytest

import stanimport
from stanimport import cache, loading, ownership, permissions, settings, shipped
from stanimport.__main__ import main
from stanimport.compile import compile_package
from stanimport.errors import StanWarning
from stanlib import installed
from stanlib.networks import StanNetworkError

PROGRAM = "parameters { real x; }\nmodel { x ~ normal(0, 1); }\n"
posix = pytest.mark.skipif(not ownership.POSIX, reason="owners and permissions are those of POSIX")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a program, as somebody has downloaded it, in which the user works."""
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    made = tmp_path / "downloaded"
    made.mkdir()
    (made / "program.stan").write_text(PROGRAM)
    monkeypatch.chdir(made)
    monkeypatch.syspath_prepend(str(made))
    return made


def marker(folder) -> pathlib.Path:
    """The file that planted code writes."""
    return folder.parent / "was_run"


def planted_entry(folder) -> cache.Entry:
    """The program's translation, and a line that should never run after it."""
    code = stanimport.translate(folder / "program.stan") + f"open({str(marker(folder))!r}, 'w').close()\n"
    return cache.Entry(compile(code, "program.stan", "exec"), code, ())


def plant_shipped(folder) -> pathlib.Path:
    path = shipped.path_of(folder / "program.stan", settings.current())
    path.write_bytes(shipped.encode(PROGRAM, planted_entry(folder), [], [], settings.current()))
    return path


def cached_content(folder) -> bytes:
    entry = planted_entry(folder)
    payload = marshal.dumps((entry.code, entry.text, entry.includes), cache.PLAIN)
    return cache.MAGIC + cache.key(PROGRAM, settings.current()) + hashlib.sha256(payload).digest() + payload


def plant_cached(folder) -> pathlib.Path:
    """In the cache folder, as the user's own processes would have written it."""
    path = cache.location(folder / "program.stan", settings.current())
    ownership.make_private(path.parent)
    path.write_bytes(cached_content(folder))
    path.chmod(0o600)
    return path


def uses(folder) -> None:
    """All that reads a program."""
    stanimport.api._loaded.clear()
    module = stanimport.load("program.stan")
    assert module.stan.names("parameters") == ("x",)
    assert main(["info", "program.stan"]) == 0
    module = types.ModuleType("program")
    exec(loading.code_of(loading.read(folder / "program.stan"), settings.current()), module.__dict__)
    sys.modules.pop("program", None)
    try:
        assert importlib.import_module("program").stan.names("parameters") == ("x",)
    finally:
        sys.modules.pop("program", None)


def give_away(path, monkeypatch) -> None:
    """Make a file or folder another user's; who may not do that becomes another user."""
    if os.geteuid() == 0:
        os.chown(path, 12345, 12345, follow_symlinks=False)
    else:
        user = os.geteuid()
        monkeypatch.setattr(ownership.os, "geteuid", lambda: user + 1)


# --- beside the program ----------------------------------------------------------------------------------------------


def test_a_translation_beside_a_program_is_not_run(folder):
    plant_shipped(folder)
    uses(folder)
    assert not marker(folder).exists()


def test_nor_one_in_pycache(folder):
    old = folder / "__pycache__" / f"program.stan.numpyro-mixed.{sys.implementation.cache_tag}.cache"
    old.parent.mkdir()
    old.write_bytes(cached_content(folder))
    uses(folder)
    assert not marker(folder).exists()


def test_sampling_does_not_run_it_either(folder, x64):
    plant_shipped(folder)
    options = dict(chains=1, iter_warmup=5, iter_sampling=5, seed=1)
    assert stanimport.sample("program.stan", **options).draws_per_chain == 5
    assert not marker(folder).exists()


def record_of(path: pathlib.Path, name: str) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest()).decode().rstrip("=")
    return f"{name},sha256={digest},{path.stat().st_size}\n"


def test_nor_one_with_a_record_of_its_own(folder):
    """In the working folder, which is on the module path: Python takes it for an installed distribution."""
    path = plant_shipped(folder)
    (folder / "evil-1.dist-info").mkdir()
    (folder / "evil-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: evil\nVersion: 1\n")
    (folder / "evil-1.dist-info" / "RECORD").write_text(record_of(path, path.name))
    uses(folder)
    assert not marker(folder).exists()
    code = "import stanimport; stanimport.load('program.stan')"
    for entries in ("", os.curdir, os.pathsep):  # entries that depend on the working folder
        path = os.pathsep.join([entries, str(pathlib.Path(stanimport.__file__).parents[1])])
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True, env=os.environ | {"PYTHONPATH": path})
    assert not marker(folder).exists()


# --- in installed packages, and where the user says so ---------------------------------------------------------------


@pytest.fixture
def site(folder, monkeypatch):
    """A folder that packages are installed in, with the program in one of them."""
    made = folder.parent / "site"
    package = made / "installed_programs"
    package.mkdir(parents=True)
    path = plant_shipped(folder).rename(package / "program.numpyro-mixed.stanc")
    (package / "program.stan").write_text(PROGRAM)
    (made / "programs-1.dist-info").mkdir()
    (made / "programs-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: programs\nVersion: 1\n")
    (made / "programs-1.dist-info" / "RECORD").write_text(record_of(path, f"installed_programs/{path.name}"))
    monkeypatch.setenv("PYTHONPATH", str(made))
    return made


def test_an_installed_translation_is_used(site, folder):
    stanimport.load(site / "installed_programs" / "program.stan")
    assert marker(folder).exists()


def test_unless_it_is_not_the_one_that_was_installed(site, folder):
    path = site / "installed_programs" / "program.numpyro-mixed.stanc"
    record = site / "programs-1.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("sha256=", "sha256=x"))
    stanimport.load(path.with_name("program.stan"))
    assert not marker(folder).exists()


def test_a_file_that_no_distribution_has_recorded_is_not_used(site, folder):
    record = site / "programs-1.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("installed_programs/", "installed_programs/other/"))
    stanimport.load(site / "installed_programs" / "program.stan")
    assert not marker(folder).exists()


def test_nor_one_recorded_without_a_digest(site, folder):
    (site / "programs-1.dist-info" / "RECORD").write_text("installed_programs/program.numpyro-mixed.stanc,,\n")
    stanimport.load(site / "installed_programs" / "program.stan")
    assert not marker(folder).exists()


@pytest.mark.parametrize("how", ["configure", "environment"])
def test_the_user_can_trust_a_folder(folder, monkeypatch, how):
    compile_package(folder)
    plant_shipped(folder)
    if how == "environment":
        monkeypatch.setenv("STANIMPORT_TRUSTED_FOLDERS", os.pathsep.join([str(folder.parent / "none"), str(folder)]))
    else:
        stanimport.configure(trusted_folders=folder)
    try:
        stanimport.load("program.stan")
    finally:
        stanimport.configure(trusted_folders=None)
    assert marker(folder).exists()


def test_a_link_does_not_lead_out_of_a_trusted_folder(folder, monkeypatch):
    plant_shipped(folder)
    trusted = folder.parent / "trusted"
    trusted.mkdir()
    try:
        (trusted / "link").symlink_to(folder)
    except OSError:
        pytest.skip("no symbolic links here")
    monkeypatch.setenv("STANIMPORT_TRUSTED_FOLDERS", str(trusted))
    stanimport.load(trusted / "link" / "program.stan")
    assert not marker(folder).exists()


def test_a_frozen_application_is_trusted_as_a_whole(folder, monkeypatch):
    path = plant_shipped(folder)
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "_MEIPASS", str(folder), raising=False)
    assert installed.holds(path, path.read_bytes())
    monkeypatch.setattr(sys, "_MEIPASS", str(folder / "inner"), raising=False)
    assert not installed.holds(path, path.read_bytes())


# --- the cache -------------------------------------------------------------------------------------------------------


def test_the_users_own_cache_is_read(folder):
    """Else the tests that follow would show nothing."""
    plant_cached(folder)
    stanimport.load("program.stan")
    assert marker(folder).exists()


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_an_entry_that_others_can_write(folder, monkeypatch, mode):
    monkeypatch.setattr(ownership, "_is_own_group", lambda group: False)
    plant_cached(folder).chmod(mode)
    uses(folder)
    assert not marker(folder).exists()
    assert cache.location(folder / "program.stan", settings.current()).stat().st_mode & 0o777 == 0o600  # written anew


@posix
def test_an_entry_of_another_user(folder, monkeypatch):
    path = plant_cached(folder)
    give_away(path, monkeypatch)
    stanimport.load("program.stan")
    assert not marker(folder).exists()


@posix
def test_an_entry_that_is_a_link(folder):
    path = plant_cached(folder)
    path.rename(folder / "planted")
    path.symlink_to(folder / "planted")
    stanimport.load("program.stan")
    assert not marker(folder).exists()


def refused(folder, why: str) -> None:
    with pytest.warns(StanWarning, match=f"the cache is not used, for .*{why}"):
        stanimport.load("program.stan")
    assert not marker(folder).exists()


@posix
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o702])
def test_a_cache_folder_that_others_can_write_in(folder, mode):
    plant_cached(folder).parent.chmod(mode)
    refused(folder, "others can write in .*downloaded")


@posix
@pytest.mark.parametrize("mode", [0o777, 0o702])
def test_a_folder_above_that_others_can_write_in(folder, mode):
    plant_cached(folder)
    (folder.parent / "cache").chmod(mode)
    refused(folder, "others can write in .*cache")


@posix
def test_a_shared_folder_above_in_which_only_owners_can_rename(folder):
    """As /tmp."""
    plant_cached(folder)
    (folder.parent / "cache").chmod(0o1777)
    stanimport.load("program.stan")
    assert marker(folder).exists()


@posix
@pytest.mark.parametrize("inner", [True, False], ids=["the folder itself", "one above"])
def test_a_cache_folder_of_another_user(folder, monkeypatch, inner):
    path = plant_cached(folder)
    give_away(path.parent if inner else folder.parent / "cache", monkeypatch)
    refused(folder, "belongs to another user")


@posix
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a link away")
def test_a_link_of_another_user_on_the_way(folder, monkeypatch):
    """In a folder as /tmp, to a folder of the user's own that holds what was downloaded."""
    plant_cached(folder)
    shared = folder.parent / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / "link").symlink_to(folder.parent / "cache")
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(shared / "link"))
    stanimport.load("program.stan")
    assert marker(folder).exists()
    marker(folder).unlink()
    stanimport.api._loaded.clear()
    os.chown(shared / "link", 12345, 12345, follow_symlinks=False)
    refused(folder, "link belongs to another user")


@posix
def test_links_in_a_circle_are_no_error(folder, monkeypatch):
    (folder / "circle").symlink_to(folder / "circle")
    monkeypatch.setenv("STANIMPORT_CACHE_DIR", str(folder / "circle"))
    assert stanimport.load("program.stan").stan.name == "program"


@posix
def test_what_is_written_is_for_the_user_alone(folder):
    before = os.umask(0)
    try:
        stanimport.load("program.stan")
    finally:
        os.umask(before)
    root = folder.parent / "cache"
    assert {p.stat().st_mode & 0o777 for p in root.rglob("*") if p.is_file()} == {0o600}
    assert {p.stat().st_mode & 0o777 for p in (root, *root.rglob("*")) if p.is_dir()} == {0o700}


# --- networks --------------------------------------------------------------------------------------------------------

NETWORK = """
networks {{ vector {path}(vector x); }}
parameters {{ vector[3] x; }}
model {{ x ~ normal(0, 1); target += sum(net(x)); }}
"""
MODULE = """
open({marker!r}, "w").close()
import torch
net = torch.nn.Identity
def made(): return torch.nn.Identity()
"""


def program(folder, path: str, name: str = "program") -> pathlib.Path:
    text = NETWORK.format(path=path).replace("net(x)", f"{path.rpartition('.')[2]}(x)")
    target = folder / f"{name}.stan"
    target.write_text(text)
    return target


def call(module) -> None:
    from pyro import poutine

    module.model()
    poutine.trace(module.model).get_trace()


@pytest.fixture
def pyro_backend(monkeypatch):
    pytest.importorskip("pyro", reason="the pyro extra is not installed")
    monkeypatch.setenv("STANIMPORT_BACKEND", "pyro")


@pytest.fixture
def python_beside(folder, pyro_backend):
    """Python in the downloaded folder, which is on the module path, since the user works there."""
    text = MODULE.format(marker=str(marker(folder)))
    (folder / "networks.py").write_text(text)
    (folder / "downloaded_nets").mkdir()
    (folder / "downloaded_nets" / "__init__.py").write_text("")
    (folder / "downloaded_nets" / "inner.py").write_text(text)
    yield folder
    for name in ("networks", "downloaded_nets", "downloaded_nets.inner", "downloaded_nets.program", "program"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("path", ["net", "networks.net", "downloaded_nets.inner.net", "downloaded_nets.net"])
def test_a_loaded_program_runs_no_python_beside_it(python_beside, path):
    module = stanimport.load(program(python_beside, path))
    with pytest.raises(StanNetworkError, match="is not imported: .*network_packages="):
        call(module)
    assert not marker(python_beside).exists()


@pytest.mark.parametrize("path", [
    "code.interact", "os.system", "os.abort", "subprocess.Popen", "builtins.exit", "this.s", "antigravity.fly",
    "pytest.main", "IPython.embed", "pip.main",
])  # fmt: skip
def test_no_program_calls_what_is_no_network(folder, pyro_backend, monkeypatch, path):
    # setuptools' finder drops distutils from sys.modules when pip is imported, and setuptools needs it in later tests
    finders = [finder for finder in sys.meta_path if type(finder).__name__ != "DistutilsMetaFinder"]
    monkeypatch.setattr(sys, "meta_path", finders)
    module = stanimport.load(program(folder, path))
    called = []
    monkeypatch.setattr("code.interact", lambda *_: called.append(1))
    with pytest.raises(StanNetworkError):
        call(module)
    assert not called
    assert "this" not in sys.modules and "antigravity" not in sys.modules


@pytest.mark.parametrize("module", ["numpy.f2py.__main__", "IPython.__main__", "_pytest.config"])
def test_private_modules_of_installed_packages(monkeypatch, module):
    """Some run when they are imported."""
    monkeypatch.delitem(sys.modules, module, raising=False)
    assert permissions.access(module, None, ()) == f"{module} is private"
    assert permissions.access(module, None, [module]) == "all"


def test_an_installed_package_has_networks(folder, pyro_backend):
    call(stanimport.load(program(folder, "torch.nn.Identity")))
    with pytest.raises(StanNetworkError, match="only a torch, flax or equinox module"):
        call(stanimport.load(program(folder, "torch.nn.functional.relu")))


def test_a_package_installed_in_place_is_installed(python_beside, monkeypatch):
    site = python_beside.parent / "site"
    info = site / "nets-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: nets\nVersion: 1\n")
    url = python_beside.as_uri()
    (info / "direct_url.json").write_text(json.dumps({"url": url, "dir_info": {"editable": True}}))
    monkeypatch.setenv("PYTHONPATH", str(site))
    installed._editable_projects.cache_clear()
    try:
        call(stanimport.load(program(python_beside, "downloaded_nets.inner.net")))
    finally:
        installed._editable_projects.cache_clear()
    assert marker(python_beside).exists()


@pytest.mark.parametrize("how", ["configure", "environment"])
def test_the_caller_can_allow_a_package(python_beside, monkeypatch, how):
    module = stanimport.load(program(python_beside, "downloaded_nets.inner.made"))
    if how == "environment":
        monkeypatch.setenv("STANIMPORT_NETWORK_PACKAGES", "other, downloaded_nets")
    else:
        stanimport.configure(network_packages=["downloaded_nets.inner"])
    try:
        call(module)
    finally:
        stanimport.configure(network_packages=None)
    assert marker(python_beside).exists()


def test_what_the_caller_has_imported_may_be_named(python_beside):
    importlib.import_module("downloaded_nets.inner")
    call(stanimport.load(program(python_beside, "downloaded_nets.inner.net")))
    with pytest.raises(StanNetworkError, match="is a function"):
        call(stanimport.load(program(python_beside, "downloaded_nets.inner.made")))


@pytest.mark.parametrize("path", ["downloaded_nets.inner.made", ".inner.net"])
def test_an_imported_program_uses_its_own_package(python_beside, path):
    """`from package import program` runs the package's Python anyway."""
    program(python_beside / "downloaded_nets", path)
    call(importlib.import_module("downloaded_nets.program"))
    assert marker(python_beside).exists()


def test_and_one_in_no_package_the_module_networks_beside_it(python_beside):
    program(python_beside, "made")
    call(importlib.import_module("program"))
    assert marker(python_beside).exists()


def test_but_no_other(python_beside):
    program(python_beside, "downloaded_nets.inner.net")
    with pytest.raises(StanNetworkError, match="is not imported"):
        call(importlib.import_module("program"))
    assert not marker(python_beside).exists()


def test_names_of_packages_are_checked():
    with pytest.raises(ValueError, match="names of packages"):
        stanimport.configure(network_packages=["my package"])
