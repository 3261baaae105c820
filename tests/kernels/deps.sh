#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Installs the missing packages that only the guests need, so that `make deps` stays small. Debian's kernels are
# unpacked with Debian's tools, so this works on Debian and Ubuntu only.
set -euo pipefail

packages=(qemu-system-x86 busybox-static cpio curl util-linux debian-archive-keyring)
missing=()

if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get >/dev/null; then
	echo "kernels: guests are for x86-64, and their kernels come by apt-get" >&2
	exit 1
fi
for package in "${packages[@]}"; do
	dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0
if [ "$(id -u)" -ne 0 ]; then
	echo "kernels: missing packages; run: sudo apt-get install --no-install-recommends ${missing[*]}" >&2
	exit 1
fi
echo "  DEPS     ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update
apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${missing[@]}"
