/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Connects the parts. Addresses are bound first, because that fails most often and is cheapest to
 * undo; the kernel half is loaded next; HTTP is answered once samples arrive.
 */
#include "daemon.h"

#include "base/accounts.h"
#include "base/clock.h"
#include "base/log.h"
#include "config_load.h"
#include "guard.h"
#include "http/server.h"
#include "listening.h"
#include "notify.h"
#include "parts.h"
#include "policies.h"
#include "privileges.h"
#include "upkeep.h"
#include "watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

/* How long stopping waits for the workers; with the rest, stopping should take less than a second.
 */
static const uint64_t patience_ms = 600;
/* Before that, what was recorded since the last export may be exported for so long. */
static const uint64_t last_export_ms = 3000;

/* For all objects and thousands of connections; 128 KiB of the kernel's memory. */
enum { TABLE_DESCRIPTORS = 16 * 1024 };

struct daemon {
	uv_loop_t loop;
	uv_signal_t terminate, interrupt, hangup;
	uv_timer_t patience;
	struct listeners listeners; /* until the server takes ownership */
	struct listeners bound;     /* copies, for their names */
	struct parts parts;
	struct upkeep upkeep;
	struct server *server;
	struct utsname host;
	struct privileges privileges;
	struct watchdog watchdog;
	struct config *config;
	struct policies policies;
	struct access *access; /* owned by the caller */
	uint64_t start_mono_ns;
	bool loop_open, leaving, stopping;
	int status; /* exit status, if stopping is cut off by the timer */
};

/* A worker still reads a large file, or waits for a file system that does not answer. It holds
 * nothing that the kernel does not release when the process ends. */
static void on_impatience(uv_timer_t *timer)
{
	struct daemon *daemon = timer->data;

	listeners_release(&daemon->listeners);
	_exit(daemon->status);
}

/* Idempotent: does less after a second signal or a failed start. */
static void daemon_stop(struct daemon *daemon)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	server_stop(daemon->server);
	policies_stop(&daemon->policies);
	parts_stop(&daemon->parts);
	upkeep_stop(&daemon->upkeep);
	uv_close((uv_handle_t *)&daemon->terminate, NULL);
	uv_close((uv_handle_t *)&daemon->interrupt, NULL);
	uv_timer_start(&daemon->patience, on_impatience, patience_ms, 0);
}

static void on_exported(void *ctx)
{
	daemon_stop(ctx);
}

static void on_late(uv_timer_t *timer)
{
	log_warning("what was recorded last is not exported: that took too long");
	daemon_stop(timer->data);
}

/* A second signal does not wait for the last export. */
static void on_signal(uv_signal_t *handle, int signal)
{
	struct daemon *daemon = handle->data;

	log_info("stopping on %s", signal == SIGINT ? "SIGINT" : "SIGTERM");
	notify_send("STOPPING=1");
	if (daemon->leaving || !daemon->parts.exports) {
		daemon_stop(daemon);
		return;
	}
	daemon->leaving = true;
	uv_timer_start(&daemon->patience, on_late, last_export_ms, 0);
	exports_finish(daemon->parts.exports, on_exported, daemon);
}

static void set_log_level(const struct config *config)
{
	log_set_level(config->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
}

static void on_changed(const struct config *config, void *ctx)
{
	struct daemon *daemon = ctx;

	set_log_level(config);
	parts_resize(&daemon->parts, config);
}

static void on_hangup(uv_signal_t *handle, int signal)
{
	struct daemon *daemon = handle->data;

	(void)signal;
	if (daemon->stopping)
		return;
	notify_send("RELOADING=1\nMONOTONIC_USEC=%llu", clock_mono_ns() / NSEC_PER_USEC);
	config_reload(daemon->config, on_changed, daemon);
	policies_update(&daemon->policies);
	guard_reload(daemon->config, &daemon->bound, daemon->access);
	notify_send("READY=1");
}

/* The kernel doubles the table when it is full. Once there are threads, it waits for all CPUs then,
 * some 10 ms, or half a second on a busy host, and whoever opens a file waits, too. The table
 * never shrinks. */
static void grow_descriptor_table(void)
{
	struct rlimit limit;
	int most = TABLE_DESCRIPTORS, fd;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < TABLE_DESCRIPTORS)
		most = (int)limit.rlim_cur;
	fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, most - 1);
	closep(&fd);
}

/* Each connection and each open executable file takes a descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_warning(
			"cannot raise the limit of open files: %s; profd keeps the current limit",
			strerror(errno));
	grow_descriptor_table();
}

/* Symbolizing and building unwind tables take much memory for a short time. By default the
 * allocator adapts and keeps that memory. */
static void keep_memory_small(void)
{
	const int large = 128 * 1024, arenas = 256;

	mallopt(M_MMAP_THRESHOLD, large);
	mallopt(M_TRIM_THRESHOLD, large);
	/* By default a host of two CPUs has 16, and further threads share them, also the loop's: it
	 * would then wait for a thread that has no CPU. */
	mallopt(M_ARENA_MAX, arenas);
}

static int open_loop(struct daemon *daemon)
{
	int err;

	lanes_set_threads();
	err = uv_loop_init(&daemon->loop);
	if (err)
		return err;
	daemon->loop_open = true;
	uv_signal_init(&daemon->loop, &daemon->terminate);
	uv_signal_init(&daemon->loop, &daemon->interrupt);
	uv_signal_init(&daemon->loop, &daemon->hangup);
	upkeep_init(&daemon->upkeep, &daemon->loop);
	uv_timer_init(&daemon->loop, &daemon->patience);
	/* These do not keep the loop running. SIGHUP is caught until the end, because otherwise it
	 * would terminate the process. */
	uv_unref((uv_handle_t *)&daemon->patience);
	uv_unref((uv_handle_t *)&daemon->hangup);
	daemon->terminate.data = daemon->interrupt.data = daemon->hangup.data = daemon;
	daemon->patience.data = daemon;
	err = uv_signal_start(&daemon->terminate, on_signal, SIGTERM);
	if (!err)
		err = uv_signal_start(&daemon->interrupt, on_signal, SIGINT);
	/* From a terminal SIGHUP means that the terminal is gone, and terminates profd by default.
	 */
	if (!err && !isatty(STDIN_FILENO))
		err = uv_signal_start(&daemon->hangup, on_hangup, SIGHUP);
	return err;
}

static int serve(struct daemon *daemon, const struct config *config, char why[256])
{
	struct parts *parts = &daemon->parts;
	struct service service = {
		.loop = &daemon->loop,
		.collector = parts->collector,
		.exports = parts->exports,
		.heaps = collector_heaps(parts->collector),
		.history = parts->history,
		.procs = parts->procs,
		.store = parts->store,
		.symbolizer = parts->symbolizer,
		.nvml = parts->nvml,
		.fetch = parts->fetch,
		.render = parts->render,
		.policy = &daemon->policies.now,
		.access = daemon->access,
		.passwords = parts->passwords,
		.processes = parts->processes,
		.cmdlines = parts->cmdlines,
		.aside = parts->aside,
		.tasks_aside = parts->tasks_aside,
		.watches = &parts->watches,
		.pss = parts->pss,
		.host = &daemon->host,
		.capabilities = daemon->privileges.names,
		.start_mono_ns = daemon->start_mono_ns,
		.sample_hz = (uint32_t)config->sample_hz,
		.keep_ns = config->history_ns,
	};

	return server_start(&service, &daemon->listeners, &daemon->server, why);
}

/* Only a successful drain proves that profd works. */
static void on_drained(void *ctx)
{
	struct daemon *daemon = ctx;

	if (watchdog_progress(&daemon->watchdog, clock_mono_ns()))
		notify_send("WATCHDOG=1");
}

static int start_parts(struct daemon *daemon, const struct config *config, char why[256])
{
	const struct parts_config wanted = {
		.loop = &daemon->loop,
		.config = config,
		.host = &daemon->host,
		.drained = on_drained,
		.ctx = daemon,
	};
	int err = parts_start(&daemon->parts, &wanted, why);

	if (err)
		return err;
	privileges_warn_of_readers();
	privileges_get(&daemon->privileges);
	upkeep_start(&daemon->upkeep, config, &daemon->parts, daemon->start_mono_ns);
	return 0;
}

static enum accounts_trust trust_of(const struct config *config)
{
	static const enum accounts_trust trust[] = {
		[AUTO_NO] = TRUST_ROOT,
		[AUTO_YES] = TRUST_EVERYBODY,
		[AUTO_CHOOSES] = TRUST_PERSON,
	};

	return trust[config->user_probes];
}

static int daemon_start(struct daemon *daemon, const struct config *config, char why[256])
{
	int err;

	daemon->start_mono_ns = clock_mono_ns();
	uname(&daemon->host);
	accounts_read();
	accounts_trust(trust_of(config));
	watchdog_init(&daemon->watchdog);
	err = open_loop(daemon);
	if (err) {
		snprintf(why, 256, "cannot start: %s", strerror(-err));
		return err;
	}
	err = policies_start(&daemon->policies, &daemon->loop, config, why);
	if (!err)
		err = listening_open(config, daemon->access, &daemon->listeners, why);
	return err ? err : start_parts(daemon, config, why);
}

static void daemon_release(struct daemon *daemon)
{
	if (daemon->loop_open) {
		daemon_stop(daemon);
		uv_run(&daemon->loop, UV_RUN_DEFAULT);
		uv_close((uv_handle_t *)&daemon->patience, NULL);
		uv_close((uv_handle_t *)&daemon->hangup, NULL);
		uv_run(&daemon->loop, UV_RUN_DEFAULT);
	}
	server_free(daemon->server);
	policies_release(&daemon->policies);
	parts_release(&daemon->parts);
	listeners_release(&daemon->listeners);
	if (daemon->loop_open)
		uv_loop_close(&daemon->loop);
	uv_library_shutdown();
}

int daemon_run(struct config *config, struct access *access)
{
	_cleanup_(daemon_release) struct daemon daemon = {.config = config, .access = access};
	char why[256] = "";
	int err;

	signal(SIGPIPE, SIG_IGN);
	set_log_level(config);
	keep_memory_small();
	raise_descriptor_limit();
	err = daemon_start(&daemon, config, why);
	daemon.bound = daemon.listeners;
	if (!err)
		err = serve(&daemon, config, why);
	if (err) {
		log_error("%s", why);
		return daemon.status = err == -EBADMSG ? EX_CONFIG : EXIT_FAILURE;
	}
	listening_log(&daemon.bound, config, access);
	if (notify_send("READY=1") < 0)
		log_warning(
			"cannot notify the service manager that profd is ready; profd continues");
	upkeep_tell(&daemon.upkeep);
	uv_run(&daemon.loop, UV_RUN_DEFAULT);
	return EXIT_SUCCESS;
}
