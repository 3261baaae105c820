/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Disk I/O, by the stack that asked the block layer for it. Sampled requests (struct bio) are noted
 * when they are queued, by the thread that does so, and accounted for when they are complete. A
 * device that consists of others, such as one of the device mapper, has requests of its own.
 *
 * Whether a request is sampled is decided when it is queued, as for waits: see wait_draw.bpf.h.
 * Each account has one seat on each CPU.
 */
#include "bpf/block.h"
#include "bpf/task.bpf.h"
#include "bpf/wait/wait_draw.bpf.h"
#include "bpf/wait/wait_open.bpf.h"

/* A request under way. */
struct io {
	u64 began_ns, bytes, weight;
	u64 user_and_1; /* whose room it takes; as scratch->user_and_1 */
	u32 place;      /* where the account's requests are counted */
	u32 unused;
	struct tally_key key;
};

/* By the address of the bio, which stays until the request is complete. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__type(key, u64);
	__type(value, struct io);
	__uint(max_entries, BLOCK_OPEN);
} block_open SEC(".maps");

/* Where block_queued puts one together: it is too large for the stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct io);
	__uint(max_entries, 1);
} block_new SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__type(key, u32);
	__type(value, struct wait_seat);
	__uint(max_entries, ACCOUNT_PLACES);
} block_seats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__type(key, u32);
	__type(value, struct taken);
	__uint(max_entries, 1);
} block_taken SEC(".maps");

static __always_inline struct taken *all_taken(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&block_taken, &zero);
}

static __always_inline void give_room_back(u32 place)
{
	struct taken *taken = all_taken();

	if (!taken)
		return;
	barrier_var(place);
	if (place < ACCOUNT_PLACES)
		__sync_fetch_and_add(&taken->of[place], -1);
	__sync_fetch_and_add(&taken->all, -1);
}

/* Up to a thousand requests a second are all sampled. */
enum { BLOCK_STEP_NS = 1000 * 1000 };

/* How many requests this one stands for; 0: it is not sampled. */
static __always_inline u32 draw_io(u64 now)
{
	u32 place = user_place();
	struct wait_seat *seat = bpf_map_lookup_elem(&block_seats, &place);

	if (!seat)
		return 0;
	return seat_spends(seat, now, BLOCK_STEP_NS) ?: seat_draws(seat, now, BLOCK_STEP_NS);
}

static __always_inline u32 detail_of(const struct task_struct *task, u32 opf)
{
	u32 operation = opf & REQ_OP_MASK;

	if (operation >= BLOCK_OTHER)
		operation = BLOCK_OTHER;
	/* What a program has written before goes to the disk later, by a worker of the kernel. */
	if (task->flags & PF_WQ_WORKER && operation == BLOCK_WRITE)
		operation = BLOCK_WRITE_BACK;
	return operation;
}

/* A bio whose completion was not seen may have had the same address. */
static __always_inline void forget_before(u64 who)
{
	const struct io *before = bpf_map_lookup_elem(&block_open, &who);
	u32 place;

	if (!before)
		return;
	place = before->place;
	if (!bpf_map_delete_elem(&block_open, &who))
		give_room_back(place);
}

static __always_inline void begin_io(struct bpf_raw_tracepoint_args *ctx, u32 at, u64 now,
                                     u32 weight)
{
	struct bio *bio = (struct bio *)ctx->args[0];
	u64 ids = bpf_get_current_pid_tgid(), who = ctx->args[0];
	struct scratch *scratch = scratch_get(at);
	struct taken *taken = all_taken();
	u32 zero = 0;
	struct io *io = bpf_map_lookup_elem(&block_new, &zero);

	if (!scratch || !taken || !io)
		return;
	*io = (struct io){
		.began_ns = now,
		.weight = weight,
		.bytes = BPF_CORE_READ(bio, bi_iter.bi_size),
		.user_and_1 = (u64)(u32)bpf_get_current_uid_gid() + 1,
		.key = {.pid = ids >> 32, .tid = (u32)ids, .kind = KIND_block},
	};
	io->place = taken_place(taken, BLOCK_OPEN, 0);
	if (io->place == NO_ROOM) {
		count(at, COUNTER_ios_lost, weight);
		return;
	}
	taken_count(taken, io->place);
	io->key.detail = detail_of(task_current(), BPF_CORE_READ(bio, bi_opf));
	io->key.device = BPF_CORE_READ(bio, bi_bdev, bd_dev);
	scratch->user_and_1 = 0;
	scratch->keeps_stacks = 1;
	io->key.kernel_stack = walk_kernel(ctx, at, SWITCH_SKIPS);
	io->key.user_stack = unwind_entry(at);
	scratch->keeps_stacks = 0;
	io->key.gil = io->key.user_stack != STACK_NONE ? scratch->gil : 0;
	io->key.image = task_image();
	bpf_get_current_comm(io->key.thread, sizeof(io->key.thread));
	forget_before(who);
	if (bpf_map_update_elem(&block_open, &who, io, BPF_ANY)) {
		give_room_back(io->place);
		count(at, COUNTER_ios_lost, weight);
	}
}

SEC("raw_tp/block_bio_queue")
int block_queued(struct bpf_raw_tracepoint_args *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 weight = draw_io(now), at;

	if (!weight)
		return 0;
	at = lane_enter(LANE_PROBE, now);
	if (at == LANE_BUSY)
		return 0;
	begin_io(ctx, at, now, weight);
	lane_leave(at);
	return 0;
}

static __always_inline void end_io(struct scratch *scratch, u32 at, const struct io *io, u64 now)
{
	u64 weight = io->weight;

	scratch->key = io->key;
	scratch->user_and_1 = io->user_and_1;
	scratch->waited_ns = (now - io->began_ns) * weight;
	scratch->key.kernel_stack = wait_stack_put(at, io->key.kernel_stack);
	scratch->key.user_stack = wait_stack_put(at, io->key.user_stack);
	tally_put(at, weight, io->bytes * weight, now);
}

/* Mostly in an interrupt. */
static __always_inline void complete(u64 who)
{
	struct io *io = bpf_map_lookup_elem(&block_open, &who);
	struct scratch *scratch;
	u64 now;
	u32 at, place;

	if (!io)
		return;
	place = io->place;
	now = bpf_ktime_get_ns();
	at = lane_enter(LANE_WAKE, now);
	if (at != LANE_BUSY) {
		scratch = scratch_get(at);
		if (scratch)
			end_io(scratch, at, io, now);
		lane_leave(at);
	}
	if (!bpf_map_delete_elem(&block_open, &who))
		give_room_back(place);
}

static __always_inline int none_is_open(void)
{
	const struct taken *taken = all_taken();

	return !taken || !*(volatile const u32 *)&taken->all;
}

/* A device without a driver's queue of its own, such as one that consists of others. */
SEC("raw_tp/block_bio_complete")
int block_completed(struct bpf_raw_tracepoint_args *ctx)
{
	if (!none_is_open())
		complete(ctx->args[1]);
	return 0;
}

/* The bios of a request that are left to complete, and for how many bytes that holds. */
struct completing {
	struct bio *bio;
	u64 bytes;
};

static long complete_next(u32 index, void *context)
{
	struct completing *completing = context;
	struct bio *bio = completing->bio;
	u32 bytes;

	if (!bio)
		return 1;
	bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	if (bytes > completing->bytes)
		return 1;
	completing->bytes -= bytes;
	completing->bio = BPF_CORE_READ(bio, bi_next);
	complete((u64)bio);
	return 0;
}

/* A request of a driver, which may have been merged from many. */
SEC("raw_tp/block_rq_complete")
int block_request_completed(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *request = (struct request *)ctx->args[0];
	struct completing completing = {.bytes = (u32)ctx->args[2]};

	if (none_is_open())
		return 0;
	completing.bio = BPF_CORE_READ(request, bio);
	bpf_loop(BLOCK_MERGED, complete_next, &completing, 0);
	return 0;
}
