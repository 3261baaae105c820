/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Truth, by argument MODE. A timer signal interrupts interrupted() at any of its instructions; most
 * of the time is spent in the handler:
 *
 *   plain     main, caller, interrupted, the signal frame, on_timer, handler_work
 *   altstack  the same, with the last two on an alternate stack
 *   nested    ... on_timer, send_second, tgkill in libc, the signal frame, on_second, nested_work
 *
 * The rest of the time it is main, caller, interrupted. Runs until killed or for SECONDS.
 */
#include "stacks_work.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

enum { UNIT = 1000 * 1000, HANDLER_UNITS = 8, PERIOD_US = 20 * 1000, ALTSTACK_BYTES = 64 * 1024 };

static volatile sig_atomic_t nested;

static FRAME void nested_work(void)
{
	SPIN(HANDLER_UNITS * UNIT);
}

static FRAME void handler_work(void)
{
	SPIN(HANDLER_UNITS * UNIT);
}

static FRAME void on_second(int number)
{
	HOLD_REGISTERS_ACROSS(nested_work());
	(void)number;
}

static FRAME void send_second(void)
{
	HOLD_REGISTERS_ACROSS(syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1));
}

static FRAME void on_timer(int number)
{
	if (nested)
		send_second();
	else
		HOLD_REGISTERS_ACROSS(handler_work());
	(void)number;
}

static FRAME void interrupted(double stop)
{
	do
		SPIN(UNIT / 100);
	while (seconds_now(CLOCK_MONOTONIC) < stop);
}

static FRAME void caller(double stop)
{
	HOLD_REGISTERS_ACROSS(interrupted(stop));
}

static int handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART | flags};

	return sigaction(number, &action, NULL);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	static char memory[ALTSTACK_BYTES];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct itimerval period = {{0, PERIOD_US}, {0, PERIOD_US}};
	double stop = deadline(argc, argv, 2);

	nested = strcmp(mode, "nested") == 0;
	if (sigaltstack(&stack, NULL) != 0 || handle(SIGUSR1, on_second, 0) != 0 ||
	    handle(SIGALRM, on_timer, strcmp(mode, "altstack") == 0 ? SA_ONSTACK : 0) != 0)
		return 1;
	say_ready();
	if (setitimer(ITIMER_REAL, &period, NULL) != 0)
		return 1;
	caller(stop);
	return 0;
}
