/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pss_reader - reads the PSS of processes on request. The kernel walks all page tables of
 * the process and waits for the lock of its address space, which the process's user can hold for
 * minutes. So PSS is read on separate threads, one process of a user at a time, and no request
 * waits longer than the deadline. Loop thread only.
 */
#pragma once

#include "base/cleanup.h"

#include <stdint.h>
#include <uv.h>

struct pss_reader;
struct pss_job;

struct pss_config {
	uv_loop_t *loop;
	uint64_t deadline_ns;
	/* memory_read_pss() and owner_read(), except in tests. `read` is called on other
	 * threads. */
	int (*read)(uint32_t pid, uint64_t *ret_bytes);
	uint32_t (*owner)(uint32_t pid);
};

/* Embedded in a structure of the caller; the reader uses it from pss_reader_ask() to done(). */
struct pss_ask {
	uint32_t pid;
	/* err: 0 with the bytes; -ESRCH: the process is gone; -ETIMEDOUT: the reading took too
	 * long; -ECANCELED: the reader was stopped. */
	void (*done)(struct pss_ask *ask, int err, uint64_t bytes);

	struct pss_ask *prev, *next; /* in the order of their deadlines */
	uint64_t due_mono_ns;
	struct pss_job *job;
};

/* 0 or a negative errno. Threads are started by the first request. */
int pss_reader_new(const struct pss_config *config, struct pss_reader **ret_reader);
/* -EAGAIN: too many requests wait, of the process's user or in total; -ESRCH, -ENOMEM. done() is
 * not called then. */
int pss_reader_ask(struct pss_reader *reader, struct pss_ask *ask);
/* Answers all waiting requests. Takes NULL. */
void pss_reader_stop(struct pss_reader *reader);
/* To be called after pss_reader_stop(), once the loop has closed the reader's handles. Takes
 * NULL. */
void pss_reader_free(struct pss_reader *reader);
DEFINE_CLEANUP(struct pss_reader *, pss_reader_free)
