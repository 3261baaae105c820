/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * The stand-in for PyTorch's libc10.so: the functions by which its allocators report each tensor.
 * Like the real ones they begin with a load of a global variable and then push a register.
 */
#include "c10.hh"

namespace c10
{

extern "C" {
uint64_t fakec10_reports, fakec10_state;

void fakec10_report(void)
{
	__atomic_fetch_add(&fakec10_reports, 1, __ATOMIC_RELAXED);
}

void *fakec10_alloc_cpu(size_t size)
{
	return malloc(size);
}

void fakec10_free_cpu(void *at)
{
	free(at);
}
}

#ifdef __x86_64__
#define EXPORTED(name, behind)                                                                    \
	__asm__(".text\n.globl " name "\n.type " name ", @function\n" name ":\n	.cfi_startproc\n" \
	        "	mov fakec10_state@GOTPCREL(%rip), %rax\n	push %r14\n	"                          \
	        ".cfi_def_cfa_offset 16\n"                                                        \
	        "	mov %rax, %r14\n	pop %r14\n	.cfi_def_cfa_offset 8\n	"                           \
	        "jmp " behind "@PLT\n"                                                            \
	        "	.cfi_endproc\n.size " name ", . - " name "\n")
#else
#define EXPORTED(name, behind)                                                                  \
	__asm__(".text\n.globl " name "\n.type " name ", %function\n" name ":\n	b " behind "\n" \
	        ".size " name ", . - " name "\n")
#endif

EXPORTED("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE", "fakec10_report");
EXPORTED("_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE", "fakec10_report");
EXPORTED("_ZN3c1025ProfiledCPUMemoryReporter3NewEPvm", "fakec10_report");
EXPORTED("_ZN3c1025ProfiledCPUMemoryReporter6DeleteEPv", "fakec10_report");
EXPORTED("_ZN3c109alloc_cpuEm", "fakec10_alloc_cpu");
EXPORTED("_ZN3c108free_cpuEPv", "fakec10_free_cpu");

} /* namespace c10 */
