/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * oracle PID STOPS - stops threads of a live process at random moments, walks each stack with the
 * walker and with libdw, and reports where the two differ. See README.md.
 */
#include "tests/bpf/compare.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

struct options {
	pid_t pid;
	size_t stops;
	double agree;  /* percentage below which the exit status is 1 */
	size_t steps;  /* instructions to step by after each stop */
	long pause_us; /* the longest time between two stops */
	unsigned seed;
	bool verbose;
};

static int usage(void)
{
	fprintf(stderr, "usage: oracle PID STOPS [--agree=PERCENT] [--pause-us=N] [--seed=N] "
	                "[--steps=N] [--verbose]\n");
	return 2;
}

static int parse_options(int argc, char **argv, struct options *ret_options)
{
	static const struct option longs[] = {
		{"agree", required_argument, NULL, 'a'}, {"pause-us", required_argument, NULL, 'p'},
		{"seed", required_argument, NULL, 's'},  {"steps", required_argument, NULL, 'i'},
		{"verbose", no_argument, NULL, 'v'},     {0},
	};
	struct options options = {.agree = 99.9, .pause_us = 5000, .seed = 1};
	int option;

	while ((option = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (option == 'a')
			options.agree = strtod(optarg, NULL);
		else if (option == 'p')
			options.pause_us = strtol(optarg, NULL, 10);
		else if (option == 's')
			options.seed = (unsigned)strtoul(optarg, NULL, 10);
		else if (option == 'i')
			options.steps = strtoul(optarg, NULL, 10);
		else if (option == 'v')
			options.verbose = true;
		else
			return -EINVAL;
	}
	if (argc - optind != 2 || options.pause_us <= 0)
		return -EINVAL;
	options.pid = (pid_t)strtol(argv[optind], NULL, 10);
	options.stops = strtoul(argv[optind + 1], NULL, 10);
	if (options.pid <= 0 || options.stops == 0)
		return -EINVAL;
	*ret_options = options;
	return 0;
}

static void print_frame(struct live *live, const char *whose, size_t at, u64 address)
{
	struct spot spot = live_spot(live, address);

	printf("    %s %3zu %016llx %s+0x%llx %s\n", whose, at, (unsigned long long)address,
	       spot.file, (unsigned long long)spot.own, spot.function);
}

static void print_stacks(struct live *live, const struct target *target,
                         const struct walker_result *ours, const struct libdw_stack *libdw)
{
	printf("  thread %d: ours %s, libdw %s\n", target->tid, ours->ended,
	       libdw->complete ? "complete" : libdw->why);
	for (size_t i = 0; i < ours->len; i++)
		print_frame(live, "ours ", i, ours->frames[i]);
	for (size_t i = 0; i < libdw->len; i++)
		print_frame(live, "libdw", i, libdw->frames[i].pc - !libdw->frames[i].exact);
}

/* Waits for a random time, so that stops do not depend on what the threads do. */
static void let_run(const struct options *options)
{
	struct timespec pause = {.tv_nsec = (random() % options->pause_us) * 1000};

	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
}

static int compare(const struct options *options, struct live *live, const struct target *target,
                   struct comparison *comparison)
{
	_cleanup_free_ struct libdw_stack *libdw = malloc(sizeof(*libdw));
	struct walker_result ours;
	int err;

	if (!libdw)
		return -ENOMEM;
	err = live_walk(live, target, &ours, libdw);
	/* If libdw found no frame, it could not even read the registers: the thread was killed in
	 * the meantime. */
	if (!err && libdw->len > 0 && comparison_add(comparison, live, &ours, libdw) != AGREED &&
	    options->verbose)
		print_stacks(live, target, &ours, libdw);
	return err;
}

static int one_stop(const struct options *options, struct live *live, struct comparison *comparison)
{
	struct target target;
	int err = target_stop(options->pid, (uint32_t)random(), &target);

	if (err)
		return err;
	err = compare(options, live, &target, comparison);
	for (size_t i = 0; i < options->steps && !err; i++) {
		/* The thread may have ended while its process goes on. */
		if (target_step(&target))
			return -EAGAIN;
		err = compare(options, live, &target, comparison);
	}
	target_release(&target);
	return err;
}

int main(int argc, char **argv)
{
	_cleanup_(live_freep) struct live *live = NULL;
	_cleanup_(comparison_freep) struct comparison *comparison = comparison_new();
	struct options options;
	int err = 0;

	if (parse_options(argc, argv, &options))
		return usage();
	live = live_new(options.pid);
	if (!live || !comparison)
		return 2;
	srandom(options.seed);
	for (size_t i = 0; i < options.stops && (!err || err == -EAGAIN); i++) {
		err = one_stop(&options, live, comparison);
		let_run(&options);
	}
	if (err && err != -EAGAIN)
		fprintf(stderr, "oracle: ended early: %s\n", strerror(-err));
	comparison_print(comparison, stdout);
	return comparison_stops(comparison) > 0 && comparison_agreement(comparison) >= options.agree
	               ? 0
	               : 1;
}
