/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
#include "tests/cuda_helper/heard.h"

#include <check.h>
#include <pthread.h>
#include <string.h>

enum { MAX_CORRELATION = 1 << 20 };

struct heard heard;
static bool told[MAX_CORRELATION];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

bool tell_heard(void)
{
	return __atomic_load_n(&heard.listening, __ATOMIC_ACQUIRE);
}

void heard_forget(void)
{
	pthread_mutex_lock(&lock);
	memset(told, 0, sizeof(told));
	memset(heard.names, 0, sizeof(heard.names));
	heard.launched = heard.unknown = 0;
	pthread_mutex_unlock(&lock);
}

void heard_listen(bool on)
{
	__atomic_store_n(&heard.listening, on, __ATOMIC_RELEASE);
}

void tell_launched(uint64_t correlation)
{
	pthread_mutex_lock(&lock);
	ck_assert_uint_lt(correlation, MAX_CORRELATION);
	ck_assert(!told[correlation]);
	told[correlation] = true;
	heard.launched++;
	pthread_mutex_unlock(&lock);
}

void tell_ran(const struct told_kernels *ran)
{
	size_t at = 0;

	pthread_mutex_lock(&lock);
	ck_assert_uint_lt(ran->correlation, MAX_CORRELATION);
	heard.unknown += ran->correlation && !told[ran->correlation];
	while (heard.names[at].name && strcmp(heard.names[at].name, ran->name) != 0)
		at++;
	ck_assert_uint_lt(at, HEARD_NAMES - 1);
	heard.names[at].name = ran->name;
	heard.names[at].told++;
	heard.names[at].kernels += ran->kernels * ran->weight;
	heard.names[at].ns += ran->ns * ran->weight;
	pthread_mutex_unlock(&lock);
}

const struct heard_name *heard_name(const char *name)
{
	size_t at = 0;

	while (at < HEARD_NAMES && heard.names[at].name && strcmp(heard.names[at].name, name) != 0)
		at++;
	ck_assert_msg(at < HEARD_NAMES && heard.names[at].name, "%s was not told", name);
	return &heard.names[at];
}
