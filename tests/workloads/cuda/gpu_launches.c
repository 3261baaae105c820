/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 *     gpu_launches      with runtime 12; gpu_launches-13, whose kernels have handles;
 *                       gpu_launches-static, linked with the static runtime
 *
 * Truth: the launches of each kernel, by demangled name, and the launches with each grid and block;
 * the number and bytes of copies, by direction; the number and nanoseconds of calls that wait, as
 * measured inside these calls and by their callers, which is slightly more.
 * Commands (told.h):
 *   runtime   trains launches scale_add, reduce and fill 60, 30 and 10 times, by stubs like those
 *             that nvcc generates, in three layers
 *   driver    by_driver, by_config and by_cooperative launch triton_add and net::forward
 *   graphs    by_graph launches one graph 25 times
 *   workers   three threads, named worker, call trains
 *   storm     100000 launches of scale_add, from one function
 *   copies    copies in each direction, by each kind of function
 *   sleeps    waits_in_stream, waits_for_all and waits_for_event sleep until the end
 *   spins     the same functions spin until the end
 */
#include "cuda.h"
#include "told.h"

#include <pthread.h>

enum { KINDS = 16, WAITS_EACH = 5, STORM = 100000, WAIT_NS = 40 * 1000 * 1000 };

/* A row of the truth that is printed. */
struct counted {
	const char *name;
	uint64_t count, value;
};

static struct counted launches[KINDS], shapes[KINDS], copies[KINDS], waits[KINDS], lasts[KINDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext context, second;
static CUfunction triton_add, forward;
static CUgraphExec graph;

static void count(struct counted *rows, const char *name, uint64_t times, uint64_t value)
{
	pthread_mutex_lock(&lock);
	while (rows->name && strcmp(rows->name, name) != 0)
		rows++;
	rows->name = name;
	rows->count += times;
	rows->value += value;
	pthread_mutex_unlock(&lock);
}

/* ---- kernels as nvcc makes them: the function that the program calls and registers, and the stub
 * that launches the kernel */

static void **binary;

#define KERNEL(id, mangled)                                                               \
	void id(void *a, int n, dim3 grid, dim3 block) __asm__(#mangled);                 \
	SITE void __device_stub_##mangled(void *a, int n, dim3 grid,                      \
	                                  dim3 block) __asm__("__device_stub_" #mangled); \
	SITE void __device_stub_##mangled(void *a, int n, dim3 grid, dim3 block)          \
	{                                                                                 \
		void *args[] = {&a, &n};                                                  \
		LAUNCH(id, grid, block, args);                                            \
	}                                                                                 \
	SITE void id(void *a, int n, dim3 grid, dim3 block)                               \
	{                                                                                 \
		__device_stub_##mangled(a, n, grid, block);                               \
	}

#if CUDART >= 13
#define LAUNCH(id, grid, block, args)                                         \
	do {                                                                  \
		static void *handle;                                          \
		if (!handle)                                                  \
			must(__cudaGetKernel(&handle, (const void *)id));     \
		must(__cudaLaunchKernel(handle, grid, block, args, 0, NULL)); \
	} while (0)
#else
#define LAUNCH(id, grid, block, args) \
	must(cudaLaunchKernel((const void *)id, grid, block, args, 0, NULL))
#endif

KERNEL(scale_add, _Z9scale_addPfS_i)
KERNEL(reduce, _Z6reducePii)
KERNEL(fill, _Z4fillIfLi4EEvPT_)

static void register_kernels(void)
{
	static char image[64];

	binary = __cudaRegisterFatBinary(image);
#define REGISTER(id, mangled)                                                                  \
	__cudaRegisterFunction(binary, (const char *)id, NULL, #mangled, -1, NULL, NULL, NULL, \
	                       NULL, NULL)
	REGISTER(scale_add, _Z9scale_addPfS_i);
	REGISTER(reduce, _Z6reducePii);
	REGISTER(fill, _Z4fillIfLi4EEvPT_);
#undef REGISTER
}

static SITE void layer_one(void)
{
	for (int i = 0; i < 60; i++)
		scale_add(&lock, i, (dim3){16, 1, 1}, (dim3){256, 1, 1});
}

static SITE void layer_two(void)
{
	for (int i = 0; i < 30; i++)
		reduce(&lock, i, (dim3){4, 2, (unsigned int)i % 2 + 1}, (dim3){32, 8, 1});
}

static SITE void layer_three(void)
{
	for (int i = 0; i < 10; i++)
		fill(&lock, i, (dim3){1, 1, 1}, (dim3){64, 1, 2});
}

static SITE void trains(void)
{
	layer_one();
	layer_two();
	layer_three();
	count(launches, "scale_add(float*, float*, int)", 60, 0);
	count(launches, "reduce(int*, int)", 30, 0);
	count(launches, "void fill<float, 4>(float*)", 10, 0);
	count(shapes, "16x1x1 256x1x1", 60, 0);
	count(shapes, "4x2x1 32x8x1", 15, 0);
	count(shapes, "4x2x2 32x8x1", 15, 0);
	count(shapes, "1x1x1 64x1x2", 10, 0);
}

/* ---- launches by the driver */

static SITE void by_driver(void)
{
	for (int i = 0; i < 40; i++)
		must(cuLaunchKernel(triton_add, 7, 6, 5, 128, 2, 1, 0, NULL, NULL, NULL));
	count(launches, "triton_add", 40, 0);
	count(shapes, "7x6x5 128x2x1", 40, 0);
}

static SITE void by_config(void)
{
	const CUlaunchConfig config = {1024, 1, 1, 512, 1, 1, 0, NULL, NULL, 0};

	for (int i = 0; i < 20; i++)
		must(cuLaunchKernelEx(&config, forward, NULL, NULL));
	count(launches, "net::forward(float const*, float*, int)", 20, 0);
	count(shapes, "1024x1x1 512x1x1", 20, 0);
}

static SITE void by_cooperative(void)
{
	for (int i = 0; i < 5; i++)
		must(cuLaunchCooperativeKernel(forward, 2, 1, 1, 96, 1, 1, 0, NULL, NULL));
	count(launches, "net::forward(float const*, float*, int)", 5, 0);
	count(shapes, "2x1x1 96x1x1", 5, 0);
}

static void driver(void)
{
	static char image[64];
	CUmodule module, library;

	if (!triton_add) {
		must(cuModuleLoadData(&module, image));
		must(cuModuleGetFunction(&triton_add, module, "triton_add"));
		must(cuLibraryLoadData(&library, image, NULL, NULL, 0, NULL, NULL, 0));
		must(cuLibraryGetKernel(&forward, library, "_ZN3net7forwardEPKfPfi"));
	}
	by_driver();
	by_config();
	by_cooperative();
}

static void make_graph(void)
{
	CUDA_KERNEL_NODE_PARAMS params = {.gridDimX = 1, .blockDimX = 1};
	CUgraphNode node;
	CUgraph of;

	must(cuGraphCreate(&of, 0));
	must(cuGraphAddKernelNode_v2(&node, of, NULL, 0, &params));
	must(cuGraphInstantiateWithFlags(&graph, of, 0));
}

static SITE void by_graph(void)
{
	static char name[32];

	if (!graph)
		make_graph();
	for (int i = 0; i < 20; i++)
		must(cuGraphLaunch(graph, NULL));
	for (int i = 0; i < 5; i++)
		must(cudaGraphLaunch(graph, NULL));
	snprintf(name, sizeof(name), "<graph %p>", (void *)graph);
	count(launches, name, 25, 0);
}

static void *worker(void *unused)
{
	pthread_setname_np(pthread_self(), "worker");
	must(cuCtxSetCurrent(context));
	trains();
	return unused;
}

static void workers(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		must(pthread_create(&threads[i], NULL, worker, NULL));
	for (int i = 0; i < 3; i++)
		must(pthread_join(threads[i], NULL));
}

static SITE void storm(void)
{
	for (int i = 0; i < STORM; i++)
		scale_add(&lock, i, (dim3){32, 1, 1}, (dim3){256, 1, 1});
	count(launches, "scale_add(float*, float*, int)", STORM, 0);
	count(shapes, "32x1x1 256x1x1", STORM, 0);
}

/* ---- copies */

enum { BYTES = 1000, TIMES = 10 };

static SITE void copies_of_runtime(void *device, void *host)
{
	for (int i = 0; i < TIMES; i++) {
		must(cudaMemcpy(device, host, BYTES + 1, COPY_H2D));
		must(cudaMemcpyAsync(device, host, BYTES + 2, COPY_H2D, NULL));
		must(cudaMemcpy(host, device, BYTES + 3, COPY_D2H));
		must(cudaMemcpyAsync(device, device, BYTES + 4, COPY_D2D, NULL));
		must(cudaMemcpy(host, host, BYTES + 5, COPY_H2H));
		must(cudaMemset(device, 0, BYTES + 6));
	}
	count(copies, "HtoD", 2 * TIMES, TIMES * (2 * BYTES + 3));
	count(copies, "DtoH", TIMES, TIMES * (BYTES + 3));
	count(copies, "DtoD", TIMES, TIMES * (BYTES + 4));
	count(copies, "HtoH", TIMES, TIMES * (BYTES + 5));
	count(copies, "memset", TIMES, TIMES * (BYTES + 6));
}

static SITE void copies_of_driver(CUdeviceptr device, void *host)
{
	for (int i = 0; i < TIMES; i++) {
		must(cuMemcpyHtoD_v2(device, host, BYTES));
		must(cuMemcpyHtoD_v2_ptds(device, host, BYTES));
		must(cuMemcpyHtoDAsync_v2(device, host, BYTES, NULL));
		must(cuMemcpyDtoH_v2(host, device, 2 * BYTES));
		must(cuMemcpyDtoHAsync_v2(host, device, 2 * BYTES, NULL));
		must(cuMemcpyDtoD_v2(device, device, 3 * BYTES));
		must(cuMemcpyDtoDAsync_v2(device, device, 3 * BYTES, NULL));
		must(cuMemcpyPeer(device, context, device, second, 4 * BYTES));
		must(cuMemcpy(device, device, 5 * BYTES));
		must(cuMemcpyAsync(device, device, 5 * BYTES, NULL));
	}
	count(copies, "HtoD", 3 * TIMES, TIMES * 3 * BYTES);
	count(copies, "DtoH", 2 * TIMES, TIMES * 4 * BYTES);
	count(copies, "DtoD", 2 * TIMES, TIMES * 6 * BYTES);
	count(copies, "peer", TIMES, TIMES * 4 * BYTES);
	count(copies, "unknown", 2 * TIMES, TIMES * 10 * BYTES);
}

static SITE void copies_of_blocks(CUdeviceptr device, void *host)
{
	const CUDA_MEMCPY2D flat = {
		.srcMemoryType = CU_MEMORYTYPE_HOST,
		.srcHost = host,
		.dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = device,
		.WidthInBytes = 300,
		.Height = 7,
	};
	const CUDA_MEMCPY3D deep = {
		.srcMemoryType = CU_MEMORYTYPE_DEVICE,
		.srcDevice = device,
		.dstMemoryType = CU_MEMORYTYPE_HOST,
		.dstHost = host,
		.WidthInBytes = 100,
		.Height = 5,
		.Depth = 3,
	};

	for (int i = 0; i < TIMES; i++) {
		must(cuMemcpy2D_v2(&flat));
		must(cuMemcpy3D_v2(&deep));
		must(cuMemsetD16_v2(device, 0, 100));
		must(cuMemsetD32_v2(device, 0, 100));
		must(cuMemsetD32Async(device, 0, 10, NULL));
		must(cuMemsetD2D8_v2(device, 64, 0, 50, 4));
	}
	count(copies, "HtoD", TIMES, TIMES * 2100);
	count(copies, "DtoH", TIMES, TIMES * 1500);
	count(copies, "memset", 4 * TIMES, TIMES * (200 + 400 + 40 + 200));
}

static void copy_all(void)
{
	static char host[8 * BYTES];
	CUdeviceptr device;

	fakecuda_waits_take(0, 0);
	must(cuMemAlloc_v2(&device, sizeof(host)));
	copies_of_runtime((void *)(uintptr_t)device, host);
	copies_of_driver(device, host);
	copies_of_blocks(device, host);
	must(cuMemFree_v2(device));
}

/* ---- waits: the time measured inside, and the time until they return */

static uint64_t waited, began;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void account(const char *site)
{
	uint64_t over = now_ns(), in_calls = fakecuda_waited_ns();

	count(waits, site, WAITS_EACH, in_calls - waited);
	count(lasts, site, WAITS_EACH, over - began);
	waited = in_calls;
	began = over;
}

static SITE void waits_in_stream(void)
{
	for (int i = 0; i < WAITS_EACH; i++)
		must(i % 2 ? cuStreamSynchronize(NULL) : cudaStreamSynchronize(NULL));
	account("waits_in_stream");
}

static SITE void waits_for_all(void)
{
	for (int i = 0; i < WAITS_EACH; i++)
		must(i % 2 ? cuCtxSynchronize() : cudaDeviceSynchronize());
	account("waits_for_all");
}

static SITE void waits_for_event(void)
{
	for (int i = 0; i < WAITS_EACH; i++)
		must(i % 2 ? cuEventSynchronize(NULL) : cudaEventSynchronize(NULL));
	account("waits_for_event");
}

static SITE void waits_to_copy(void)
{
	static char host[64];

	for (int i = 0; i < WAITS_EACH; i++)
		must(cuMemcpyDtoH_v2(host, 512, sizeof(host)));
	count(copies, "DtoH", WAITS_EACH, WAITS_EACH * sizeof(host));
	account("waits_to_copy");
}

static void wait_all(int spins)
{
	waited = fakecuda_waited_ns();
	fakecuda_waits_take(WAIT_NS, spins);
	began = now_ns();
	waits_in_stream();
	waits_for_all();
	waits_for_event();
	waits_to_copy();
}

static void sleeps(void)
{
	wait_all(0);
}

static void spins(void)
{
	wait_all(1);
}

static void say_rows(const char *name, const struct counted *rows, const char *after)
{
	printf("\"%s\": {", name);
	for (const struct counted *row = rows; row->name; row++)
		printf("%s\"%s\": [%lu, %lu]", row > rows ? ", " : "", row->name, row->count,
		       row->value);
	printf("}%s", after);
}

static void say(void)
{
	putchar('{');
	say_rows("launches", launches, ", ");
	say_rows("shapes", shapes, ", ");
	say_rows("copies", copies, ", ");
	say_rows("waits", waits, ", ");
	say_rows("lasts", lasts, "}\n");
}

int main(void)
{
	static const struct command commands[] = {
		{"runtime", trains},  {"driver", driver}, {"graphs", by_graph},
		{"workers", workers}, {"storm", storm},   {"copies", copy_all},
		{"sleeps", sleeps},   {"spins", spins},
	};

	must(cuInit(0));
	must(cuDevicePrimaryCtxRetain(&context, 0));
	must(cuDevicePrimaryCtxRetain(&second, 1));
	must(cuCtxSetCurrent(context));
	register_kernels();
	return be_told(commands, sizeof(commands) / sizeof(commands[0]), say);
}
