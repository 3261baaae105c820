/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Which file systems are programs of users, according to mountinfo.
 */
#include "object/mounts.h"
#include "tests/unit/descriptors.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char text[] =
	"22 27 0:20 / /proc rw,nosuid - proc proc rw\n"
	"27 1 259:1 / / rw,relatime shared:1 master:2 - ext4 /dev/nvme0n1p1 rw,errors=remount-ro\n"
	"40 27 0:44 / /home/a/with\\040space rw - fuse.sshfs a@b: rw,user_id=1000,group_id=1000\n"
	"41 27 0:45 / /cvmfs rw - fuse cvmfs2 rw,user_id=0,group_id=0,allow_other\n"
	"42 27 0:46 / /odd rw - fuse x rw\n"
	"45 27 0:48 / /merged rw - overlay overlay rw,lowerdir=/a:/b\n"
	"43 27 0:4 / /short rw - tmpfs tmpfs rw\n"
	"44 27 0:47 / /cut rw - fuse\n";

static enum mount_kind find(unsigned major, unsigned minor)
{
	return mounts_find(text, sizeof(text) - 1, 0, makedev(major, minor));
}

START_TEST(kinds)
{
	ck_assert_int_eq(find(0, 20), MOUNT_PLAIN);
	ck_assert_int_eq(find(259, 1), MOUNT_PLAIN);
	ck_assert_int_eq(find(0, 44), MOUNT_OF_USER);
	ck_assert_int_eq(find(0, 45), MOUNT_OF_A_ROOT);
	ck_assert_int_eq(find(0, 46), MOUNT_OF_USER); /* no option says that root mounted it */
	ck_assert_int_eq(find(0, 4), MOUNT_PLAIN);
	ck_assert_int_eq(find(0, 48), MOUNT_OVERLAY);
	ck_assert_int_eq(find(0, 47), MOUNT_UNKNOWN);
	ck_assert_int_eq(find(0, 99), MOUNT_UNKNOWN);
	/* Truncated anywhere, the text says nothing about a mount that it does not contain. */
	for (size_t len = 0; len < sizeof(text) - 1; len++)
		ck_assert_int_eq(mounts_find(text, len, 98, makedev(0, 99)), MOUNT_UNKNOWN);
	ck_assert_int_eq(mounts_find(text, 40, 0, makedev(259, 1)), MOUNT_UNKNOWN);
}
END_TEST

/* The mount ID identifies a mount for certain. A device number may be that of a part of a file
 * system, or of a layer below it. */
START_TEST(by_number)
{
	const size_t len = sizeof(text) - 1;

	ck_assert_int_eq(mounts_find(text, len, 45, makedev(0, 99)), MOUNT_OVERLAY);
	ck_assert_int_eq(mounts_find(text, len, 45, makedev(0, 4)), MOUNT_OVERLAY);
	ck_assert_int_eq(mounts_find(text, len, 40, makedev(259, 1)), MOUNT_OF_USER);
	ck_assert_int_eq(mounts_find(text, len, 44, makedev(0, 4)), MOUNT_UNKNOWN);
	ck_assert_int_eq(mounts_find(text, len, 4, makedev(0, 4)), MOUNT_PLAIN);
	ck_assert_int_eq(mounts_find(text, len, 4, makedev(0, 99)), MOUNT_UNKNOWN);
}
END_TEST

START_TEST(files_of_this_machine)
{
	int own = open("/proc/self/exe", O_PATH), memory = memfd_create("mounts", 0);

	ck_assert_int_ge(own, 0);
	ck_assert_int_eq(mounts_check_open(own, 0), 0);
	ck_assert_int_eq(mounts_check_open(own, (uint32_t)getpid()), 0);
	ck_assert_int_eq(mounts_check_ask(own, 0), 0);
	ck_assert_int_eq(mounts_check_ask(own, (uint32_t)getpid()), 0);
	ck_assert_int_eq(mounts_check_open(memory, (uint32_t)getpid()), 0);
	/* The file is mounted nowhere. */
	ck_assert_int_eq(mounts_check_ask(memory, (uint32_t)getpid()), -EOPNOTSUPP);
	ck_assert_int_eq(mounts_check_ask(-1, 0), -EOPNOTSUPP);
	close(own);
	close(memory);
}
END_TEST

/* What is not known for lack of descriptors may be known later. */
START_TEST(no_descriptors)
{
	int memory = memfd_create("mounts", 0);
	uint32_t pid = (uint32_t)getpid();

	ck_assert_int_ge(memory, 0);
	ck_assert_int_eq(mounts_check_open(memory, pid), 0);
	for (unsigned int left = 0; left < 2; left++) {
		leave_descriptors(left);
		ck_assert_int_eq(mounts_check_open(memory, pid), -EMFILE);
		ck_assert_int_eq(mounts_check_ask(memory, pid), -EMFILE);
		leave_descriptors(UINT_MAX);
	}
	ck_assert_int_eq(mounts_check_open(memory, pid), 0);
	close(memory);
}
END_TEST

Suite *mounts_suite(void)
{
	Suite *suite = suite_create("mounts");
	TCase *mounts = tcase_create("mounts");

	tcase_add_test(mounts, kinds);
	tcase_add_test(mounts, by_number);
	tcase_add_test(mounts, files_of_this_machine);
	tcase_add_test(mounts, no_descriptors);
	suite_add_tcase(suite, mounts);
	return suite;
}
