/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Heap profiles: the programs that probes in an allocator run. The daemon attaches each to one
 * process for as long as a profile of it is taken, in the ways of daemon/kernel/uprobes.h.
 */
#include "bpf/heap/heap_call.bpf.h"
#include "bpf/heap/heap_usdt.bpf.h"

struct bpf_raw_tracepoint_args;

__noinline u64 heap_next(u64 rate)
{
	return heap_draw(bpf_get_prandom_u32(), rate);
}

/* Entry and return in one program. A return that the entry does not want costs nothing. Returns of
 * other processes are never wanted: a link asks for every process that has its probe. */
SEC("uprobe")
int heap_session(struct pt_regs *ctx)
{
	u64 cookie = bpf_get_attach_cookie(ctx);

	if (bpf_get_func_ip(ctx) != REGS_PC(ctx)) {
		call_ends(ctx, cookie, 0);
		return 0;
	}
	return call_begins(ctx, cookie) ? 0 : 1;
}

/* For functions whose return is not wanted, or is seen by one of the next two programs. */
SEC("uprobe")
int heap_entry(struct pt_regs *ctx)
{
	call_begins(ctx, bpf_get_attach_cookie(ctx));
	return 0;
}

/* The return probe, for kernels without uprobe sessions. */
SEC("uprobe")
int heap_return(struct pt_regs *ctx)
{
	call_ends(ctx, bpf_get_attach_cookie(ctx), 0);
	return 0;
}

/* A probe on a return instruction. */
SEC("uprobe")
int heap_return_instruction(struct pt_regs *ctx)
{
	call_ends(ctx, bpf_get_attach_cookie(ctx), 1);
	return 0;
}

/* Only counts hits, to estimate the overhead of a profile. */
SEC("uprobe")
int heap_count(struct pt_regs *ctx)
{
	const union heap_site_cookie site = {.cookie = bpf_get_attach_cookie(ctx)};
	u32 slot = site.slot;
	struct heap_cpu *cpu = bpf_map_lookup_elem(&heap_cpus, &slot);

	if (cpu && target_get(slot))
		count_hit(cpu, site);
	return 0;
}

/* For processes that sample their own allocations. */
SEC("uprobe")
int heap_usdt_alloc(struct pt_regs *ctx)
{
	usdt_passed(ctx, bpf_get_attach_cookie(ctx), 0);
	return 0;
}

SEC("uprobe")
int heap_usdt_free(struct pt_regs *ctx)
{
	usdt_passed(ctx, bpf_get_attach_cookie(ctx), 1);
	return 0;
}

/* After an exec a process runs another program, and all its allocations are gone. */
SEC("raw_tp/sched_process_exec")
int heap_exec(struct bpf_raw_tracepoint_args *ctx)
{
	u32 pid = bpf_get_current_pid_tgid() >> 32;

	for (u32 slot = 0; slot < HEAP_SESSIONS; slot++) {
		u32 at = slot;
		struct heap_target *target = bpf_map_lookup_elem(&heap_targets, &at);
		struct heap_cpu *cpu = bpf_map_lookup_elem(&heap_cpus, &at);

		if (!target || !cpu || target->pid != pid)
			continue;
		target->pid = 0;
		send_always(cpu, HEAP_EVENT_EXEC, target->serial, 0, bpf_ktime_get_ns());
	}
	return 0;
}
