/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The list of CUDA's functions, the files that contain them and the places where they are probed,
 * and which answers of a reader process are accepted.
 */
#include "cuda/gpu_ask.h"
#include "cuda/sites.h"
#include "tests/unit/elf_image.h"
#include "tests/unit/python_image.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

enum { CODE_BYTES = 0x800, FUNCTION_BYTES = 0x40, MOST = 7 };

static const struct listed {
	const char *symbol;
	uint32_t library;
	int role, a, b;
} listed[] = {
#define NONE                                 GPU_NO_ARGUMENT
#define CALL(symbol, role, a, b, ...)        {#symbol, GPU_LIBRARY_DRIVER, GPU_##role, a, b},
#define TAG(symbol, kind)                    {#symbol, GPU_LIBRARY_RUNTIME, GPU_TAGS, kind, NONE},
#define NAMED(symbol, name, role, a, b)      {#symbol, GPU_LIBRARY_TORCH, GPU_##role, a, b},
#define CHUNK(symbol, name, role, a, b, ...) {#symbol, GPU_LIBRARY_XLA, GPU_##role, a, b},
	GPU_DRIVER_CALLS(CALL) GPU_RUNTIME_TAGS(TAG) GPU_TORCH_CALLS(NAMED) GPU_XLA_CALLS(CHUNK)
#undef CALL
#undef TAG
#undef NAMED
#undef CHUNK
#undef NONE
};

/* x86-64 passes six arguments in registers; no call in the list has more than nine. */
static bool is_argument(int argument)
{
	return argument <= 8 || argument == GPU_NO_ARGUMENT;
}

START_TEST(test_list)
{
	size_t count = sizeof(listed) / sizeof(*listed);
	enum gpu_library library;

	ck_assert_uint_eq(gpu_call_count, count + 1);
	for (size_t i = 0; i < count; i++) {
		const struct listed *one = &listed[i];
		union gpu_site_cookie cookie = gpu_call_cookie((uint8_t)(i + 1));

		/* If a symbol were listed twice, its first place would be found. */
		ck_assert_msg(gpu_call_of(one->symbol, GPU_LIBRARY_ALL, &library) == i + 1, "%s",
		              one->symbol);
		ck_assert_uint_eq(library, one->library);
		ck_assert_uint_eq(gpu_call_of(one->symbol, GPU_LIBRARY_ALL & ~library, &library),
		                  0);
		ck_assert_int_lt(one->role, GPU_ROLE_COUNT);
		ck_assert_int_eq(cookie.role, one->role);
		ck_assert_uint_eq(cookie.call, i + 1);
		ck_assert_msg(is_argument(one->a) && is_argument(one->b) &&
		                      gpu_call_arguments(cookie.call) <= 9,
		              "%s", one->symbol);
		ck_assert_uint_gt(strlen(gpu_call_name(cookie.call)), 0);
	}
	ck_assert_str_eq(gpu_call_name(0), "");
	ck_assert_str_eq(gpu_call_name(gpu_call_count), "");
	ck_assert_uint_eq(gpu_call_cookie(0).cookie, 0);
	ck_assert_uint_eq(gpu_call_cookie(UINT8_MAX).cookie, 0);
}
END_TEST

static uint8_t call(const char *symbol)
{
	enum gpu_library library;

	return gpu_call_of(symbol, GPU_LIBRARY_ALL, &library);
}

static union gpu_site_cookie cookie_of(const char *symbol)
{
	return gpu_call_cookie(call(symbol));
}

START_TEST(test_what_a_call_is)
{
	/* Variants are the same call; versions are different calls. */
	ck_assert_uint_eq(call("cuMemcpyHtoD_v2_ptds"), call("cuMemcpyHtoD_v2"));
	ck_assert_uint_eq(call("cudaMemcpyAsync_ptsz"), call("cudaMemcpyAsync"));
	ck_assert_str_eq(gpu_call_name(call("cuLaunchKernel_ptsz")), "cuLaunchKernel");
	ck_assert_uint_ne(call("cuCtxCreate_v2"), call("cuCtxCreate_v4"));
	ck_assert_uint_eq(call("cuMemAlloc"), 0);
	ck_assert_uint_eq(call("cuMemAlloc_v2_"), 0);
	ck_assert_uint_eq(call("cuMemAlloc_v2_ptsz_ptsz"), 0);
	ck_assert_uint_eq(call("_ptsz"), 0);
	ck_assert_uint_eq(call("malloc"), 0);
	ck_assert_uint_eq(call(""), 0);
	/* A call that is waited for has a return probe; a call that is only counted has none. */
	ck_assert_uint_eq(cookie_of("cuMemAlloc_v2").flags, GPU_SITE_RETURNS);
	ck_assert_uint_eq(cookie_of("cuMemFree_v2").flags, GPU_SITE_RETURNS);
	ck_assert_uint_eq(cookie_of("cuMemcpyDtoH_v2").flags, GPU_SITE_RETURNS | GPU_SITE_BLOCKS);
	ck_assert_uint_eq(cookie_of("cuMemcpyDtoHAsync_v2").flags, 0);
	ck_assert_uint_eq(cookie_of("cuLaunchKernel").flags, 0);
	ck_assert_uint_eq(cookie_of("cuCtxSetCurrent").flags, 0);
	ck_assert_uint_eq(cookie_of("cudaMalloc").flags, 0);
	/* The number of arguments that are read. */
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemFree_v2")), 1);
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemAllocPitch_v2")), 4);
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemCreate")), 3);
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemcpyPeer")), 5);
	ck_assert_uint_eq(gpu_call_arguments(call("cuLaunchKernel")), 7);
	ck_assert_uint_eq(gpu_call_arguments(call("cuLaunch")), 1);
	ck_assert_uint_eq(gpu_call_arguments(call("cuCtxSynchronize")), 0);
	ck_assert_uint_eq(cookie_of("cuMemsetD2D16_v2").size, 2);
	ck_assert_uint_eq(cookie_of("cuCtxCreate_v3").detail, 1);
	ck_assert_uint_eq(cookie_of("cuDevicePrimaryCtxRetain").detail, 0);
	/* Calls that end memory, and calls that keep it. */
	ck_assert_uint_eq(cookie_of("cuCtxDestroy_v2").flags, GPU_SITE_RETURNS);
	ck_assert_uint_eq(cookie_of("cuCtxDestroy_v2").detail, GPU_END_CONTEXT);
	ck_assert_uint_eq(cookie_of("cuDevicePrimaryCtxRelease_v2").detail, GPU_END_REFERENCE);
	ck_assert_uint_eq(cookie_of("cuDevicePrimaryCtxReset").detail, GPU_END_PRIMARY);
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemMap")), 4);
	ck_assert_uint_eq(gpu_call_arguments(call("cuMemUnmap")), 2);
	ck_assert_uint_lt(gpu_call_order(call("cuMemMap")), gpu_call_order(call("cuMemCreate")));
	ck_assert_uint_lt(gpu_call_order(call("cuDevicePrimaryCtxReset_v2")),
	                  gpu_call_order(call("cuMemAlloc_v2")));
}
END_TEST

/* A file with these functions one after the other. A function without code of its own is "push rbp;
 * ret". */
struct function {
	const char *name, *code;
	size_t len;
	bool local;
};

#define CODE(text) .code = text, .len = sizeof(text) - 1

struct file {
	struct python_image image;
	struct elf *elf;
	uint64_t text; /* file offset of the first function */
};

static void make_file(struct file *file, const struct function *functions, size_t count)
{
	uint8_t text[CODE_BYTES] = {0};

	ck_assert_uint_le(count, MOST);
	python_image_init(&file->image);
	for (size_t i = 0; i < count; i++) {
		const struct function *one = &functions[i];

		memcpy(text + i * FUNCTION_BYTES, one->code ?: "\x55\xc3",
		       one->code ? one->len : 2);
		python_image_symbol(&file->image, one->name, STT_FUNC,
		                    PYTHON_TEXT + i * FUNCTION_BYTES, FUNCTION_BYTES);
		if (one->local)
			file->image.symbols[i + 1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC);
	}
	section_image_add(&file->image.file, ".text", PYTHON_TEXT, text, sizeof(text));
	file->text = file->image.file.sections[file->image.file.section_count - 1].sh_offset;
	file->elf = python_image_open(&file->image);
}

static void free_file(struct file *file)
{
	elf_free(file->elf);
	python_image_release(&file->image);
}

#define MAKE(file, functions) make_file(file, functions, sizeof(functions) / sizeof(*functions))

static void check_site(const struct file *file, const struct gpu_site *site, const char *name,
                       size_t function, unsigned slid, unsigned pushed, bool emulated)
{
	ck_assert_str_eq(gpu_call_name(site->call), name);
	ck_assert_msg(site->offset == file->text + function * FUNCTION_BYTES + slid &&
	                      site->pushed == pushed && site->emulated == emulated,
	              "%s: +0x%llx, %u pushed, %d", name,
	              (unsigned long long)(site->offset - file->text - function * FUNCTION_BYTES),
	              site->pushed, site->emulated);
	ck_assert_uint_eq(gpu_site_cookie(site).pushed, pushed);
	ck_assert_uint_eq(gpu_site_cookie(site).role, gpu_call_cookie(site->call).role);
}

START_TEST(test_sites)
{
	static const struct function functions[] = {
		/* usual in the driver: cmp dword [rip], imm32; je; jmp [rip] */
		{.name = "cuMemAlloc_v2",
	         CODE("\x81\x3d\0\1\0\0\1\2\3\4\x74\x06\xff\x25\0\1\0\0\x55\xc3")},
		{.name = "cuLaunchKernel"},
		/* endbr64; push rbx */
		{.name = "cuMemFree_v2", CODE("\xf3\x0f\x1e\xfa\x53\xc3")},
		/* mov rdx, rsi; push: the number of bytes is overwritten */
		{.name = "cuMemcpyHtoDAsync_v2_ptsz", CODE("\x48\x89\xf2\x55\xc3")},
		/* sub rsp, 0x18; je: with and without a return probe */
		{.name = "cuMemAllocAsync", CODE("\x48\x83\xec\x18\x74\x01\xc3")},
		{.name = "cuCtxSetCurrent", CODE("\x48\x83\xec\x18\x74\x01\xc3")},
		{.name = "cuDeviceGet"},
	};
	struct gpu_file found;
	struct file file;

	MAKE(&file, functions);
	ck_assert_int_eq(gpu_sites_find(file.elf, GPU_LIBRARY_ALL, &found), 0);
	ck_assert_uint_eq(found.libraries, GPU_LIBRARY_DRIVER);
	ck_assert_uint_eq(found.count, 6);
	/* Contexts come first, then frees, then the others by place. */
	check_site(&file, &found.sites[0], "cuCtxSetCurrent", 5, 4, 0x18, true);
	check_site(&file, &found.sites[1], "cuMemFree_v2", 2, 4, 0, true);
	check_site(&file, &found.sites[2], "cuMemAlloc_v2", 0, 10, 0, true);
	check_site(&file, &found.sites[3], "cuLaunchKernel", 1, 0, 0, true);
	check_site(&file, &found.sites[4], "cuMemcpyHtoDAsync_v2", 3, 0, 0, false);
	check_site(&file, &found.sites[5], "cuMemAllocAsync", 4, 0, 0, false);
	ck_assert_int_eq(gpu_sites_check((uint8_t *)&found, sizeof(found), GPU_LIBRARY_DRIVER), 0);
	free_file(&file);
}
END_TEST

START_TEST(test_one_place)
{
	static const struct function functions[] = {
		{.name = "cuMemAlloc_v2"},
		{.name = "cuLaunchKernel"},
		{.name = "cuCtxSynchronize"},
		/* jmp to the previous function; to itself; to a function that is not in the list */
		{.name = "cuStreamSynchronize", CODE("\xe9\xbb\xff\xff\xff")},
		{.name = "cuEventSynchronize", CODE("\xe9\xfb\xff\xff\xff")},
		{.name = "cuLaunchGrid", CODE("\xe9\x00\x01\x00\x00")},
		{.name = "cuCtxSynchronize_v2"},
	};
	struct gpu_file found;
	struct file file;

	MAKE(&file, functions);
	elf_free(file.elf);
	/* Two names of one function. */
	Elf64_Shdr *symtab = NULL;
	for (size_t i = 0; i < file.image.file.section_count; i++)
		if (file.image.file.sections[i].sh_type == SHT_SYMTAB)
			symtab = &file.image.file.sections[i];
	ck_assert_ptr_nonnull(symtab);
	Elf64_Sym *symbols = (void *)(file.image.file.out.data + symtab->sh_offset);
	symbols[7].st_value = symbols[3].st_value;
	ck_assert_int_eq(
		elf_open_bytes(file.image.file.out.data, file.image.file.out.len, &file.elf), 0);
	ck_assert_int_eq(gpu_sites_find(file.elf, GPU_LIBRARY_DRIVER, &found), 0);
	ck_assert_uint_eq(found.count, 5);
	check_site(&file, &found.sites[0], "cuMemAlloc_v2", 0, 0, 0, true);
	check_site(&file, &found.sites[1], "cuLaunchKernel", 1, 0, 0, true);
	check_site(&file, &found.sites[2], "cuCtxSynchronize", 2, 0, 0, true);
	check_site(&file, &found.sites[3], "cuEventSynchronize", 4, 0, 0, true);
	check_site(&file, &found.sites[4], "cuLaunchGrid", 5, 0, 0, true);
	free_file(&file);
}
END_TEST

static uint32_t libraries_of(const struct function *functions, size_t count, uint32_t asked)
{
	struct gpu_file found;
	struct file file;

	make_file(&file, functions, count);
	int err = gpu_sites_find(file.elf, asked, &found);
	ck_assert_int_eq(err, found.count ? 0 : -ENOENT);
	ck_assert(!found.count == !found.libraries);
	free_file(&file);
	return found.libraries;
}

#define LIBRARIES(asked, ...)                                                                  \
	libraries_of((const struct function[]){__VA_ARGS__},                                   \
	             sizeof((const struct function[]){__VA_ARGS__}) / sizeof(struct function), \
	             asked)

START_TEST(test_what_a_file_is)
{
	ck_assert_uint_eq(
		LIBRARIES(GPU_LIBRARY_ALL, {.name = "cuMemAlloc_v2"}, {.name = "cuLaunchKernel"}),
		GPU_LIBRARY_DRIVER);
	ck_assert_uint_eq(
		LIBRARIES(GPU_LIBRARY_ALL, {.name = "cuMemAlloc_v2"}, {.name = "cuMemFree_v2"}), 0);
	/* A program's own wrappers are not exported. */
	ck_assert_uint_eq(LIBRARIES(GPU_LIBRARY_ALL, {.name = "cuMemAlloc_v2", .local = true},
	                            {.name = "cuLaunchKernel", .local = true}),
	                  0);
	ck_assert_uint_eq(LIBRARIES(GPU_LIBRARY_RUNTIME, {.name = "cuMemAlloc_v2"},
	                            {.name = "cuLaunchKernel"}),
	                  0);
	ck_assert_uint_eq(LIBRARIES(GPU_LIBRARY_ALL, {.name = "cudaMalloc"},
	                            {.name = "cudaMemcpyAsync_ptsz"}),
	                  0);
	ck_assert_uint_eq(LIBRARIES(GPU_LIBRARY_ALL, {.name = "cudaMalloc", .local = true},
	                            {.name = "cudaMemcpyAsync", .local = true}),
	                  GPU_LIBRARY_RUNTIME);
	ck_assert_uint_eq(LIBRARIES(GPU_LIBRARY_ALL, {.name = "main"}), 0);
	ck_assert_uint_eq(
		LIBRARIES(GPU_LIBRARY_ALL, {.name = "_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm"}),
		GPU_LIBRARY_TORCH);
	ck_assert_uint_eq(
		LIBRARIES(GPU_LIBRARY_ALL,
	                  {.name = "_ZN3tsl12BFCAllocator13DeallocateRawEPv", .local = true}),
		GPU_LIBRARY_XLA);
	ck_assert_uint_eq(gpu_libraries_named("/usr/lib/x86_64-linux-gnu/libcuda.so.535.261.03"),
	                  GPU_LIBRARY_DRIVER);
	ck_assert_uint_eq(gpu_libraries_named("libcuda.so.1"), GPU_LIBRARY_DRIVER);
	ck_assert_uint_eq(gpu_libraries_named("/a/libcudart-a7b20f20.so.11.0"),
	                  GPU_LIBRARY_RUNTIME);
	ck_assert_uint_eq(gpu_libraries_named("/torch/lib/libc10.so"), GPU_LIBRARY_TORCH);
	ck_assert_uint_eq(gpu_libraries_named("/torch/lib/libc10_cuda.so"), 0);
	ck_assert_uint_eq(gpu_libraries_named("/jax_plugins/xla_cuda12/xla_cuda_plugin.so"),
	                  GPU_LIBRARY_XLA | GPU_LIBRARY_RUNTIME);
	ck_assert_uint_eq(gpu_libraries_named("/libcuda.so.1/libc.so.6"), 0);
	ck_assert_uint_eq(gpu_libraries_named(""), 0);
}
END_TEST

/* Applies a change to a correct answer, which must then be refused. */
#define REFUSED(change)                                                                           \
	do {                                                                                      \
		struct gpu_file file = good;                                                      \
		struct gpu_site *site = &file.sites[1];                                           \
		change;                                                                           \
		ck_assert_msg(gpu_sites_check((uint8_t *)&file, sizeof(file), GPU_LIBRARY_ALL) == \
		                      -EBADMSG,                                                   \
		              #change);                                                           \
		(void)site;                                                                       \
	} while (0)

START_TEST(test_answers)
{
	struct gpu_file good = {
		.libraries = GPU_LIBRARY_DRIVER,
		.count = 3,
		.sites = {{.offset = 300, .call = call("cuCtxSetCurrent"), .pushed = 8},
	                  {.offset = 100, .call = call("cuMemFree_v2"), .emulated = 1},
	                  {.offset = 200, .call = call("cuMemAlloc_v2"), .emulated = 1}},
	};

	ck_assert_int_eq(gpu_sites_check((uint8_t *)&good, sizeof(good), GPU_LIBRARY_ALL), 0);
	ck_assert_int_eq(gpu_sites_check((uint8_t *)&good, sizeof(good) - 1, GPU_LIBRARY_ALL),
	                 -EBADMSG);
	ck_assert_int_eq(gpu_sites_check((uint8_t *)&good, 0, GPU_LIBRARY_ALL), -EBADMSG);
	/* This library was not asked for. */
	ck_assert_int_eq(gpu_sites_check((uint8_t *)&good, sizeof(good), GPU_LIBRARY_RUNTIME),
	                 -EBADMSG);
	REFUSED(file.count = 0);
	REFUSED(file.count = MAX_GPU_SITES + 1);
	REFUSED(file.count = UINT32_MAX);
	REFUSED(file.count = 4); /* one is all zeros */
	REFUSED(file.libraries = 0);
	REFUSED(file.libraries = 1U << 31);
	REFUSED(file.libraries = GPU_LIBRARY_TORCH); /* with sites of the driver */
	REFUSED(site->offset = 0);
	REFUSED(site->offset = 1ULL << 63);
	REFUSED(site->offset = 300);
	REFUSED(site->call = 0);
	REFUSED(site->call = gpu_call_count);
	REFUSED(site->call = UINT8_MAX);
	REFUSED(site->call = call("cudaMalloc"));
	REFUSED(site->call = call("cuLaunchKernel"); file.sites[2].call = call("cuMemFree_v2"));
	REFUSED(site->pushed = 8); /* its return address would be elsewhere */
	REFUSED(file.sites[0].pushed = 7);
	REFUSED(file.sites[0].pushed = MAX_GPU_PUSHED + 8);
	REFUSED(site->emulated = 2);
}
END_TEST

START_TEST(test_by_a_reader)
{
	static const struct function functions[] = {{.name = "cudaMalloc"},
	                                            {.name = "cudaMemcpyAsync"}};
	_cleanup_(reader_freep) struct reader *reader =
		reader_new(&(struct reader_program){READER_SELF, "test", 64 << 20, 0});
	struct gpu_file found;
	struct elf_image none;
	struct file file;

	elf_image_init(&none, 1);
	_cleanup_close_ int empty = elf_image_fd(&none, sizeof(none));
	ck_assert_int_eq(gpu_ask(reader, empty, 1, GPU_LIBRARY_ALL, &found), -ENOENT);
	MAKE(&file, functions);
	_cleanup_close_ int fd = elf_image_fd(file.image.file.out.data, file.image.file.out.len);
	ck_assert_int_eq(gpu_ask(reader, fd, 2, GPU_LIBRARY_TORCH, &found), -ENOENT);
	ck_assert_int_eq(gpu_ask(reader, fd, 2, GPU_LIBRARY_ALL, &found), 0);
	ck_assert_uint_eq(found.libraries, GPU_LIBRARY_RUNTIME);
	ck_assert_uint_eq(found.count, 2);
	free_file(&file);
}
END_TEST

Suite *gpu_sites_suite(void)
{
	Suite *suite = suite_create("gpu_sites");
	TCase *tcase = tcase_create("gpu_sites");

	tcase_add_test(tcase, test_list);
	tcase_add_test(tcase, test_what_a_call_is);
	tcase_add_test(tcase, test_sites);
	tcase_add_test(tcase, test_one_place);
	tcase_add_test(tcase, test_what_a_file_is);
	tcase_add_test(tcase, test_answers);
	tcase_add_test(tcase, test_by_a_reader);
	suite_add_tcase(suite, tcase);
	return suite;
}
