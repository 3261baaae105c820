/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names of block devices, compared with those of /sys/class/block.
 */
#include "ingest/disks.h"
#include "tests/unit/suites.h"

#include <dirent.h>
#include <stdio.h>

START_TEST(a_device_that_there_is_not)
{
	char name[DISK_NAME_BYTES];

	ck_assert_str_eq(disk_name((uint64_t)4095 << 20 | 1048575, name), "4095:1048575");
}
END_TEST

START_TEST(all_of_this_host)
{
	DIR *folder = opendir("/sys/class/block");
	struct dirent *entry;

	/* Without sysfs there are none. */
	while (folder && (entry = readdir(folder))) {
		unsigned int major, minor;
		char path[512], name[DISK_NAME_BYTES];
		FILE *file;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "/sys/class/block/%s/dev", entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue; /* it has just been removed */
		ck_assert_int_eq(fscanf(file, "%u:%u", &major, &minor), 2);
		fclose(file);
		ck_assert_str_eq(disk_name((uint64_t)major << 20 | minor, name), entry->d_name);
	}
	if (folder)
		closedir(folder);
}
END_TEST

Suite *disks_suite(void)
{
	Suite *suite = suite_create("disks");
	TCase *tests = tcase_create("disks");

	tcase_add_test(tests, a_device_that_there_is_not);
	tcase_add_test(tests, all_of_this_host);
	suite_add_tcase(suite, tests);
	return suite;
}
