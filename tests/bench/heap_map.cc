/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/* A map whose entries come and go: it does little but allocate, millions of times a second. */
#include <map>
#include <string>

#include "tests/bench/heap_work.h"

static std::map<unsigned, std::string> entries;
static unsigned state = 1;

static unsigned draw()
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void some()
{
	for (int i = 0; i < 5000; i++) {
		unsigned key = draw() % 20000;
		auto found = entries.find(key);

		if (found != entries.end())
			entries.erase(found);
		else
			entries.emplace(key, std::string(20 + draw() % 100, 'x'));
	}
}

int main(int argc, char **argv)
{
	return work_for(argc, argv, some);
}
