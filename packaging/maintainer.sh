#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Who signs for a package: what DEBFULLNAME and DEBEMAIL say, as Debian's tools read them, or who maintains profd.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${DEBEMAIL:-}" ]; then
	echo "${DEBFULLNAME:-profd} <$DEBEMAIL>"
else
	sed -n 's/^Maintainer: //p' packaging/debian/control
fi
