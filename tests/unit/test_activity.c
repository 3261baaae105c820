/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * How samples become activities, by their labels and the functions of their stacks.
 */
#include "tests/unit/suites.h"
#include "tests/unit/wall_profile.h"

#include "profile/activity.h"

static enum activity one(struct what what, const struct frame *frames)
{
	_cleanup_(activities_release) struct activities activities = {0};
	_cleanup_(profile_unrefp) struct profile *profile = NULL;
	struct builder *builder = begin();

	add(builder, what, frames, 1, MS);
	profile = seal(builder);
	ck_assert_int_eq(activities_find(profile, &activities), 0);
	return activity_of(&activities, profile, &profile->samples[1]);
}

START_TEST(tells_running_threads)
{
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"))), ACTIVITY_user);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("vfs_read"))), ACTIVITY_kernel);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("asm_exc_page_fault"),
	                                     KERNEL("clear_page_erms"))),
	                 ACTIVITY_fault);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), KERNEL("tcp_sendmsg"))),
	                 ACTIVITY_network_code);
	/* A user's function cannot pass for one of the kernel. */
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("tcp_sendmsg"), KERNEL("vfs_read"))),
	                 ACTIVITY_kernel);
	ck_assert_int_eq(one(RUNNING, FRAMES(USER("main"), USER("cuStreamSynchronize"))),
	                 ACTIVITY_gpu_code);
	ck_assert_int_eq(one((struct what){1, "runnable", "", ""}, FRAMES(USER("main"))),
	                 ACTIVITY_runnable);
}
END_TEST

START_TEST(tells_waits)
{
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("pthread_mutex_lock"))), ACTIVITY_lock);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("park"))), ACTIVITY_thread);
	ck_assert_int_eq(one(SLEEP("futex"),
	                     FRAMES(USER("ObjectMonitor::enter"), USER("pthread_cond_wait"))),
	                 ACTIVITY_lock);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("take_gil"), USER("pthread_cond_wait"))),
	                 ACTIVITY_gil);
	ck_assert_int_eq(one(SLEEP("poll"), FRAMES(USER("sock_call_impl"), USER("poll"))),
	                 ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("other"), FRAMES(USER("f"), KERNEL("flock_lock_inode_wait"))),
	                 ACTIVITY_lock);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(USER("f"), KERNEL("sock_recvmsg"),
	                                             KERNEL("unix_stream_recvmsg"))),
	                 ACTIVITY_process);
	ck_assert_int_eq(one((struct what){1, "sleep", "futex", "waiting"},
	                     FRAMES(USER("pthread_cond_timedwait"))),
	                 ACTIVITY_gil);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(USER("recv"))), ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("read"), FRAMES(USER("read"), KERNEL("sock_read_iter"))),
	                 ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("read"), FRAMES(USER("read"), KERNEL("anon_pipe_read"))),
	                 ACTIVITY_process);
	ck_assert_int_eq(one(SLEEP("wait4"), FRAMES(USER("wait"))), ACTIVITY_process);
	ck_assert_int_eq(one(SLEEP("nanosleep"), FRAMES(USER("sleep"))), ACTIVITY_sleep);
	ck_assert_int_eq(one((struct what){1, "disk", "read", ""}, FRAMES(USER("pread"))),
	                 ACTIVITY_disk);
	ck_assert_int_eq(one((struct what){1, "disk", "other", ""},
	                     FRAMES(USER("mmap"), KERNEL("rwsem_down_write_slowpath"))),
	                 ACTIVITY_lock);
	ck_assert_int_eq(one((struct what){1, "unknown", "", ""}, FRAMES(USER("[unknown: x]"))),
	                 ACTIVITY_unknown);
}
END_TEST

#define POOL "/usr/lib/python3.11/concurrent/futures/thread.py"

START_TEST(tells_waiting_for_work)
{
	ck_assert_int_eq(one(SLEEP("poll"), FRAMES(USER("epoll_wait"))), ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(USER("accept4"))), ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("worker"), USER("pthread_cond_wait"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(
		one(SLEEP("futex"), FRAMES(USER("runtime.mstart"), USER("runtime.findRunnable"))),
		ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"),
	                     FRAMES(PYTHON("Condition.wait", "/usr/lib/python3.11/threading.py"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(PYTHON("Thread.join", "/x/threading.py"),
	                                            USER("PyThread_acquire_lock_timed"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("other"), FRAMES(USER("f"), KERNEL("do_sigtimedwait"))),
	                 ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(USER("[unknown: wait not sampled]"),
	                                            USER("__futex_abstimed_wait_common64"))),
	                 ACTIVITY_work);
	/* What a pool's thread works on does not wait for work. */
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(PYTHON("_worker", POOL))), ACTIVITY_work);
	ck_assert_int_eq(one(SLEEP("socket"), FRAMES(PYTHON("_worker", POOL), USER("call"),
	                                             PYTHON("fetch", "/a.py"), USER("recv"))),
	                 ACTIVITY_network);
	ck_assert_int_eq(one(SLEEP("futex"),
	                     FRAMES(PYTHON("_worker", POOL), USER("call"), PYTHON("take", "/a.py"),
	                            USER("PyThread_acquire_lock_timed"))),
	                 ACTIVITY_lock);
	/* Somebody else's wait(). */
	ck_assert_int_eq(one(SLEEP("futex"), FRAMES(PYTHON("Lock.wait", "/home/locks.py"))),
	                 ACTIVITY_thread);
	/* CPython up to 3.10 sleeps by select(). */
	ck_assert_int_eq(one(SLEEP("poll"), FRAMES(USER("time_sleep"), USER("select"))),
	                 ACTIVITY_sleep);
}
END_TEST

#define LOOP   PYTHON("BaseEventLoop._run_once", "/usr/lib/python3.11/asyncio/base_events.py")
#define SELECT PYTHON("EpollSelector.select", "/usr/lib/python3.11/selectors.py")
#define UVLOOP PYTHON("Runner.run", "/usr/lib/python3.11/asyncio/runners.py")

/* Whether the sample is left out where tasks are shown. */
static bool is_idle_loop(struct what what, const struct frame *frames)
{
	struct builder *builder = begin();
	bool is_left_out;

	add(builder, what, frames, 1, MS);
	ck_assert_int_eq(activities_leave_out(builder, &(struct selection){.tasks = true}), 0);
	is_left_out = builder_view(builder)->sample_count == 1;
	builder_free(builder);
	return is_left_out;
}

START_TEST(leaves_out_idle_event_loops)
{
	ck_assert(is_idle_loop(SLEEP("poll"),
	                       FRAMES(USER("main"), UVLOOP, LOOP, SELECT, USER("epoll_wait"))));
	ck_assert(is_idle_loop(SLEEP("poll"), FRAMES(USER("main"), UVLOOP, USER("uv__io_poll"))));
	/* It runs, or wants to. */
	ck_assert(!is_idle_loop(RUNNING, FRAMES(UVLOOP, LOOP, SELECT)));
	ck_assert(!is_idle_loop((struct what){1, "runnable", "poll", ""},
	                        FRAMES(UVLOOP, LOOP, SELECT)));
	/* A task waits, and the loop with it. */
	ck_assert(!is_idle_loop(SLEEP("poll"), FRAMES(UVLOOP, LOOP, PYTHON("f", "/a.py"))));
	ck_assert(!is_idle_loop(SLEEP("poll"), FRAMES(UVLOOP, LOOP, PYTHON("f", "/a.py"), SELECT)));
	ck_assert(!is_idle_loop(SLEEP("poll"), FRAMES(UVLOOP, PYTHON("f", "/a.py"), USER("poll"))));
	/* No loop of asyncio. */
	ck_assert(
		!is_idle_loop(SLEEP("poll"), FRAMES(PYTHON("serve", "/socketserver.py"), SELECT)));
}
END_TEST

Suite *activity_suite(void)
{
	Suite *suite = suite_create("activity");
	TCase *tcase = tcase_create("activity");

	tcase_add_test(tcase, tells_running_threads);
	tcase_add_test(tcase, tells_waits);
	tcase_add_test(tcase, tells_waiting_for_work);
	tcase_add_test(tcase, leaves_out_idle_event_loops);
	suite_add_tcase(suite, tcase);
	return suite;
}
