#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# packaging/rpm.sh VERSION BUILD: makes BUILD/profd-VERSION-1.ARCH.rpm from the sources as packaging/dist.sh packs them.
set -euo pipefail
cd "$(dirname "$0")/.."

version=$1
build=$(realpath -m "$2")
work=$build/package/rpm
spec=$work/profd.spec
options=()

# On Debian, rpm does not know which packages are installed.
if [ -e /etc/debian_version ]; then
	options+=(--nodeps)
fi
rm -rf "$work"
packaging/dist.sh "$version" "$work/SOURCES/profd-$version.tar.xz"
cp packaging/rpm/profd.spec "$spec"
{
	printf '\n%%changelog\n* %s %s - %s-1\n' "$(LC_ALL=C date -ud "@$(packaging/epoch.sh)" '+%a %b %d %Y')" \
		"$(packaging/maintainer.sh)" "$version"
	printf -- '- profd %s.\n' "$version"
} >>"$spec"
SOURCE_DATE_EPOCH=$(packaging/epoch.sh) env -u MAKEFLAGS -u MAKEOVERRIDES -u MFLAGS \
	rpmbuild -bb "${options[@]}" --define "_topdir $work" --define "profd_version $version" "$spec"
find "$work/RPMS" -name "profd-$version-*.rpm" -exec cp {} "$build/" \;
