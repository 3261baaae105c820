#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# Prints the maintainer of a package: DEBFULLNAME and DEBEMAIL as for Debian's tools, or else profd's maintainer.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ -n "${DEBEMAIL:-}" ]; then
	echo "${DEBFULLNAME:-profd} <$DEBEMAIL>"
else
	sed -n 's/^Maintainer: //p' packaging/debian/control
fi
