#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# deps.sh [package]: installs the missing packages that building and testing profd needs, or those that making and
# testing its packages needs in addition, with apt-get or dnf. Asks nothing and prints nothing when none is
# missing, and is then fast enough to run before every `make test`.
#
# deps.sh --list debian|fedora [package]: prints the packages as for a system that has none of them.
set -euo pipefail

listing=
[ "${1:-}" != --list ] || listing=yes

# With --list, no command counts as installed.
has()
{
	[ -z "$listing" ] && command -v "$1" >/dev/null 2>&1
}

export PATH="$PATH:/usr/local/go/bin:/usr/sbin:/sbin"

# ---- the packages, by distribution -----------------------------------------------------------------------
debian_packages()
{
	echo gcc g++ make pkg-config clang llvm libclang-rt-14-dev libbpf-dev libelf-dev libdw-dev libdebuginfod-dev liblzma-dev zlib1g-dev \
		protobuf-c-compiler libprotobuf-c-dev protobuf-compiler libmicrohttpd-dev libuv1-dev \
		libgnutls28-dev libyaml-dev libcrypt-dev libjansson-dev libseccomp-dev libinih-dev libiberty-dev libzydis-dev \
		libxxhash-dev uthash-dev check curl openssl python3 procps iproute2 \
		musl-tools ca-certificates git clang-format clang-tidy codespell cppcheck shellcheck \
		binutils dwz gfortran debuginfod libc6-dbg util-linux xz-utils btrfs-progs \
		python3-numpy libopenblas0-pthread python3-greenlet python3-gevent \
		libjemalloc2 libgoogle-perftools-dev libmimalloc-dev \
		python3-venv fonts-dejavu-core \
		man-db mandoc zsh fish
	is_ubuntu && echo chromium || echo chromium-headless-shell
	has bpftool || { is_ubuntu && echo linux-tools-common linux-tools-generic || echo bpftool; }
	has go || echo golang-go
	has promtool || echo prometheus
}

# Debian can make packages of both kinds; only Debian's is tested.
debian_packages_package()
{
	echo debhelper debootstrap dpkg-dev lintian rpm rpmlint systemd-container
}

is_ubuntu()
{
	[ -z "$listing" ] && grep -qs '^ID=ubuntu' /etc/os-release
}

fedora_packages()
{
	echo gcc gcc-c++ make pkgconf-pkg-config clang llvm compiler-rt libbpf-devel elfutils-libelf-devel elfutils-devel \
		elfutils-debuginfod-client-devel xz-devel zlib-devel protobuf-c-compiler protobuf-c-devel protobuf-compiler libmicrohttpd-devel \
		gnutls-devel libyaml-devel libxcrypt-devel openssl \
		libuv-devel jansson-devel libseccomp-devel inih-devel binutils-devel zydis-devel uthash-devel xxhash-devel check-devel curl python3 procps-ng \
		iproute ca-certificates git-core clang-tools-extra codespell cppcheck ShellCheck libasan libubsan \
		glibc-static musl-gcc binutils dwz gcc-gfortran elfutils-debuginfod glibc-debuginfo util-linux xz btrfs-progs \
		python3-numpy python3-greenlet python3-gevent jemalloc gperftools-libs mimalloc \
		chromium dejavu-sans-fonts \
		man-db mandoc zsh fish
	has bpftool || echo bpftool
	has go || echo golang
	has promtool || echo golang-github-prometheus
}

fedora_packages_package()
{
	echo rpm-build rpmlint systemd-rpm-macros
}

# ---- the missing packages --------------------------------------------------------------------------------
debian_missing()
{
	local wanted
	wanted=$("debian_packages$purpose")
	# dpkg-query fails on a package that it does not know; such a package counts as missing. libclang-rt has the
	# version of the distribution's clang in its name, so any version of it is accepted.
	# shellcheck disable=SC2086
	{ dpkg-query -W -f '${db:Status-Status} ${Package}\n' $wanted 'libclang-rt-*-dev' 2>/dev/null || true; } |
		awk -v wanted="$wanted" '
			$1 == "installed" { have[$2] = 1; if ($2 ~ /^libclang-rt-.*-dev$/) runtime = 1 }
			END {
				n = split(wanted, names)
				for (i = 1; i <= n; i++)
					if (!(names[i] in have) && !(runtime && names[i] ~ /^libclang-rt-/))
						print names[i]
			}'
}

fedora_missing()
{
	# shellcheck disable=SC2046
	{ rpm -q --qf '' --whatprovides $("fedora_packages$purpose") 2>/dev/null || true; } |
		sed -n 's/^no package provides //p'
}

# ---- installation ----------------------------------------------------------------------------------------
# The prometheus package is needed for promtool. Its server must start neither now nor at the next boot: a policy
# denies it during the installation, which Debian's maintainer scripts respect, and the unit is disabled
# afterwards. A policy that the administrator has set is left alone.
debian_install()
{
	local policy=/usr/sbin/policy-rc.d
	export DEBIAN_FRONTEND=noninteractive

	if [ ! -e $policy ]; then
		trap 'rm -f /usr/sbin/policy-rc.d' EXIT
		printf '#!/bin/sh\nexit 101\n' >$policy
		chmod 755 $policy
	fi
	apt-get -qq update
	# Where the default clang is not 14, its runtime package has that clang's version.
	local -a packages=("$@")
	local i version
	for i in "${!packages[@]}"; do
		if [[ ${packages[i]} == libclang-rt-* ]]; then
			version=$(apt-cache depends clang | sed -n 's/.*Depends: clang-\([0-9]*\)$/\1/p')
			packages[i]=libclang-rt-${version:-14}-dev
		fi
	done
	apt-get -qq -y --no-install-recommends -o Dpkg::Use-Pty=0 install "${packages[@]}"
	if [[ " $* " == *" prometheus "* ]]; then
		update-rc.d prometheus disable || echo "deps: could not disable prometheus at boot" >&2
	fi
}

# ---- main ------------------------------------------------------------------------------------------------
if [ -n "$listing" ]; then
	"$2_packages${3:+_$3}"
	exit
fi
purpose=${1:+_$1}
if has apt-get; then
	missing=$(debian_missing)
	install=debian_install
	by_hand="apt-get install --no-install-recommends"
elif has dnf; then
	missing=$(fedora_missing)
	install="dnf -y -q install"
	by_hand="dnf install"
else
	echo "deps: neither apt-get nor dnf here; packaging/README.md lists what is needed" >&2
	exit 0
fi

missing=${missing//$'\n'/ }
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -ne 0 ]; then
	echo "deps: missing packages; run: sudo $by_hand $missing" >&2
	exit 1
fi
echo "  DEPS     $missing"
# shellcheck disable=SC2086
$install $missing
