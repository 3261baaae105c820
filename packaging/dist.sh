#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# packaging/dist.sh VERSION FILE: packs the sources into FILE, a .tar.xz that unpacks into profd-VERSION/. The same
# sources give the same file: names are sorted, and owner and times do not depend on the build.
set -euo pipefail
cd "$(dirname "$0")/.."

# Files that git tracks or would add; without git, all files except build results.
sources()
{
	if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
		git ls-files -z --cached --others --exclude-standard
	else
		find . -path ./build -prune -o -path './build-*' -prune -o -name __pycache__ -prune -o \( -type f -o -type l \) -printf '%P\0'
	fi | sort -zu | while read -rd '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done
}

version=$1 file=$2
mkdir -p "$(dirname "$file")"
sources | tar -c --null -T - --transform "s,^,profd-$version/," --owner=0 --group=0 --numeric-owner \
	--mtime "@$(packaging/epoch.sh)" | xz -T1 >"$file"
