#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Every setting of daemon/settings.h is in the README's table and in the manual page.
set -euo pipefail

names=$(sed -n "s/.*SETTING('.', \"\([a-z-]*\)\".*/\1/p" daemon/settings.h)
status=0

[ "$(wc -w <<<"$names")" -ge 8 ] || { echo "daemon/settings.h: the settings are not where they were"; exit 1; }
for name in $names; do
	if ! grep -qF "| \`--$name\` |" README.md; then
		echo "README.md: no row for --$name"
		status=1
	fi
	if ! grep -qF "\\-\\-${name//-/\\-}" packaging/profd.8; then
		echo "packaging/profd.8: nothing about --$name"
		status=1
	fi
done
exit $status
