/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct library - libdebuginfod, loaded on demand and never unloaded, because the libraries that
 * it uses do not support that. Used in the process that downloads, and in the doctor.
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

/* 0, or -ELIBACC: the library is not installed, or lacks a function. */
int library_load(struct library *ret_library);
