/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of unit test suites, written once: tests/unit/test_NAME.c defines NAME_suite(), main.c
 * runs all.
 */
#pragma once

#include <check.h>

#define SUITES(SUITE)          \
	SUITE(buf)             \
	SUITE(text)            \
	SUITE(clean)           \
	SUITE(shares)          \
	SUITE(lane)            \
	SUITE(reader)          \
	SUITE(nvml)            \
	SUITE(filter)          \
	SUITE(symtab)          \
	SUITE(elf)             \
	SUITE(object)          \
	SUITE(store)           \
	SUITE(kallsyms)        \
	SUITE(demangle)        \
	SUITE(symbolize)       \
	SUITE(builder)         \
	SUITE(select)          \
	SUITE(quality)         \
	SUITE(recorder)        \
	SUITE(history)         \
	SUITE(pprof)           \
	SUITE(perfetto)        \
	SUITE(folded)          \
	SUITE(text_table)      \
	SUITE(query)           \
	SUITE(doctor)          \
	SUITE(heap_query)      \
	SUITE(gpu_view)        \
	SUITE(cpu_timeline)    \
	SUITE(page)            \
	SUITE(host_name)       \
	SUITE(members)         \
	SUITE(peer)            \
	SUITE(crowd)           \
	SUITE(maps)            \
	SUITE(identity)        \
	SUITE(procs)           \
	SUITE(memory_figures)  \
	SUITE(control_group)   \
	SUITE(memory_reader)   \
	SUITE(memory_growth)   \
	SUITE(timeline)        \
	SUITE(near_limit)      \
	SUITE(memory_points)   \
	SUITE(records)         \
	SUITE(perf)            \
	SUITE(server)          \
	SUITE(listening)       \
	SUITE(config)          \
	SUITE(settings)        \
	SUITE(web_config)      \
	SUITE(passwords)       \
	SUITE(cfi)             \
	SUITE(frame_section)   \
	SUITE(ehframe)         \
	SUITE(elf_sections)    \
	SUITE(pool)            \
	SUITE(table)           \
	SUITE(unwinder)        \
	SUITE(follow)          \
	SUITE(op)              \
	SUITE(table_build)     \
	SUITE(table_wire)      \
	SUITE(tables)          \
	SUITE(spaces)          \
	SUITE(debugfile)       \
	SUITE(tables_again)    \
	SUITE(known_files)     \
	SUITE(fetch)           \
	SUITE(wire)            \
	SUITE(names)           \
	SUITE(names_process)   \
	SUITE(names_hostile)   \
	SUITE(named_file)      \
	SUITE(mangled)         \
	SUITE(readable)        \
	SUITE(source_text)     \
	SUITE(function_bounds) \
	SUITE(debugdata)       \
	SUITE(gopclntab)       \
	SUITE(elf_plt)         \
	SUITE(debugfile_roots) \
	SUITE(dwarf_lines)     \
	SUITE(drain)           \
	SUITE(python_codes)    \
	SUITE(python_lines)    \
	SUITE(python_text)     \
	SUITE(descent)         \
	SUITE(told_files)      \
	SUITE(python_build)    \
	SUITE(python_loop)     \
	SUITE(pythons)         \
	SUITE(heap_table)      \
	SUITE(gpu_ends)        \
	SUITE(gpu_sums)        \
	SUITE(gpu_live)        \
	SUITE(gpu_users)       \
	SUITE(gpu_feeds)       \
	SUITE(gpu_feeds_ends)  \
	SUITE(gpu_rows)        \
	SUITE(kernels)         \
	SUITE(gpu_kernels)     \
	SUITE(heap_price)      \
	SUITE(heap_draw)       \
	SUITE(heap_code)       \
	SUITE(gpu_sites)       \
	SUITE(heap_allocators) \
	SUITE(heap_search)     \
	SUITE(usdt)            \
	SUITE(watchdog)

#define SUITE(name) Suite *name##_suite(void);
SUITES(SUITE)
#undef SUITE
