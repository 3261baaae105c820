#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# packaging/deb.sh VERSION BUILD: makes BUILD/profd_VERSION_ARCH.deb from the sources as packaging/dist.sh packs
# them. It writes the changelog, because only the Makefile has the version.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
build=$(realpath -m "$2")
work=$build/package/deb
tree=$work/profd-$version

rm -rf "$work"
mkdir -p "$work"
packaging/dist.sh "$version" "$work/sources.tar.xz"
tar -xf "$work/sources.tar.xz" -C "$work"
cp -r packaging/debian "$tree/debian"
{
	printf 'profd (%s) unstable; urgency=medium\n\n' "$version"
	printf '  * profd %s.\n\n' "$version"
	printf ' -- %s  %s\n' "$(packaging/maintainer.sh)" "$(date -uRd "@$(packaging/epoch.sh)")"
} >"$tree/debian/changelog"

# `make test` runs the tests; with an empty DEB_BUILD_OPTIONS= the package build runs the unit tests again. Variables
# of make's command line belong to the outer tree and are not passed on.
cd "$tree"
env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS "DEB_BUILD_OPTIONS=${DEB_BUILD_OPTIONS-nocheck}" \
	dpkg-buildpackage -b -us -uc
cp "$work/profd_${version}_"*.deb "$build/"
