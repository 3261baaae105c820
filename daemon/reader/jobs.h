/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a reader process can be asked, written once. Each job's two ends stand side by side, in the
 * folder that knows what it is about: one that asks, in the daemon, and one that answers, in the
 * process. daemon/jobs.c says which function answers what.
 */
#pragma once

/* JOB(NAME, function that answers). Two jobs where less of a file may go well when all of it did
 * not: a file is given up for one job at a time. */
#define READER_JOBS(JOB)                       \
	JOB(NAMES, names_answer)               \
	JOB(NAMES_WITHOUT_LINES, names_answer) \
	JOB(DEMANGLE, demangle_answer)         \
	JOB(LINKS, links_answer)               \
	JOB(PYTHON, python_answer)             \
	JOB(USDT, usdt_answer)                 \
	JOB(GPU, gpu_answer)                   \
	JOB(HEAP_SURVEY, heap_survey_answer)   \
	JOB(HEAP_SITES, heap_sites_answer)     \
	JOB(TABLE, table_answer)               \
	JOB(TABLE_FOLLOWED, table_answer)      \
	JOB(NVML, nvml_answer)                 \
	JOB(FETCH, fetch_answer)

enum reader_job {
#define JOB(name, answer) READER_##name,
	READER_JOBS(JOB)
#undef JOB
		READER_JOB_COUNT
};
