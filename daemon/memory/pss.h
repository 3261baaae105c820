/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct pss_reader - reads the PSS of processes for whoever asks. The kernel walks all page tables
 * of such a process, and waits for the lock of its address space, which its owner can make take
 * minutes: so it is read on threads of its own, one process of a user at a time, and nobody waits
 * for it longer than the deadline. Loop thread only.
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
	/* memory_read_pss() and owner_read(), but for tests. `read` is called on other threads. */
	int (*read)(uint32_t pid, uint64_t *ret_bytes);
	uint32_t (*owner)(uint32_t pid);
};

/* Part of its owner, and the reader's from pss_reader_ask() to done(). */
struct pss_ask {
	uint32_t pid;
	/* 0 with the bytes, -ESRCH: there is no such process any longer; -ETIMEDOUT: it took too
	 * long; -ECANCELED: the reader was stopped. */
	void (*done)(struct pss_ask *ask, int err, uint64_t bytes);

	struct pss_ask *prev, *next; /* in the order of their time */
	uint64_t due_mono_ns;
	struct pss_job *job;
};

/* Negative errno. Threads are started by the first who asks. */
int pss_reader_new(const struct pss_config *config, struct pss_reader **ret_reader);
/* -EAGAIN: so many are asked for already of that process' user, or of all; -ESRCH, -ENOMEM. done()
 * is not called then. */
int pss_reader_ask(struct pss_reader *reader, struct pss_ask *ask);
/* Whoever waits is told. Takes NULL. */
void pss_reader_stop(struct pss_reader *reader);
/* After that, once the loop has closed its handles. Takes NULL. */
void pss_reader_free(struct pss_reader *reader);
DEFINE_CLEANUP(struct pss_reader *, pss_reader_free)
