#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
#
#     run.sh BUILD
#
# Tests libprofd-cuda.so with the real CUPTI of CUDA 11, 12 and 13, which fetch.sh has put in BUILD/cupti: the library's
# declarations agree with CUPTI's headers, the library loads CUPTI, and where there is no GPU it says in one line why it cannot
# record.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
work=$build/tests/cupti
driver=$build/workloads/cuda/libcuda.so.1
failed=0

# CUDA's headers include this one, which comes with CUDA's compiler.
mkdir -p "$work/stub/crt"
cat >"$work/stub/crt/host_defines.h" <<-'end'
	#define __device_builtin__
	#define __device_builtin_texture_type__
	#define __device_builtin_surface_type__
	#define __cudart_builtin__
	#define __align__(n) __attribute__((aligned(n)))
	#define __builtin_align__(n) __align__(n)
	#define __host__
	#define __device__
	#define CUDARTAPI
	#define CUDARTAPI_CDECL
end

expect() { # what, the line, command
	local what=$1 line=$2 said status=0
	shift 2
	said=$("$@" 2>&1) || status=$?
	if [ "$status" = 0 ] && [[ $said =~ ^$line$ ]]; then
		echo "ok      $what${said:+: $said}"
	else
		echo "FAILED  $what: status $status: $said"
		failed=1
	fi
}

no="libprofd-cuda: kernel durations are not recorded:"
error="$no CUPTI reports [A-Za-z_ ]+ \\([0-9]+\\)"
older="$no libcupti.so is of CUDA 13 and the driver is older"
for cuda in 11 12 13; do
	includes=(-I"$work/stub")
	while read -r folder; do
		includes+=(-isystem "$folder")
	done < <(find "$build/cupti/$cuda" -type d -name include)
	expect "headers of CUDA $cuda" "" gcc -std=gnu17 -Wall -Idaemon "${includes[@]}" -fsyntax-only tests/cupti/layouts.c

	library=$(find "$build/cupti/$cuda" -name 'libcupti.so.*')
	line=$error
	[ "$cuda" != 13 ] || line=$older
	expect "CUPTI of CUDA $cuda, no driver" "$error" env PROFD_CUPTI="$library" "$work/loads"
	expect "CUPTI of CUDA $cuda, a driver of CUDA 12" "$line" env PROFD_CUPTI="$library" "$work/loads" "$driver"
done
exit "$failed"
