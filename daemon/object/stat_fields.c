/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The text begins "PID (NAME) STATE PARENT ...". The name may contain any bytes, so the last
 * closing parenthesis ends it.
 */
#include "object/stat_fields.h"

#include <string.h>

bool stat_number(const char *bytes, size_t len, enum stat_field field, uint64_t *ret_number)
{
	const char *name_end = len ? memrchr(bytes, ')', len) : NULL;
	struct text rest, word = {0};
	uint64_t number;

	if (!name_end)
		return false;
	rest = (struct text){name_end + 1, bytes + len};
	for (int at = STAT_STATE; at <= (int)field; at++)
		if (!text_word(&rest, &word))
			return false;
	if (!text_decimal(&word, &number) || word.at != word.end)
		return false;
	*ret_number = number;
	return true;
}
