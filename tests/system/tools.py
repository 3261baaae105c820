# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
"""What tests of the whole daemon need of the host."""

import os
import shutil

import daemon


def missing():
    """Returns why the tests cannot run on this host, or None."""
    if os.geteuid() != 0:
        return "the system tests need root: sudo make test-system"
    if not os.access(daemon.PROFD, os.X_OK):
        return f"{daemon.PROFD} is missing: make build"
    path = os.environ["PATH"] + ":/usr/local/go/bin"
    for tool in ("go", "bpftool", "promtool", "protoc", "curl", "addr2line", "debuginfod", "setpriv", "unshare",
                 "man", "zsh", "fish"):
        if shutil.which(tool, path=path) is None:
            return f"{tool} is missing: make deps"
    return None
