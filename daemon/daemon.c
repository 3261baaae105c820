/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Wires everything together. Addresses are bound first, because that fails most often and is
 * cheapest to undo; the kernel half is loaded next; HTTP is answered once samples come in.
 */
#include "daemon.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/source.h"
#include "guard.h"
#include "http/handed.h"
#include "http/server.h"
#include "notify.h"
#include "policies.h"
#include "privileges.h"
#include "report.h"
#include "watchdog.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sysexits.h>
#include <unistd.h>

/* Slices of the history are merged over this time. */
static const uint64_t window_ns = 10 * NSEC_PER_SEC;
/* Not yet those of the last minute, which is what people ask for. */
static const uint64_t fine_ns = 60 * NSEC_PER_SEC;

/* How often it is looked whether something is held that nobody asks for. */
static const uint64_t rest_ms = 20 * 1000;
/* How long the end waits for the workers: somebody counts a second. */
static const uint64_t patience_ms = 600;

struct daemon {
	uv_loop_t loop;
	uv_signal_t terminate, interrupt, hangup;
	uv_timer_t rest, patience;
	struct job resting; /* on the render lane, one at a time */
	bool resting_now;
	struct listeners listeners; /* until the server takes them over */
	struct listeners bound;     /* their names */
	struct lane *render, *passwords;
	struct store *store;
	struct procs *procs;
	struct history *history;
	struct fetch *fetch;
	struct symbolizer *symbolizer;
	struct collector *collector;
	struct server *server;
	struct utsname host;
	struct privileges privileges;
	struct watchdog watchdog;
	struct report report;
	struct config *config;
	struct policies policies;
	struct access *access; /* not ours */
	uint64_t start_mono_ns;
	bool loop_open, stopping;
	int status; /* of exit, should the end not be waited for */
};

/* A worker is still reading a large file, or waits for a file system that does not answer. It holds
 * nothing that the end of the process does not give back. */
static void on_impatience(uv_timer_t *timer)
{
	struct daemon *daemon = timer->data;

	listeners_release(&daemon->listeners);
	_exit(daemon->status);
}

/* Idempotent: a second signal, or a failed start, finds less to do. */
static void daemon_stop(struct daemon *daemon)
{
	if (daemon->stopping)
		return;
	daemon->stopping = true;
	server_stop(daemon->server);
	policies_stop(&daemon->policies);
	if (daemon->collector)
		collector_stop(daemon->collector);
	if (daemon->render)
		lane_stop(daemon->render);
	if (daemon->passwords)
		lane_stop(daemon->passwords);
	/* Its job is waited for, but nobody waits for its answer. */
	if (daemon->symbolizer)
		symbolizer_cancel(daemon->symbolizer);
	uv_close((uv_handle_t *)&daemon->terminate, NULL);
	uv_close((uv_handle_t *)&daemon->interrupt, NULL);
	uv_close((uv_handle_t *)&daemon->rest, NULL);
	uv_timer_start(&daemon->patience, on_impatience, patience_ms, 0);
}

static void on_signal(uv_signal_t *handle, int signal)
{
	log_info("stopping on %s", signal == SIGINT ? "SIGINT" : "SIGTERM");
	notify_send("STOPPING=1");
	daemon_stop(handle->data);
}

static void set_log_level(const struct config *config)
{
	log_set_level(config->verbose ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO);
}

static void on_changed(const struct config *config, void *ctx)
{
	struct daemon *daemon = ctx;

	set_log_level(config);
	history_resize(daemon->history, config->history_bytes);
	collector_resize(daemon->collector, config->history_bytes / HISTORY_SHARES);
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

/* Each connection and each executable takes a descriptor. */
static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_warning("cannot raise the limit of open files: %s, going on with what there is",
		            strerror(errno));
}

/* Naming and building tables take much memory for a short time. Left alone, the allocator learns to
 * keep it. */
static void keep_memory_small(void)
{
	const int large = 128 * 1024;

	mallopt(M_MMAP_THRESHOLD, large);
	mallopt(M_TRIM_THRESHOLD, large);
}

static struct daemon *daemon_of_job(struct job *job)
{
	return (struct daemon *)((char *)job - offsetof(struct daemon, resting));
}

/* On the render lane, where the symbolizer lives. */
static void run_rest(struct job *job)
{
	symbolizer_rest(daemon_of_job(job)->symbolizer);
}

static void on_rested(struct job *job)
{
	daemon_of_job(job)->resting_now = false;
}

static void tell_status(struct daemon *daemon)
{
	char line[REPORT_BYTES];

	if (!notify_wanted())
		return;
	report_write(&daemon->report, line);
	notify_send("STATUS=%s", line);
}

static void on_rest(uv_timer_t *timer)
{
	struct daemon *daemon = timer->data;

	tell_status(daemon);
	if (!daemon->resting_now)
		daemon->resting_now = lane_submit(daemon->render, &daemon->resting) == 0;
}

static int open_loop(struct daemon *daemon)
{
	int err;

	/* One each for rendering, unwind tables, looking for Python, heap probes, reading how much
	 * memory is used, checking passwords and looking up who is in the group; one so that
	 * nothing of libuv's own waits behind them. */
	setenv("UV_THREADPOOL_SIZE", "8", 0);
	err = uv_loop_init(&daemon->loop);
	if (err)
		return err;
	daemon->loop_open = true;
	uv_signal_init(&daemon->loop, &daemon->terminate);
	uv_signal_init(&daemon->loop, &daemon->interrupt);
	uv_signal_init(&daemon->loop, &daemon->hangup);
	uv_timer_init(&daemon->loop, &daemon->rest);
	uv_timer_init(&daemon->loop, &daemon->patience);
	/* They do not keep the loop running. SIGHUP is caught until the end, or it would be the
	 * end. */
	uv_unref((uv_handle_t *)&daemon->patience);
	uv_unref((uv_handle_t *)&daemon->hangup);
	daemon->terminate.data = daemon->interrupt.data = daemon->hangup.data = daemon;
	daemon->rest.data = daemon->patience.data = daemon;
	err = uv_signal_start(&daemon->terminate, on_signal, SIGTERM);
	if (!err)
		err = uv_signal_start(&daemon->interrupt, on_signal, SIGINT);
	/* Of a terminal it means that the terminal is gone, and ends us as it always did. */
	if (!err && !isatty(STDIN_FILENO))
		err = uv_signal_start(&daemon->hangup, on_hangup, SIGHUP);
	if (!err)
		err = uv_timer_start(&daemon->rest, on_rest, rest_ms, rest_ms);
	return err;
}

static void open_fetch(struct daemon *daemon, const struct config *config)
{
	int err = config->debuginfod ? fetch_new(config->debuginfod, &daemon->fetch) : 0;

	if (err == -ENOENT)
		log_warning("no libdebuginfod here: debug files are not fetched, going on");
	else if (err)
		log_warning("cannot fetch debug files: %s, going on", strerror(-err));
}

static struct history *open_history(const struct config *config)
{
	const struct recorder_limits limits = {
		.window_ns = window_ns,
		.fine_ns = fine_ns,
		.keep_ns = config->history_ns,
		.max_bytes = config->history_bytes,
	};
	uint32_t shares[KIND_COUNT];

	for (int kind = 0; kind < KIND_COUNT; kind++)
		shares[kind] = sources[kind]->history_share;
	return history_new(&limits, shares, KIND_COUNT, HISTORY_SHARES);
}

static int build_parts(struct daemon *daemon, const struct config *config)
{
	daemon->resting = (struct job){.run = run_rest, .done = on_rested};
	daemon->render = lane_new(&daemon->loop, MAX_RENDER_QUEUE);
	daemon->store = store_new(MAX_OBJECTS);
	daemon->passwords = lane_new(&daemon->loop, MAX_PASSWORD_QUEUE);
	if (!daemon->render || !daemon->passwords || !daemon->store)
		return -ENOMEM;
	daemon->procs = procs_new(daemon->store);
	daemon->history = open_history(config);
	return daemon->procs && daemon->history ? 0 : -ENOMEM;
}

/* Fetching files has a thread of its own. */
static int build_names(struct daemon *daemon, const struct config *config)
{
	struct symbolizer_config symbolizer = {
		.store = daemon->store,
		.program = READER_SELF,
		.max_bytes = config->symbol_bytes,
	};

	open_fetch(daemon, config);
	symbolizer.fetch = daemon->fetch;
	daemon->symbolizer = symbolizer_new(&symbolizer);
	return daemon->symbolizer ? 0 : -ENOMEM;
}

static int serve(struct daemon *daemon, const struct config *config, char why[256])
{
	struct service service = {
		.loop = &daemon->loop,
		.collector = daemon->collector,
		.heaps = collector_heaps(daemon->collector),
		.history = daemon->history,
		.procs = daemon->procs,
		.store = daemon->store,
		.symbolizer = daemon->symbolizer,
		.fetch = daemon->fetch,
		.render = daemon->render,
		.policy = &daemon->policies.now,
		.access = daemon->access,
		.passwords = daemon->passwords,
		.host = &daemon->host,
		.capabilities = daemon->privileges.names,
		.start_mono_ns = daemon->start_mono_ns,
		.sample_hz = (uint32_t)config->sample_hz,
		.keep_ns = config->history_ns,
	};

	return server_start(&service, &daemon->listeners, &daemon->server, why);
}

/* Nobody else can say that profd works. */
static void on_drained(void *ctx)
{
	struct daemon *daemon = ctx;

	if (watchdog_progress(&daemon->watchdog, clock_mono_ns()))
		notify_send("WATCHDOG=1");
}

static int attach_collector(struct daemon *daemon, const struct config *config, char why[256])
{
	struct collector_config collector = {
		.loop = &daemon->loop,
		.procs = daemon->procs,
		.store = daemon->store,
		.history = daemon->history,
		.sample_hz = (uint32_t)config->sample_hz,
		.unwind_bytes = config->unwind_bytes,
		.keep_ns = config->history_ns,
		.memory_bytes = config->history_bytes / HISTORY_SHARES,
		.drained = on_drained,
		.ctx = daemon,
	};
	int err = collector_new(&collector, &daemon->collector, why);

	return err ? err : collector_attach(daemon->collector, why);
}

static bool can_drain(void *ctx)
{
	return collector_can_drain(ctx);
}

static int cannot_start(int err, char why[256])
{
	snprintf(why, 256, "cannot start: %s", strerror(-err));
	return err;
}

/* What this thread may do is what the others may that it starts: there is none before it may no
 * more than it must. */
static int start_parts(struct daemon *daemon, const struct config *config, char why[256])
{
	int err = privileges_reduce();

	if (!err)
		err = build_parts(daemon, config);
	if (err)
		return cannot_start(err, why);
	err = attach_collector(daemon, config, why);
	if (err)
		return err;
	err = privileges_settle(can_drain, daemon->collector);
	privileges_get(&daemon->privileges);
	if (!err)
		err = build_names(daemon, config);
	if (!err)
		err = collector_start(daemon->collector);
	if (err)
		return cannot_start(err, why);
	daemon->report = (struct report){
		.config = config,
		.collector = daemon->collector,
		.history = daemon->history,
		.mono_ns = daemon->start_mono_ns,
	};
	return 0;
}

static int open_listeners(struct daemon *daemon, const struct config *config, char why[256])
{
	int err = handed_take(&daemon->listeners, why);

	if (err)
		return err;
	for (size_t i = 0; !err && i < daemon->listeners.count; i++)
		err = guard_address(config, daemon->access, daemon->listeners.at[i].name, why);
	if (err)
		return err;
	if (daemon->listeners.count) {
		log_info("listening on what was handed over, not where the settings say");
		return 0;
	}
	return listeners_open(config->listen, config->listen_count, &daemon->listeners, why);
}

static int daemon_start(struct daemon *daemon, const struct config *config, char why[256])
{
	int err;

	daemon->start_mono_ns = clock_mono_ns();
	uname(&daemon->host);
	watchdog_init(&daemon->watchdog);
	err = open_loop(daemon);
	if (err)
		return cannot_start(err, why);
	err = policies_start(&daemon->policies, &daemon->loop, config, why);
	if (!err)
		err = open_listeners(daemon, config, why);
	return err ? err : start_parts(daemon, config, why);
}

/* The address of the first listener as curl takes it. */
static void log_next_step(const struct listener *listener, const struct access *access)
{
	const char *name = listener->name, *port = strrchr(name, ':');
	char option[160] = "", host[160] = "localhost";

	if (!strncmp(name, "unix:@", 6))
		snprintf(option, sizeof(option), "--abstract-unix-socket %s ", name + 6);
	else if (!strncmp(name, "unix:", 5))
		snprintf(option, sizeof(option), "--unix-socket %s ", name + 5);
	else
		snprintf(host, sizeof(host), "%slocalhost%s", access->tls ? "https://" : "", port);
	if (!listener->path[0] && access->config.user_count)
		snprintf(option, sizeof(option), "-u USER ");
	log_info("try: curl -s %s'%s/profile?seconds=5' -o cpu.pb.gz && go tool pprof -top "
	         "cpu.pb.gz",
	         option, host);
}

static void log_started(const struct listeners *listeners, const struct config *config,
                        const struct access *access)
{
	_cleanup_(buf_release) struct buf names = BUF_INIT;

	for (size_t i = 0; i < listeners->count; i++)
		buf_printf(&names, "%s%s", i ? ", " : "", listeners->at[i].name);
	log_info("profd %s listening on %s, sampling at %llu Hz", PROFD_VERSION, buf_text(&names),
	         (unsigned long long)config->sample_hz);
	log_next_step(&listeners->at[0], access);
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
	if (daemon->collector)
		collector_free(daemon->collector);
	symbolizer_free(daemon->symbolizer);
	fetch_free(daemon->fetch);
	history_free(daemon->history);
	procs_free(daemon->procs);
	store_free(daemon->store);
	lane_free(daemon->render);
	lane_free(daemon->passwords);
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
	log_started(&daemon.bound, config, access);
	if (notify_send("READY=1") < 0)
		log_warning("cannot tell the service manager that profd is ready, going on");
	tell_status(&daemon);
	uv_run(&daemon.loop, UV_RUN_DEFAULT);
	return EXIT_SUCCESS;
}
