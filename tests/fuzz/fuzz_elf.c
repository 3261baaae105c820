/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Any bytes as an ELF file: opened, mapped through its segments and searched for symbols, from
 * memory and from a descriptor, because libelf reads the two by different code.
 */
#include "object/object.h"

#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_around(struct object *object)
{
	struct symbol symbol;
	uint64_t address;

	for (uint64_t offset = 0; offset < 0x4000; offset += 0x333) {
		if (object_address(object, offset, &address))
			object_symbol(object, address, &symbol);
	}
	object_symbol(object, UINT64_MAX, &symbol);
	object_unref(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct object *object;

	if (object_open_bytes(data, size, "fuzz", &object) == 0)
		look_around(object);

	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0)
		return 0;
	if (write(fd, data, size) != (ssize_t)size) {
		close(fd);
		return 0;
	}
	if (object_open_fd(fd, "fuzz", &object) == 0)
		look_around(object);
	return 0;
}
