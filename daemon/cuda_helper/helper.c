/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * libprofd-cuda.so: CUDA's driver loads it into a program that has CUDA_INJECTION64_PATH set, and
 * calls InitializeInjection() when the program initializes CUDA. From then on a thread checks twice
 * a second whether a profiler listens. While one does, CUPTI is asked for launches and for the
 * times of kernels; otherwise CUPTI is left to others. The library never stops the program from
 * anything: any failure is one line on standard error, and no recording.
 */
#include "cuda_helper/buffers.h"
#include "cuda_helper/counters.h"
#include "cuda_helper/cupti_api.h"
#include "cuda_helper/kernels.h"
#include "cuda_helper/launches.h"
#include "cuda_helper/say.h"
#include "cuda_helper/tell.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	LOOK_MS = 500,
	MAX_SECONDS = 7 * 24 * 3600,
	STACK_BYTES = 1 << 20, /* CUPTI may return buffers on the helper's thread */
	NS_PER_S = 1000 * 1000 * 1000,
	END_SECONDS = 1, /* longest wait at the program's exit */
};

EXPORT struct cuda_counters profd_cuda_counters;
EXPORT int InitializeInjection(void);

static struct {
	struct cupti cupti;
	bool loaded;
	bool gave_up;     /* until no profiler listens; another subscriber may have left by then */
	int said;         /* the last result that was explained on standard error */
	void *subscriber; /* while recording */
	bool recording;
	long seconds; /* longest recording; 0: as long as a profiler listens */
	time_t started;
	pthread_mutex_t turn; /* held while calling CUPTI; kept from the program's exit on */
	bool forked;          /* this is a child process, without the helper's thread */
} helper = {.turn = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP, .said = CUPTI_OK};

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* ---- CUPTI --------------------------------------------------------------------------------- */

static int subscribe(char *other, size_t other_bytes)
{
	struct cupti_subscription subscription = {
		.bytes = sizeof(subscription),
		.name = "profd",
		.other_name = other,
		.other_name_bytes = other_bytes,
		.allow_others = 1,
	};
	const struct cupti *cupti = &helper.cupti;

	if (cupti->many)
		return cupti->Subscribe_v2(&helper.subscriber, launches_called, NULL,
		                           &subscription);
	return cupti->Subscribe(&helper.subscriber, launches_called, NULL);
}

/* Failures are ignored: a function that this CUPTI does not know is not called either. */
static void enable_callbacks(void)
{
#define LAUNCH(in, number, word, graph) \
	helper.cupti.EnableCallback(1, helper.subscriber, CUPTI_##in, number);
	CUPTI_LAUNCHES(LAUNCH)
#undef LAUNCH
}

static int enable_records(void)
{
	const struct cupti *cupti = &helper.cupti;
	int result;

	if (cupti->many)
		result = cupti->ActivityRegisterCallbacks_v2(helper.subscriber, kernels_request_v2,
		                                             kernels_complete_v2);
	else
		result = cupti->ActivityRegisterCallbacks(kernels_request, kernels_complete);
	if (result != CUPTI_OK)
		return result;
	return cupti->many
	               ? cupti->ActivityEnable_v2(helper.subscriber, CUPTI_CONCURRENT_KERNEL, NULL)
	               : cupti->ActivityEnable(CUPTI_CONCURRENT_KERNEL);
}

static void give_up(int result, const char *other)
{
	helper.gave_up = true;
	if (result == helper.said)
		return;
	helper.said = result;
	if (result == CUPTI_HELD_BY_ANOTHER)
		say("libprofd-cuda: kernel durations are not recorded: another profiler%s%s uses "
		    "CUPTI\n",
		    other[0] ? ", " : "", other);
	else
		say("libprofd-cuda: kernel durations are not recorded: CUPTI reports %s (%d)\n",
		    cupti_text(&helper.cupti, result), result);
}

/* Runs at exit, before libcupti is torn down: from then on no thread may be in libcupti or enter
 * it. So the turn is not given back. If this thread has it already, exit() was called from within
 * CUPTI. */
static void on_end(void)
{
	struct timespec until;

	if (helper.forked)
		return;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += END_SECONDS;
	pthread_mutex_timedlock(&helper.turn, &until);
	launches_record(false);
	kernels_record(false);
}

/* An exit handler that is registered after libcupti was loaded runs before libcupti's own. */
static bool load(void)
{
	const char *why_not;

	if (helper.loaded)
		return true;
	why_not = cupti_load(&helper.cupti);
	if (why_not) {
		say("libprofd-cuda: kernel durations are not recorded: %s\n", why_not);
		return false;
	}
	kernels_init(&helper.cupti);
	helper.loaded = atexit(on_end) == 0;
	return helper.loaded;
}

static void start(void)
{
	char other[256] = "";
	int result;

	if (!load()) {
		helper.gave_up = true;
		return;
	}
	result = subscribe(other, sizeof(other));
	if (result != CUPTI_OK) {
		give_up(result, other);
		return;
	}
	kernels_subscriber(helper.subscriber);
	launches_record(true);
	kernels_record(true);
	enable_callbacks();
	result = enable_records();
	if (result != CUPTI_OK) {
		launches_record(false);
		kernels_record(false);
		helper.cupti.Unsubscribe(helper.subscriber);
		give_up(result, "");
		return;
	}
	helper.recording = true;
	if (!helper.started)
		helper.started = now_s();
	count(&profd_cuda_counters.started, 1);
}

/* Records in flight come back and are reported, unless no profiler listens any more. Records of
 * kernels that still run come back without times: otherwise their buffers would be lost. Where
 * there may be other subscribers the flush is not forced, because it would affect their records,
 * too. */
static void stop(void)
{
	const struct cupti *cupti = &helper.cupti;

	launches_record(false);
	if (cupti->many)
		cupti->ActivityDisable_v2(helper.subscriber, CUPTI_CONCURRENT_KERNEL, NULL);
	else
		cupti->ActivityDisable(CUPTI_CONCURRENT_KERNEL);
	cupti->ActivityFlushAll(cupti->many ? 0 : CUPTI_FLUSH_FORCED);
	kernels_record(false);
	cupti->Unsubscribe(helper.subscriber);
	helper.recording = false;
	buffers_shrink();
}

/* ---- when ---------------------------------------------------------------------------------- */

static bool is_wanted(void)
{
	bool is_over =
		helper.seconds && helper.started && now_s() - helper.started >= helper.seconds;
	bool is_heard = tell_heard();

	if (!is_heard && helper.loaded)
		helper.gave_up = false;
	return is_heard && !is_over && !helper.gave_up;
}

static void look(void)
{
	bool wanted;

	if (pthread_mutex_lock(&helper.turn))
		return;
	wanted = is_wanted();
	if (wanted && !helper.recording)
		start();
	else if (!wanted && helper.recording)
		stop();
	else if (helper.recording)
		helper.cupti.ActivityFlushAll(0);
	pthread_mutex_unlock(&helper.turn);
}

/* Waits on a futex, which every program with threads may do, whatever else it has forbidden
 * itself. */
static void pause_a_while(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += LOOK_MS * 1000L * 1000;
	until.tv_sec += until.tv_nsec / NS_PER_S;
	until.tv_nsec %= NS_PER_S;
	pthread_mutex_lock(&lock);
	while (!pthread_cond_clockwait(&never, &lock, CLOCK_MONOTONIC, &until))
		;
	pthread_mutex_unlock(&lock);
}

static void *watch(void *unused)
{
	(void)unused;
	for (;;) {
		pause_a_while();
		look();
	}
	return NULL;
}

/* The child does not have the helper's thread, and CUDA does not work in it. */
static void on_fork(void)
{
	helper.forked = true;
	launches_record(false);
	kernels_record(false);
}

static long asked_seconds(void)
{
	const char *text = secure_getenv("PROFD_CUDA_SECONDS");
	char *end;
	long seconds;

	if (!text)
		return 0;
	seconds = strtol(text, &end, 10);
	if (text[0] >= '0' && text[0] <= '9' && !*end && seconds > 0 && seconds <= MAX_SECONDS)
		return seconds;
	say("libprofd-cuda: PROFD_CUDA_SECONDS must be 1 to %d; 1 is used\n", MAX_SECONDS);
	return 1;
}

/* Blocks signals in threads that are started until they are unblocked, CUPTI's among them: signals
 * are for the program's own threads. Signals that a thread causes itself stay unblocked, whichever
 * thread it is: the program may want to report where it crashed, or handle what a filter of system
 * calls traps. */
static void block_signals(sigset_t *ret_before)
{
	static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
	sigset_t most;

	sigfillset(&most);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		sigdelset(&most, own[i]);
	pthread_sigmask(SIG_BLOCK, &most, ret_before);
}

/* Starts the detached thread. The thread-local data of a program may not fit on a small stack. */
static int start_watching(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int error = pthread_attr_init(&attributes);

	if (error)
		return error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	error = pthread_create(&thread, &attributes, watch, NULL);
	if (error == EINVAL) {
		pthread_attr_setstacksize(&attributes, 8 * STACK_BYTES);
		error = pthread_create(&thread, &attributes, watch, NULL);
	}
	pthread_attr_destroy(&attributes);
	if (!error)
		pthread_setname_np(thread, "profd-cuda");
	return error;
}

static void begin(void)
{
	say_init();
	helper.seconds = asked_seconds();
	if (!launches_init() || pthread_atfork(NULL, NULL, on_fork) || start_watching()) {
		say("libprofd-cuda: kernel durations are not recorded: no thread could be "
		    "started\n");
		return;
	}
	look();
}

/* 1 is success, as in the samples that come with CUPTI. */
int InitializeInjection(void)
{
	static bool called;
	sigset_t before;

	if (__atomic_exchange_n(&called, true, __ATOMIC_ACQ_REL))
		return 1;
	block_signals(&before);
	begin();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return 1;
}
