/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The table of endpoints. A route is one entry of `routes` and one handler; the index page, the 404
 * and 405 answers and the checks of parameters are made from the table.
 */
#pragma once

#include "http/request.h"

struct route {
	const char *path; /* with a star at its end: all paths that begin like this */
	void (*handle)(struct request *request); /* answers or suspends */
	const struct parameter *parameters;
	const char *example; /* an example request, for the index page */
	const char *summary; /* NULL: an alias, not shown */
};

/* Ends with a NULL path. */
extern const struct route routes[];

const struct route *route_find(const char *path); /* NULL when there is none */
/* Checks method, path and query, and calls the handler. */
void route_dispatch(struct request *request, const char *method);

/* The handlers, each in a file of its name. */
void handle_api(struct request *request);
void handle_profile(struct request *request);
void handle_heap(struct request *request);
void handle_gpu(struct request *request);
void handle_memory(struct request *request);
void handle_oom(struct request *request);
void handle_report(struct request *request);
void handle_processes(struct request *request);
void handle_tasks(struct request *request);
void handle_source(struct request *request);
void handle_status(struct request *request);
void handle_metrics(struct request *request);
void handle_healthz(struct request *request);
void handle_readyz(struct request *request);
void handle_timeline(struct request *request);
void handle_page_file(struct request *request);
void handle_manual(struct request *request);
void handle_manual_folder(struct request *request);
void handle_index(struct request *request);
void handle_pprof_index(struct request *request);
void handle_cmdline(struct request *request);
