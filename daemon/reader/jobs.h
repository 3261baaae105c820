/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of the jobs of reader processes. Each job has two functions, in the folder of its
 * subject: one asks, in the daemon, and one answers, in the process. daemon/jobs.c connects jobs to
 * the functions that answer.
 */
#pragma once

/* JOB(NAME, function that answers). A file is given up for one job at a time, so there are two jobs
 * where reading less of a file may succeed after reading all of it has failed. */
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
