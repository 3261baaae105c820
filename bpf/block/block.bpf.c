/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Disk I/O, by the stack that asked the block layer for it. Sampled requests (struct bio) are noted
 * when they are queued, by the thread that does so, and accounted for when they are complete. A
 * device that consists of others, such as one of the device mapper, has requests of its own.
 * A request that is too large for the driver is split; it is complete when its last piece is.
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
	u64 has_ended;  /* it is accounted for */
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

enum {
	BLOCK_STEP_NS = 1000 * 1000, /* up to a thousand requests a second are all sampled */
	BLOCK_NODE_STEPS = 2,        /* price of a stack node that was not kept yet */
};

static __always_inline struct taken *all_taken(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&block_taken, &zero);
}

static __always_inline int none_is_open(void)
{
	const struct taken *taken = all_taken();

	return !taken || !*(volatile const u32 *)&taken->all;
}

static __always_inline void give_room_back(u32 place)
{
	struct taken *taken = all_taken();

	if (taken)
		taken_give(taken, place);
}

/* Counts a sample that is lost while this program has no lane. */
static __always_inline void lose(u64 weight)
{
	u64 now;
	u32 at = shared_enter(&now);

	count_shared_by(at, COUNTER_ios_lost, weight);
	shared_leave();
}

static __always_inline void forget_io(u64 who, u32 place)
{
	if (!bpf_map_delete_elem(&block_open, &who))
		give_room_back(place);
}

/* Another request whose completion was not seen may have been at the same address. */
static __always_inline void forget_before(u64 who)
{
	const struct io *before = bpf_map_lookup_elem(&block_open, &who);

	if (!before)
		return;
	if (!before->has_ended)
		lose(before->weight);
	forget_io(who, before->place);
}

static __always_inline u32 operation_of(const struct task_struct *task, u32 opf, u64 bytes)
{
	u32 operation = opf & REQ_OP_MASK;

	/* A flush is a write of nothing until the driver gets it. */
	if (operation == BLOCK_WRITE && !bytes)
		return BLOCK_FLUSH;
	/* What a program has written before goes to the disk later, by a worker of the kernel. */
	if (operation == BLOCK_WRITE && task->flags & PF_WQ_WORKER)
		return BLOCK_WRITE_BACK;
	return operation < BLOCK_OTHER ? operation : BLOCK_OTHER;
}

static __always_inline int transfers(u32 operation)
{
	return operation == BLOCK_READ || operation == BLOCK_WRITE || operation == BLOCK_WRITE_BACK;
}

/* Sets who has submitted a request: no process, where it is an interrupt or a worker of the kernel.
 */
static __always_inline void identify(struct bpf_raw_tracepoint_args *ctx, u32 at,
                                     struct scratch *scratch, struct tally_key *key)
{
	u64 ids = bpf_get_current_pid_tgid();

	if (key->detail == BLOCK_WRITE_BACK) {
		__builtin_memcpy(key->thread, "[write-back]", sizeof("[write-back]"));
	} else if (!is_of_task(ctx, scratch)) {
		__builtin_memcpy(key->thread, "[interrupt]", sizeof("[interrupt]"));
	} else {
		key->user_stack = unwind_entry(at);
		key->pid = ids >> 32;
		key->tid = (u32)ids;
		key->gil = key->user_stack != STACK_NONE ? scratch->gil : 0;
		key->image = task_image();
		bpf_get_current_comm(key->thread, sizeof(key->thread));
	}
}

static __always_inline void begin_io(struct bpf_raw_tracepoint_args *ctx, u32 at, u64 now,
                                     struct wait_seat *seat, u32 weight)
{
	struct bio *bio = (struct bio *)ctx->args[0];
	struct scratch *scratch = scratch_get(at);
	struct taken *taken = all_taken();
	u64 who = ctx->args[0], bytes;
	u32 zero = 0;
	struct io *io = bpf_map_lookup_elem(&block_new, &zero);

	if (!scratch || !taken || !io)
		return;
	bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	*io = (struct io){
		.began_ns = now,
		.weight = weight,
		.user_and_1 = (u64)(u32)bpf_get_current_uid_gid() + 1,
		.key = {.kind = KIND_block},
	};
	io->place = taken_place(taken, BLOCK_OPEN, 0);
	if (io->place == NO_ROOM) {
		count(at, COUNTER_ios_lost, weight);
		return;
	}
	taken_count(taken, io->place);
	io->key.detail = operation_of(task_current(), BPF_CORE_READ(bio, bi_opf), bytes);
	io->key.device = BPF_CORE_READ(bio, bi_bdev, bd_dev);
	io->bytes = transfers(io->key.detail) ? bytes : 0;
	scratch->user_and_1 = 0;
	scratch->keeps_stacks = 1;
	scratch->kept_nodes = 0;
	io->key.kernel_stack = walk_tracepoint(ctx, at, 0, 0, MAX_KERNEL_FRAMES);
	identify(ctx, at, scratch, &io->key);
	scratch->keeps_stacks = 0;
	seat->spent_ns += scratch->kept_nodes * BLOCK_NODE_STEPS * BLOCK_STEP_NS;
	if (bpf_map_update_elem(&block_open, &who, io, BPF_NOEXIST)) {
		give_room_back(io->place);
		count(at, COUNTER_ios_lost, weight);
	}
}

/* Another program of this CPU may hold one of these lanes. */
static __always_inline u32 enter_one_of(enum walk_lane lane, enum walk_lane other, u64 now)
{
	u32 at = lane_enter(lane, now);

	return at == LANE_BUSY ? lane_enter(other, now) : at;
}

SEC("raw_tp/block_bio_queue")
int block_queued(struct bpf_raw_tracepoint_args *ctx)
{
	u64 now = bpf_ktime_get_ns();
	u32 place = user_place(), weight, at;
	struct wait_seat *seat = bpf_map_lookup_elem(&block_seats, &place);

	if (!none_is_open())
		forget_before(ctx->args[0]);
	if (!seat)
		return 0;
	weight = seat_spends(seat, now, BLOCK_STEP_NS) ?: seat_draws(seat, now, BLOCK_STEP_NS);
	if (!weight)
		return 0;
	at = enter_one_of(LANE_PROBE, LANE_WAKE, now);
	if (at == LANE_BUSY) {
		lose(weight);
		return 0;
	}
	begin_io(ctx, at, now, seat, weight);
	lane_leave(at);
	return 0;
}

static __always_inline void end_io(struct scratch *scratch, u32 at, const struct io *io, u64 now,
                                   int failed)
{
	u64 weight = io->weight;

	scratch->key = io->key;
	scratch->user_and_1 = io->user_and_1;
	scratch->waited_ns = (now - io->began_ns) * weight;
	scratch->key.kernel_stack = wait_stack_put(at, io->key.kernel_stack);
	scratch->key.user_stack = wait_stack_put(at, io->key.user_stack);
	/* By the time of the beginning: the thread may have called exec since. */
	tally_put(at, weight, failed ? 0 : io->bytes * weight, io->began_ns);
}

/* Mostly in an interrupt. */
static __always_inline void complete(u64 who, int failed)
{
	struct io *io = bpf_map_lookup_elem(&block_open, &who);
	struct scratch *scratch;
	u64 now;
	u32 at, place;

	if (!io)
		return;
	place = io->place;
	if (!__sync_lock_test_and_set(&io->has_ended, 1)) {
		now = bpf_ktime_get_ns();
		at = enter_one_of(LANE_WAKE, LANE_PROBE, now);
		scratch = at == LANE_BUSY ? NULL : scratch_get(at);
		if (scratch) {
			end_io(scratch, at, io, now, failed);
			lane_leave(at);
		} else {
			lose(io->weight);
		}
	}
	forget_io(who, place);
}

/* A device without a driver's queue of its own, such as one that consists of others. */
SEC("raw_tp/block_bio_complete")
int block_completed(struct bpf_raw_tracepoint_args *ctx)
{
	struct bio *bio = (struct bio *)ctx->args[1];

	if (!none_is_open())
		complete((u64)bio, BPF_CORE_READ(bio, bi_status) != 0);
	return 0;
}

/* The bios of a request that may be complete, and how many bytes of them are. */
struct completing {
	struct bio *bio;
	u64 bytes;
	u32 failed;
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
	complete((u64)bio, completing->failed);
	return 0;
}

/* A request of a driver, which may have been merged from many. */
SEC("raw_tp/block_rq_complete")
int block_request_completed(struct bpf_raw_tracepoint_args *ctx)
{
	struct request *request = (struct request *)ctx->args[0];
	struct completing completing = {
		.bytes = (u32)ctx->args[2],
		.failed = (u8)ctx->args[1] != 0,
	};

	if (none_is_open())
		return 0;
	completing.bio = BPF_CORE_READ(request, bio);
	bpf_loop(BLOCK_MERGED, complete_next, &completing, 0);
	return 0;
}
