# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""Fetches Debian's kernels by apt, those of the suites below, from the mirror that this host's apt uses. Nothing is
installed; package lists and kernels stay in the build folder.
"""

import functools
import glob
import os
import re
import subprocess

import daemon

FOLDER = os.path.join(daemon.BUILD, "kernels")
# Together they have 5.10, 6.1, 6.12, and one kernel of each later series.
SUITES = ("bullseye", "bookworm", "trixie", "trixie-backports")
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
FLAVOUR = "cloud-amd64"


class Missing(Exception):
    """A kernel that cannot be fetched."""


def _run(*argv, **options):
    return subprocess.run(argv, check=True, capture_output=True, text=True, **options).stdout


def _mirror():
    """Returns the mirror of Debian itself, not of its security updates, that this host uses."""
    targets = _run("apt-get", "indextargets", "--format", "$(SITE) $(LABEL)", "Created-By: Packages")
    for line in targets.splitlines():
        site, label = line.split(maxsplit=1)
        if label == "Debian":
            return site
    raise SystemExit("kernels: no mirror of Debian among apt's sources (run apt-get update)")


@functools.cache
def _apt():
    """Returns an environment in which apt uses the suites above; the host's own apt configuration stays as it is."""
    apt = os.path.join(FOLDER, "apt")
    os.makedirs(f"{apt}/lists/partial", exist_ok=True)
    os.makedirs(f"{apt}/archives/partial", exist_ok=True)
    with open(f"{apt}/sources.list", "w", encoding="ascii") as sources:
        for suite in SUITES:
            sources.write(f"deb [arch=amd64 signed-by={KEYRING}] {_mirror()} {suite} main\n")
    with open(f"{apt}/apt.conf", "w", encoding="ascii") as settings:
        settings.write(
            f'Dir::State::lists "{apt}/lists";\nDir::Cache "{apt}";\nDir::Etc::sourcelist "{apt}/sources.list";\n'
            'Dir::Etc::sourceparts "-";\nAcquire::Languages "none";\nAPT::Sandbox::User "root";\n'
        )
    environment = {**os.environ, "APT_CONFIG": f"{apt}/apt.conf"}
    _run("apt-get", "update", env=environment)
    return environment


def _releases():
    """Returns the releases of all kernels in the suites, sorted by version."""
    pattern = rf"^linux-image-[0-9][^ ]*-{FLAVOUR}$"
    listed = _run("apt-cache", "search", "--names-only", pattern, env=_apt())
    names = [line.split()[0][len("linux-image-"):] for line in listed.splitlines()]
    # Packages without a third number stand for the newest of a series, and are empty.
    names = [name for name in names if re.match(r"\d+\.\d+\.\d+", name)]
    return sorted(names, key=lambda name: [int(number) for number in re.findall(r"\d+", name)])


def series(release):
    """Returns the series of a release: 6.12 of 6.12.117+deb12-cloud-amd64."""
    return re.match(r"\d+\.\d+", release).group()


def all_series():
    """Returns the series that Debian has, the oldest first."""
    return list(dict.fromkeys(series(release) for release in _releases()))


def kernel(wanted):
    """Returns the path of the newest kernel of a series; fetches and unpacks it first where necessary. Raises Missing."""
    try:
        return _kernel(wanted)
    except subprocess.CalledProcessError as error:
        said = (error.stderr if isinstance(error.stderr, str) else error.stderr.decode(errors="replace")).strip()
        raise Missing(f"{' '.join(error.cmd)}: {said.splitlines()[-1] if said else error.returncode}") from error


def _kernel(wanted):
    releases = [release for release in _releases() if series(release) == wanted]
    if not releases:
        raise Missing(f"Debian has no {FLAVOUR} kernel of this series; it has {', '.join(all_series())}")
    release = releases[-1]
    path = os.path.join(FOLDER, f"vmlinuz-{release}")
    if os.path.exists(path):
        return path
    # Since 6.19 the linux-image package is empty and depends on a linux-binary package.
    known = _run("apt-cache", "search", "--names-only", f"^linux-binary-{re.escape(release)}$", env=_apt())
    package = f"linux-{'binary' if known else 'image'}-{release}"
    _run("apt-get", "download", package, env=_apt(), cwd=FOLDER)
    (archive,) = glob.glob(os.path.join(FOLDER, f"{package}_*.deb"))
    contents = subprocess.run(["dpkg-deb", "--fsys-tarfile", archive], check=True, capture_output=True).stdout
    unpacked = subprocess.run(
        ["tar", "-xO", "--wildcards", "*/vmlinuz*"], input=contents, check=True, capture_output=True
    ).stdout
    with open(path + ".part", "wb") as file:
        file.write(unpacked)
    os.rename(path + ".part", path)
    os.unlink(archive)
    return path
