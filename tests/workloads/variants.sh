#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
# The levels programs with each kind of debug information. `variants.sh list` prints those that the
# tools of this machine can build, one LANGUAGE-VARIANT a line; `variants.sh build NAME FOLDER` builds
# FOLDER/NAME. If addr2line cannot read that file, FOLDER/NAME.reference has the same code at the same
# addresses with ordinary debug information.
set -euo pipefail
cd "$(dirname "$0")/../.."

export PATH="$PATH:$HOME/.cargo/bin:/usr/local/go/bin"
sources=tests/workloads

has()
{
	command -v "$1" >/dev/null 2>&1
}

list()
{
	local variants="dwarf4 dwarf5 split gz lto debuglink minidebug stripped"

	if has dwz; then variants+=" dwz distribution"; fi
	if has clang; then printf 'c-%s\n' clang; fi
	if has clang++; then printf 'cc-%s\n' clang; fi
	# shellcheck disable=SC2086
	printf 'c-%s\n' $variants
	# shellcheck disable=SC2086
	printf 'cc-%s\n' $variants
	if has rustc; then printf 'rust-%s\n' dwarf4 dwarf5 split lto debuglink; fi
	if has gfortran; then printf 'fortran-%s\n' dwarf5; fi
	if has go; then printf 'go-%s\n' dwarf stripped; fi
}

# compile OUTPUT FLAGS...: compiles the program of the current language. The object is named after the
# source, so that the names in it are the same in every variant.
compile()
{
	local output=$1 build_id cc cxx
	shift
	# Variants need build IDs of their own: their code is the same, and so its hash would be.
	build_id=-Wl,--build-id=0x$(echo "$name" | sha1sum | cut -c1-40)
	# CC and CXX may consist of several words, such as "ccache gcc".
	read -ra cc <<<"${CC:-gcc}"
	read -ra cxx <<<"${CXX:-g++}"
	case $language in
	c) "${cc[@]}" -std=gnu17 -D_GNU_SOURCE -O2 -g "$build_id" "$@" -o "$output" $sources/levels_c.c ;;
	cc) "${cxx[@]}" -O2 -g "$build_id" "$@" -o "$output" $sources/levels.cc ;;
	fortran) (cd "$folder" && gfortran -O2 -g "$build_id" "$@" -o "$name" "$root/$sources/levels_fortran.f90") ;;
	rust)
		rustc -O -g --crate-name levels_rust -C link-arg="$build_id" "$@" -o "$output" \
			$sources/levels_rust.rs
		;;
	go)
		GOFLAGS='' GOTOOLCHAIN=local GO111MODULE=off GOCACHE=${GOCACHE:-$folder/../../go-cache} \
			go build "$@" -o "$output" $sources/levels_go.go
		;;
	esac
}

dwarf()
{
	if [ "$language" = rust ]; then echo "-Cdwarf-version=$1"; else echo "-gdwarf-$1"; fi
}

same_code()
{
	local file
	for file in "$@"; do
		objcopy -O binary -j .text "$file" "$file.text"
	done
	cmp "$1.text" "$2.text"
	rm "$1.text" "$2.text"
}

# strip_with_link FILE: moves debug information to FILE.debug, as distributions do.
strip_with_link()
{
	objcopy --only-keep-debug "$1" "$1.debug"
	strip "$1"
	(cd "$(dirname "$1")" && objcopy --add-gnu-debuglink="$(basename "$1").debug" "$(basename "$1")")
}

# Adds .gnu_debugdata as in GDB's manual: the symbols that .dynsym lacks, compressed, in a stripped file.
minidebug()
{
	local file=$1 parts=$1.parts
	mkdir -p "$parts"
	nm -D "$file" --format=posix --defined-only | awk '{ print $1 }' | sort >"$parts/dynamic"
	nm "$file" --format=posix --defined-only |
		awk '$2 == "T" || $2 == "t" || $2 == "D" { print $1 }' | sort >"$parts/functions"
	comm -13 "$parts/dynamic" "$parts/functions" >"$parts/keep"
	objcopy --only-keep-debug "$file" "$parts/debug"
	objcopy -S --remove-section .gdb_index --remove-section .comment \
		--keep-symbols="$parts/keep" "$parts/debug" "$parts/mini"
	strip --strip-all -R .comment "$file"
	xz -f "$parts/mini"
	objcopy --add-section .gnu_debugdata="$parts/mini.xz" "$file"
	rm -r "$parts"
}

# share FILE: moves the debug information that FILE has in common with a copy to a supplementary file.
share()
{
	cp "$1" "$1.other"
	dwz -m "$1.supplement" -M "$folder/$(basename "$1").supplement" "$1" "$1.other"
	rm "$1.other"
	objdump -h "$1" | grep '\.gnu_debugaltlink' >/dev/null
}

build()
{
	local built=$folder/$name
	case $variant in
	dwarf4) compile "$built" "$(dwarf 4)" ;;
	dwarf5) compile "$built" "$(dwarf 5)" ;;
	dwarf) compile "$built" ;;
	gz) compile "$built" -gz=zlib ;;
	clang) CC=clang CXX=clang++ compile "$built" ;;
	split)
		if [ "$language" = rust ]; then
			compile "$built" -Csplit-debuginfo=unpacked
			compile "$built.reference" -Csplit-debuginfo=off
		else
			compile "$built" -gdwarf-5 -gsplit-dwarf
			compile "$built.reference" -gdwarf-5
		fi
		same_code "$built" "$built.reference"
		;;
	lto) if [ "$language" = rust ]; then compile "$built" -Clto; else compile "$built" -flto; fi ;;
	stripped)
		if [ "$language" = go ]; then
			compile "$built.reference"
			compile "$built" -ldflags='-s -w'
		else
			compile "$built"
			cp "$built" "$built.reference"
			strip "$built"
		fi
		;;
	*)
		compile "$built"
		cp "$built" "$built.reference"
		;;&
	debuglink) strip_with_link "$built" ;;
	minidebug) minidebug "$built" ;;
	dwz) share "$built" ;;
	distribution)
		strip_with_link "$built"
		share "$built.debug"
		;;
	esac
}

case ${1:-} in
list) list ;;
build)
	name=$2 language=${2%%-*} variant=${2#*-} root=$PWD
	mkdir -p "$3"
	folder=$(realpath "$3")
	build
	;;
*)
	echo "usage: variants.sh list | variants.sh build NAME FOLDER" >&2
	exit 64
	;;
esac
