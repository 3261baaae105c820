/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct library - libdebuginfod, loaded where it is needed and never unloaded, for what it is made
 * of was not meant to be. In the process that downloads, and in the doctor.
 */
#pragma once

#include <elfutils/debuginfod.h>

struct library {
	void *handle;
	__typeof__(debuginfod_begin) *begin;
	__typeof__(debuginfod_end) *end;
	__typeof__(debuginfod_find_debuginfo) *find_debuginfo;
	__typeof__(debuginfod_set_progressfn) *set_progressfn;
	__typeof__(debuginfod_set_verbose_fd) *set_verbose_fd;
};

/* 0, or -ELIBACC: it is not here, or lacks what is needed of it. */
int library_load(struct library *ret_library);
