/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * struct symbolizer: each kind of location gets one truthful name.
 */
#include "symbolize/symbolize.h"
#include "base/buf.h"
#include "profile/kernel_place.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/mortal.h"
#include "tests/unit/open_mapped.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <string.h>

extern const char __executable_start; /* defined by the linker */

static struct store *store;
static struct symbolizer *symbolizer;
static struct builder *builder;
static uint32_t object_id;

static void set_up(void)
{
	struct elf_image image;
	char path[64];

	elf_image_init(&image, 1);
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	store = store_new(10);
	symbolizer = symbolizer_new(&(struct symbolizer_config){
		.store = store, .program = "/proc/self/exe", .max_bytes = 64 << 20});
	builder = builder_new();
	object_id = open_named(store, path)->id;
}

static void tear_down(void)
{
	builder_free(builder);
	symbolizer_free(symbolizer);
	store_free(store);
}

static uint32_t add_location(const char *path, enum mapping_kind kind, uint32_t object,
                             uint64_t address)
{
	const struct mapping mapping = {
		.path = builder_text(builder, path), .kind = kind, .object = object};

	return builder_location(builder, builder_mapping(builder, &mapping), address);
}

static const struct function *function_of(uint32_t id)
{
	const struct profile *profile = builder_view(builder);
	const struct location *location = &profile->locations[id];

	ck_assert_uint_eq(location->line_count, 1);
	return &profile->functions[profile->lines[location->first_line].function];
}

static const char *name_of(uint32_t id)
{
	return profile_string(builder_view(builder), function_of(id)->name);
}

static const char *mapping_of(uint32_t id)
{
	const struct profile *profile = builder_view(builder);

	return profile_string(profile, profile->mappings[profile->locations[id].mapping].path);
}

START_TEST(files)
{
	uint32_t plain = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);
	uint32_t mangled = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401045);
	uint32_t nowhere = add_location("/opt/prog", MAPPING_FILE, object_id, 0x402abc);
	uint32_t evicted = add_location("/lib/libfoo.so", MAPPING_FILE, 999, 0x1a2b);
	uint32_t unopened = add_location("/lib/libfoo.so", MAPPING_FILE, 0, 0x10);
	uint32_t vdso = add_location("[vdso]", MAPPING_FILE, 0, 0x20);
	uint32_t nameless = add_location("", MAPPING_FILE, 0, 0x30);

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(plain), "plain");
	ck_assert_uint_eq(function_of(plain)->system_name, 0);
	ck_assert_uint_eq(function_of(plain)->filename, 0);
	ck_assert_str_eq(name_of(mangled), "foo::bar(int)");
	ck_assert_str_eq(profile_string(builder_view(builder), function_of(mangled)->system_name),
	                 "_ZN3foo3barEi");
	ck_assert_str_eq(name_of(nowhere), "[prog+0x402abc]");
	ck_assert_uint_eq(function_of(nowhere)->system_name, 0);
	ck_assert_str_eq(name_of(evicted), "[libfoo.so+0x1a2b]");
	ck_assert_str_eq(name_of(unopened), "[libfoo.so+0x10]");
	ck_assert_str_eq(name_of(vdso), "[vdso+0x20]");
	ck_assert_str_eq(name_of(nameless), "[unknown+0x30]");
}
END_TEST

enum { TICKET = 1U << 31 | 7 };

/* The comment before the last `back` ones. */
static const char *comment_at(uint32_t back)
{
	const struct profile *profile = builder_view(builder);

	return profile->comment_count > back
	               ? profile_string(profile,
	                                profile->comments[profile->comment_count - 1 - back])
	               : "";
}

static const char *last_comment(void)
{
	return comment_at(0);
}

/* Sampled before the file was open: locations are file offsets; the file's own addresses start at
 * 0x400000. */
START_TEST(files_that_are_opened_later)
{
	store_begin_ticket(store, TICKET, 0);
	store_want_ticket(store, TICKET);
	uint32_t early = add_location("/opt/prog", MAPPING_FILE, TICKET, 0x1010);
	uint32_t never = add_location("/opt/other", MAPPING_FILE, TICKET + 1, 0x10);

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(early), "[prog+0x1010]");
	ck_assert_str_eq(name_of(never), "[other+0x10]");
	ck_assert_str_eq(comment_at(1), "names of 1 files are not ready yet: ask again later");
	ck_assert_str_eq(last_comment(), "names of 1 files could not be read");
	/* The next profile. */
	builder_free(builder);
	builder = builder_new();
	store_redeem_ticket(store, TICKET, object_id);
	uint32_t mangled = add_location("/opt/prog", MAPPING_FILE, TICKET, 0x1045);
	early = add_location("/opt/prog", MAPPING_FILE, TICKET, 0x1010);
	uint32_t outside = add_location("/opt/prog", MAPPING_FILE, TICKET, 1 << 30);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(early), "plain");
	ck_assert_str_eq(name_of(mangled), "foo::bar(int)");
	ck_assert_str_eq(name_of(outside), "[prog+0x40000000]");
	ck_assert_str_eq(last_comment(), "names of 1 files could not be read");
}
END_TEST

/* Adds a launch of the kernel, and its frame. */
static uint32_t add_kernel(const char *name, uint32_t *ret_task)
{
	const struct task task = {.pid = 1, .kernel = kernel_label(builder, name)};
	uint32_t id = kernel_location(builder, name);

	*ret_task = builder_task(builder, &task);
	builder_sample(builder, builder_node(builder, 0, id), *ret_task,
	               (uint64_t[PROFILE_VALUES]){1});
	return id;
}

static const char *label_of(uint32_t task)
{
	const struct profile *profile = builder_view(builder);

	return profile_string(profile, profile->tasks[task].kernel);
}

START_TEST(kernels_of_gpus)
{
	uint32_t task, plain_task, dead_task;
	uint32_t kernel = add_kernel("_Z3addPfi", &task);
	uint32_t plain = add_kernel("<kernel 0x1>", &plain_task);
	uint32_t dead = add_kernel("_Z" MORTAL_NAME "v", &dead_task);

	for (int round = 0; round < 2; round++) {
		ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
		ck_assert_str_eq(name_of(kernel), "add(float*, int)");
		ck_assert_str_eq(
			profile_string(builder_view(builder), function_of(kernel)->system_name),
			"_Z3addPfi");
		ck_assert_str_eq(label_of(task), "add(float*, int)");
		ck_assert_str_eq(name_of(plain), "<kernel 0x1>");
		ck_assert_str_eq(label_of(plain_task), "<kernel 0x1>");
		ck_assert_uint_eq(function_of(plain)->system_name, 0);
		/* The name stays as it is. */
		ck_assert_str_eq(name_of(dead), "_Z" MORTAL_NAME "v");
		ck_assert_str_eq(label_of(dead_task), "_Z" MORTAL_NAME "v");
		ck_assert_uint_eq(function_of(dead)->system_name, 0);
	}
}
END_TEST

/* An interpreted function may have any name, and keeps it. */
START_TEST(no_linkers_names)
{
	uint32_t kernel = add_location("[kernel]", MAPPING_KERNEL, 0, 0x10);
	uint32_t script = add_location("/opt/x.py", MAPPING_PSEUDO, 0, 0x10);
	const struct function function = {.name = builder_text(builder, "_Z3foov")};

	builder_line(builder, kernel, builder_function(builder, &function), 0);
	builder_line(builder, script, builder_function(builder, &function), 0);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(kernel), "foo()");
	ck_assert_str_eq(name_of(script), "_Z3foov");
}
END_TEST

START_TEST(pseudo)
{
	uint32_t anon = add_location("[anon]", MAPPING_PSEUDO, 0, 0x10);
	uint32_t same = add_location("[anon]", MAPPING_PSEUDO, 0, 0x20);
	uint32_t none = builder_location(builder, 0, 0x30);

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(anon), "[anon]");
	ck_assert_ptr_eq(function_of(anon), function_of(same));
	ck_assert_str_eq(name_of(none), "[unknown]");
}
END_TEST

START_TEST(named_ones_stay)
{
	const struct function function = {.name = builder_text(builder, "already")};
	uint32_t named = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);

	builder_line(builder, named, builder_function(builder, &function), 12);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(named), "already");
}
END_TEST

/* The address in the first line of /proc/kallsyms that ends like this, or 0. */
static uint64_t kernel_address(const char *end)
{
	_cleanup_free_ char *line = NULL;
	unsigned long address = 0;
	size_t size = 0;
	FILE *file = fopen("/proc/kallsyms", "re");

	while (file && getline(&line, &size, file) > 0) {
		size_t len = strcspn(line, "\n"), end_len = strlen(end);
		if (len > end_len && !strncmp(line + len - end_len, end, end_len) &&
		    strchr("tT", line[17]) && sscanf(line, "%lx", &address) == 1)
			break;
	}
	if (file)
		fclose(file);
	return address;
}

START_TEST(kernel)
{
	uint64_t known = kernel_address(" vfs_read");
	uint64_t in_module = kernel_address("]");
	uint32_t low = add_location("[kernel]", MAPPING_KERNEL, 0, 0x1000);
	uint32_t vfs_read = add_location("[kernel]", MAPPING_KERNEL, 0, known + 4);
	uint32_t module =
		add_location("[kernel]", MAPPING_KERNEL, 0, in_module ? in_module : 0x2000);

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	if (!known) {
		ck_assert_str_eq(name_of(low), "[kernel]");
		ck_assert_str_eq(name_of(vfs_read), "[kernel]");
		ck_assert_uint_eq(builder_view(builder)->comment_count, 2);
		return;
	}
	ck_assert_str_eq(name_of(low), "[kernel+0x1000]");
	ck_assert_str_eq(name_of(vfs_read), "vfs_read");
	ck_assert_str_eq(mapping_of(vfs_read), "[kernel]");
	ck_assert_uint_eq(builder_view(builder)->comment_count, 1);
	if (in_module) {
		ck_assert_str_ne(mapping_of(module), "[kernel]");
		ck_assert_int_eq(mapping_of(module)[0], '[');
	}
}
END_TEST

/* The same in another profile. */
static void run_again(uint32_t object, uint64_t address)
{
	builder_free(builder);
	builder = builder_new();
	add_location("/opt/unit", MAPPING_FILE, object, address);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
}

/* Lines of this program, from its own DWARF. */
START_TEST(source_lines)
{
	uint64_t base = (uint64_t)(uintptr_t)&__executable_start;
	const struct object *opened = open_named(store, "/proc/self/exe");
	_cleanup_(object_unrefp) struct object *self = store_get(store, opened->id);
	uint64_t address = (uint64_t)(uintptr_t)set_up - base;
	uint32_t id = add_location("/opt/unit", MAPPING_FILE, self->id, address);
	struct source_root root = {.pid = 77};

	ck_assert(!symbolizer_knows_file(symbolizer, __FILE__, NULL, &root));
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(id), "set_up");
	const struct function *function = function_of(id);
	const char *file = profile_string(builder_view(builder), function->filename);
	ck_assert_ptr_nonnull(strstr(file, "tests/unit/test_symbolize.c"));
	ck_assert_uint_gt(function->start_line, 10);
	ck_assert_uint_ge(builder_view(builder)->lines[1].number, function->start_line);
	_cleanup_free_ char *file_copy = strdup(file);
	ck_assert(symbolizer_knows_file(symbolizer, file, NULL, &root));
	ck_assert_uint_eq(root.pid, (uint32_t)getpid());
	ck_assert(!symbolizer_knows_file(symbolizer, "/etc/shadow", NULL, &root));
	ck_assert(!symbolizer_knows_file(symbolizer, "", NULL, &root));
	/* When the process has ended, the daemon's root folder is used. When its pid belongs to a
	 * process with another root, none is. */
	self->pid = INT32_MAX;
	run_again(self->id, address);
	ck_assert(symbolizer_knows_file(symbolizer, file_copy, NULL, &root));
	ck_assert_uint_eq(root.pid, 0);
	self->pid = (uint32_t)getpid();
	self->root.inode++;
	run_again(self->id, address);
	ck_assert(!symbolizer_knows_file(symbolizer, file_copy, NULL, &root));
}
END_TEST

/* The second run asks no reader process. */
START_TEST(remembered)
{
	struct symbolizer_stats first, second;
	uint32_t id = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);
	uint32_t unknown = add_location("/opt/prog", MAPPING_FILE, object_id, 0x402abc);

	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	symbolizer_get_stats(symbolizer, &first);
	/* One request for the debug files, one for the names. */
	ck_assert_uint_eq(first.names.requests, 2);
	ck_assert_uint_eq(first.names.addresses, 2);
	ck_assert_uint_eq(first.known_files, 1);
	ck_assert_uint_gt(first.known_bytes, 0);
	builder_free(builder);
	builder = builder_new();
	id = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);
	unknown = add_location("/opt/prog", MAPPING_FILE, object_id, 0x402abc);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(id), "plain");
	ck_assert_str_eq(name_of(unknown), "[prog+0x402abc]");
	symbolizer_get_stats(symbolizer, &second);
	ck_assert_uint_eq(second.names.requests, 2);
	symbolizer_rest(symbolizer);
}
END_TEST

START_TEST(over_the_bound)
{
	struct symbolizer_stats stats;
	uint32_t id = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);

	symbolizer_free(symbolizer);
	/* Nothing fits, which is not a failure. */
	symbolizer = symbolizer_new(&(struct symbolizer_config){
		.store = store, .program = "/proc/self/exe", .max_bytes = 2});
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	symbolizer_get_stats(symbolizer, &stats);
	ck_assert_uint_eq(stats.known_files, 0);
	(void)id;
}
END_TEST

enum { LARGE_NAMES = 400 };

/* Opens a file of 60 kB whose readable names take 13 MB. */
static uint32_t open_large_names(void)
{
	Elf64_Sym symbols[LARGE_NAMES];
	struct buf names = BUF_INIT;
	struct elf_image image;
	char path[64];

	elf_image_init(&image, 9);
	image.sections[1].sh_offset = sizeof(image);
	image.sections[1].sh_size = sizeof(symbols);
	buf_add_char(&names, '\0');
	for (unsigned int i = 0; i < LARGE_NAMES; i++) {
		symbols[i] = image.symbols[1];
		symbols[i].st_name = (Elf64_Word)names.len;
		symbols[i].st_value = 0x401000 + i * 4;
		symbols[i].st_size = 4;
		buf_printf(&names, "_Z4f%03uSt4pairIiiES_IS0_S0_E", i);
		for (unsigned int twice = 1; twice < 9; twice++)
			buf_printf(&names, "S_IS%u_S%u_E", twice, twice);
		buf_add_char(&names, '\0');
	}
	image.sections[2].sh_offset = sizeof(image) + sizeof(symbols);
	image.sections[2].sh_size = names.len;
	_cleanup_close_ int fd = elf_image_fd(&image, sizeof(image));
	ck_assert_int_eq(write(fd, symbols, sizeof(symbols)), (ssize_t)sizeof(symbols));
	ck_assert_int_eq(write(fd, names.data, names.len), (ssize_t)names.len);
	buf_release(&names);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open_named(store, path)->id;
}

static void remember_little(void)
{
	symbolizer_free(symbolizer);
	symbolizer = symbolizer_new(&(struct symbolizer_config){
		.store = store, .program = "/proc/self/exe", .max_bytes = 16 << 20});
}

/* The memory for a file's readable names is bounded. Names beyond the bound stay mangled. */
START_TEST(large_names)
{
	uint32_t object = open_large_names(), first, last = 0, other;

	remember_little();
	first = add_location("/opt/large", MAPPING_FILE, object, 0x401000);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_int_eq(strncmp(name_of(first), "f000(std::pair<", 15), 0);
	for (unsigned int i = 1; i < LARGE_NAMES; i++)
		last = add_location("/opt/large", MAPPING_FILE, object, 0x401000 + i * 4);
	other = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_uint_lt(builder_memory(builder), 16 << 20);
	ck_assert_int_eq(strncmp(name_of(first + 1), "f001(std::pair<", 15), 0);
	ck_assert_int_eq(strncmp(name_of(last), "_Z4f399St4pairIiiE", 18), 0);
	ck_assert_str_eq(name_of(other), "plain");
	ck_assert_uint_eq(builder_view(builder)->comment_count, 1);
}
END_TEST

/* Source files that came together with a name are known. */
START_TEST(told_files_are_known)
{
	uint32_t id = add_location("[python 3.11]", MAPPING_INTERPRETED, 0, 0x77);
	struct source_root root = {0};
	struct function function = {.name = builder_text(builder, "f"),
	                            .filename = builder_text(builder, "/srv/app.py")};
	struct task task = {.pid = 42, .began_boot_ns = 4711};

	builder_line(builder, id, builder_function(builder, &function), 3);
	builder_sample(builder, builder_node(builder, 0, id), builder_task(builder, &task),
	               (uint64_t[PROFILE_VALUES]){1});
	ck_assert(!symbolizer_knows_file(symbolizer, "/srv/app.py", NULL, &root));
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert(symbolizer_knows_file(symbolizer, "/srv/app.py", NULL, &root));
	ck_assert_uint_eq(root.pid, 42);
	ck_assert(root.is_told);
	ck_assert_uint_eq(root.began_boot_ns, 4711);
	ck_assert(!symbolizer_knows_file(symbolizer, "/srv/other.py", NULL, &root));
	ck_assert_str_eq(name_of(id), "f");
}
END_TEST

/* Without a reader process there are no names, and a comment says so. */
START_TEST(no_names_process)
{
	uint32_t id = add_location("/opt/prog", MAPPING_FILE, object_id, 0x401010);

	symbolizer_free(symbolizer);
	symbolizer = symbolizer_new(&(struct symbolizer_config){
		.store = store, .program = "/nonexistent", .max_bytes = 64 << 20});
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	ck_assert_str_eq(name_of(id), "[prog+0x401010]");
	ck_assert_uint_eq(builder_view(builder)->comment_count, 2);
}
END_TEST

START_TEST(empty)
{
	ck_assert_int_eq(symbolizer_run(symbolizer, builder), 0);
	symbolizer_free(NULL);
}
END_TEST

Suite *symbolize_suite(void)
{
	Suite *suite = suite_create("symbolize");
	TCase *tcase = tcase_create("symbolize");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, files);
	tcase_add_test(tcase, files_that_are_opened_later);
	tcase_add_test(tcase, kernels_of_gpus);
	tcase_add_test(tcase, no_linkers_names);
	tcase_add_test(tcase, pseudo);
	tcase_add_test(tcase, named_ones_stay);
	tcase_add_test(tcase, kernel);
	tcase_add_test(tcase, source_lines);
	tcase_add_test(tcase, remembered);
	tcase_add_test(tcase, over_the_bound);
	tcase_add_test(tcase, large_names);
	tcase_add_test(tcase, told_files_are_known);
	tcase_add_test(tcase, no_names_process);
	tcase_add_test(tcase, empty);
	tcase_set_timeout(tcase, 30);
	suite_add_tcase(suite, tcase);
	return suite;
}
