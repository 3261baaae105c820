/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * GPUs: the programs that probes run in CUDA's driver and runtime and in PyTorch's allocators. They
 * are attached to a file, for every process that maps it, in the ways of daemon/kernel/uprobes.h.
 */
#include "bpf/gpu/gpu_call.bpf.h"
#include "bpf/gpu/gpu_usdt.bpf.h"

/* Entry and return in one program. A return that the entry does not want costs nothing. */
SEC("uprobe")
int gpu_session(struct pt_regs *ctx)
{
	if (bpf_get_func_ip(ctx) != REGS_PC(ctx)) {
		call_ends(ctx);
		return 0;
	}
	return call_begins(ctx, bpf_get_attach_cookie(ctx)) ? 0 : 1;
}

/* For functions whose return is not wanted, or is seen by the next program. */
SEC("uprobe")
int gpu_entry(struct pt_regs *ctx)
{
	call_begins(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/* The return probe, for kernels without uprobe sessions. */
SEC("uprobe")
int gpu_return(struct pt_regs *ctx)
{
	call_ends(ctx);
	return 0;
}

/* For processes with libprofd-cuda.so. */
SEC("uprobe")
int gpu_launched(struct pt_regs *ctx)
{
	gpu_usdt_passed(ctx, bpf_get_attach_cookie(ctx), GPU_EVENT_LAUNCHED);
	return 0;
}

SEC("uprobe")
int gpu_ran(struct pt_regs *ctx)
{
	gpu_usdt_passed(ctx, bpf_get_attach_cookie(ctx), GPU_EVENT_RAN);
	return 0;
}
