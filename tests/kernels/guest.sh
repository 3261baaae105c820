#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
# shellcheck shell=dash
#
# The first process of a guest. It runs profd twice beside workloads, as root and as a user with only six
# capabilities, and sends profd's answers to the host, as an archive on the second serial port. It judges nothing.
# tests/kernels/README.md describes the folder that each of the two runs leaves.
export PATH=/bin:/sbin

readonly NOBODY=65534
readonly SIX=+bpf,+perfmon,+sys_ptrace,+dac_read_search,+syslog,+checkpoint_restore

# Requests use a Unix socket: a kernel without modules cannot tell to which user a TCP connection belongs.
fetch()
{
	curl -sS --fail-with-body -m 90 -o "$1" --unix-socket "$out/socket" "http://localhost/$2"
}

# wait_for SECONDS COMMAND...
wait_for()
{
	local left=$(($1 * 5))

	shift
	while ! "$@" >/dev/null 2>&1; do
		left=$((left - 1))
		[ $left -gt 0 ] || return 1
		sleep 0.2
	done
}

gone()
{
	! kill -0 "$1"
}

# profd begins to record memory growth a moment later than CPU time.
ready()
{
	gone "$profd" || fetch - metrics | grep -q '^profd_source_on{type="mmap"} 1$'
}

# profd has built all unwind tables that it has been waiting for.
walkable()
{
	fetch - metrics | grep -q '^profd_unwind_tables_pending 0$'
}

# start NAME COMMAND...: starts the command in the background, with its output in NAME.said, its process ID in $pid,
# and NAME.told as its input. Returns when the command has said that it is ready.
start()
{
	local name=$1

	shift
	mkfifo "$out/$name.told"
	"$@" <>"$out/$name.told" >"$out/$name.said" &
	pid=$!
	wait_for 30 grep -q ready "$out/$name.said"
}

killed()
{
	fetch - oom | grep -q "\"pid\": *$1\b"
}

# tell NAME WORD: sends a program a command; returns when the program has executed it.
tell()
{
	local lines

	lines=$(wc -l <"$out/$1.said")
	echo "$2" >"$out/$1.told"
	wait_for 60 eval "[ \$(wc -l <'$out/$1.said') -gt $lines ]"
}

watched()
{
	fetch - metrics | grep -q '^profd_source_on{type="gpu_launch"} 1$'
}

# One program runs first, so that profd watches CUDA's driver when the other programs create their contexts.
gpus()
{
	start beside gpu_truth driver
	gpu_pids=$pid
	wait_for 20 watched
	start truth gpu_truth driver
	gpu_pids="$gpu_pids $pid"
	echo "truth=$pid" >>"$out/pids"
	tell truth sites
	tell truth families
	fetch "$out/gpu_memory.pb.gz" "profile?type=gpu_memory&pid=$pid"
	start launches gpu_launches
	gpu_pids="$gpu_pids $pid"
	echo "launches=$pid" >>"$out/pids"
	tell launches runtime
	tell launches driver
	sleep 2
	fetch "$out/gpu_launch.pb.gz" "profile?last=1m&type=gpu_launch&pid=$pid"
}

# Starts all programs before one common wait; those that spin are stopped until they are profiled.
loads()
{
	local spin chain anon mmap heap hog waits waiting group=/sys/fs/cgroup/hog

	start spin spin60_30_10
	spin=$pid
	start chain stacks_chain
	chain=$pid
	start anon memory_growth anon
	anon=$pid
	start mmap memory_growth mmap
	mmap=$pid
	start heap heap_sites sites "$out/heap.truth"
	heap=$pid
	start waits waits
	waits=$pid
	# The hog has its own memory limit, so that the kernel kills it and no other process.
	mkdir -p "$group"
	echo $((64 << 20)) >"$group/memory.max"
	start hog sh -c "echo 0 >$group/cgroup.procs && exec hog"
	hog=$pid
	echo "spin=$spin chain=$chain hog=$hog waits=$waits" >"$out/pids"
	sleep 2
	wait_for 30 walkable
	kill -STOP "$spin" "$chain"

	echo go >"$out/anon.told"
	wait_for 60 grep -q '[0-9]' "$out/anon.said"
	echo go >"$out/mmap.told"
	wait_for 60 grep -q '[0-9]' "$out/mmap.said"
	sleep 2
	fetch "$out/rss.pb.gz" "profile?last=1m&type=rss&pid=$anon"
	fetch "$out/mmap.pb.gz" "profile?last=1m&type=mmap&pid=$mmap"
	fetch "$out/memory" "memory?pid=$anon"
	kill "$anon" "$mmap"

	fetch "$out/offcpu.pb.gz" "profile?type=offcpu&seconds=6&pid=$waits"
	kill "$waits"

	kill -CONT "$spin" "$chain"
	fetch "$out/cpu.pb.gz" "profile?seconds=12&pid=$spin&pid=$chain" &
	waiting=$!
	fetch "$out/heap.pb.gz" "heap?pid=$heap&seconds=8&rate=4KiB&force=1"
	wait $waiting
	kill "$heap" "$spin" "$chain"

	echo go >"$out/hog.told"
	wait_for 30 gone "$hog"
	wait_for 10 killed "$hog"
	fetch "$out/oom" oom
	fetch "$out/oom.pb.gz" "oom?id=$(sed -n 's/.*"id": *\([0-9]*\).*/\1/p' "$out/oom" | head -n 1)"
}

as_capable()
{
	exec /bin/setpriv --reuid $NOBODY --regid $NOBODY --clear-groups --no-new-privs \
		--inh-caps=-all,$SIX --ambient-caps=-all,$SIX --bounding-set=-all,$SIX "$@"
}

# serve NAME [COMMAND THAT RUNS IT]: starts profd in the background, as $profd; its results go to the folder NAME, $out.
serve()
{
	out=/out/$1
	echo "$1" >/dev/console
	shift
	mkdir "$out"
	chmod 777 "$out"
	"$@" /bin/profd serve --config /dev/null --listen "unix:$out/socket" --growth yes --faults yes --waits yes --verbose >"$out/log" 2>&1 &
	profd=$!
	wait_for 30 ready
}

finish()
{
	kill "$profd" 2>/dev/null
	wait "$profd"
	echo $? >"$out/exit"
	rm -f "$out"/*.told "$out/socket"
}

# Only tests whether profd starts.
refusal()
{
	serve "$@"
	finish
}

# session NAME [COMMAND THAT RUNS IT...]
session()
{
	serve "$@"
	if ! gone "$profd" 2>/dev/null; then
		loads
		gpus
		fetch "$out/status" status
		fetch "$out/metrics" metrics
		# shellcheck disable=SC2086 # several
		kill $gpu_pids
	fi
	finish
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
ifconfig lo 127.0.0.1 up
chmod 755 / /bin /lib
mkdir /out
uname -r >/out/release

# The first session runs without tracefs, the later ones with it.
session root
mount -t tracefs tracing /sys/kernel/tracing

cat /proc/sys/kernel/perf_event_paranoid >/out/paranoia
refusal forbidden as_capable
echo 2 >/proc/sys/kernel/perf_event_paranoid
session capable as_capable

dmesg >/out/dmesg
stty -F /dev/ttyS1 raw
tar -C /out -cz . >/dev/ttyS1
poweroff -f
