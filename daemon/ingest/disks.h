/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of block devices. Loop thread: reads a link of sysfs, which belongs to the kernel.
 */
#pragma once

#include <stdint.h>

enum { DISK_NAME_BYTES = 64 };

/* The name of the device with this number, as the kernel keeps it: "nvme0n1p1"; "259:1" if there is
 * no such device any more. Returns `name`. */
const char *disk_name(uint64_t device, char name[DISK_NAME_BYTES]);
