/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hung file system: a FUSE file system in which every name is the same executable. A process of
 * user UID maps it and gets answers. All other processes wait for an answer to each OPERATION
 * (lookup, getattr, open, read) until this program ends; with "again", only after one of them has
 * opened the file once; with "lock", nothing waits but a read of the process itself, which keeps
 * the lock of its memory map meanwhile, so that nobody can read its maps or its command line. The
 * file is this program or the one at PATH. If fuse.conf has
 * user_allow_other, any user can mount such a file system by fusermount3; a file server that hangs
 * has the same effect.
 *
 * The daemon must start, go on answering and name other files. It gives up operations that a file
 * system does not answer at once, counts them and retries them later.
 *
 * Root starts this program for the mount, which is private and ends with it; it then becomes UID.
 */
#include "attack.h"

#include <grp.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>

enum { FILE_NODE = 2, LARGEST = 1 << 17, FOREVER = 1 << 30 };
/* The page of the file whose read is not answered with "lock": too far for the kernel to read it
 * ahead. */
enum { FAR = 1 << 20 };

static int device, program, again, lock, opened_by_others;
static pid_t mapper;
static const char *hung[4], *name = "program";

static int is_hung(const struct fuse_in_header *request)
{
	static const struct {
		unsigned opcode;
		const char *name;
	} operations[] = {{FUSE_LOOKUP, "lookup"},
	                  {FUSE_GETATTR, "getattr"},
	                  {FUSE_OPEN, "open"},
	                  {FUSE_READ, "read"}};

	if (lock)
		return request->opcode == FUSE_READ &&
		       ((const struct fuse_read_in *)(request + 1))->offset >= FAR;
	if ((pid_t)request->pid == mapper)
		return 0;
	if (again && opened_by_others < 1) {
		opened_by_others += request->opcode == FUSE_OPEN;
		return 0;
	}
	for (size_t i = 0; i < 4; i++)
		for (size_t j = 0; j < 4; j++)
			if (hung[j] && operations[i].opcode == request->opcode &&
			    !strcmp(hung[j], operations[i].name))
				return 1;
	return 0;
}

static void answer(uint64_t unique, int error, const void *data, size_t len)
{
	static char out[sizeof(struct fuse_out_header) + LARGEST];
	const struct fuse_out_header header = {
		.len = (uint32_t)(sizeof(header) + len), .error = error, .unique = unique};

	memcpy(out, &header, sizeof(header));
	if (len)
		memcpy(out + sizeof(header), data, len);
	/* The write fails if the request was interrupted. */
	if (write(device, out, header.len) < 0 && errno != ENOENT)
		exit(0);
}

static struct fuse_attr attributes(uint64_t node)
{
	struct stat st;

	need(fstat(program, &st) == 0, "fstat");
	return (struct fuse_attr){
		.ino = node,
		.size = node == FILE_NODE ? (uint64_t)st.st_size + lock * 2 * FAR : 0,
		.mode = node == FILE_NODE ? S_IFREG | 0755 : S_IFDIR | 0755,
		.nlink = 1,
		.uid = getuid(),
		.gid = getgid(),
		.blksize = PAGE,
	};
}

static void answer_init(const struct fuse_in_header *request)
{
	const struct fuse_init_out out = {
		.major = FUSE_KERNEL_VERSION,
		.minor = FUSE_KERNEL_MINOR_VERSION,
		.max_write = LARGEST,
		.time_gran = 1,
	};

	answer(request->unique, 0, &out, sizeof(out));
}

static void answer_read(const struct fuse_in_header *request, const struct fuse_read_in *wanted)
{
	static char bytes[LARGEST];
	size_t size = wanted->size < LARGEST ? wanted->size : LARGEST;
	ssize_t len = pread(program, bytes, size, (off_t)wanted->offset);

	answer(request->unique, len < 0 ? -EIO : 0, bytes, len < 0 ? 0 : (size_t)len);
}

static void serve(const struct fuse_in_header *request)
{
	const struct fuse_entry_out entry = {
		.nodeid = FILE_NODE, .entry_valid = FOREVER, .attr = attributes(FILE_NODE)};
	const struct fuse_attr_out attr = {.attr = attributes(request->nodeid)};
	const struct fuse_open_out opened = {.fh = 1};
	const struct fuse_statfs_out system = {.st = {.bsize = PAGE, .namelen = 255}};

	switch (request->opcode) {
	case FUSE_INIT:
		return answer_init(request);
	case FUSE_LOOKUP:
		return answer(request->unique, 0, &entry, sizeof(entry));
	case FUSE_GETATTR:
		return answer(request->unique, 0, &attr, sizeof(attr));
	case FUSE_OPEN:
		return answer(request->unique, 0, &opened, sizeof(opened));
	case FUSE_READ:
		return answer_read(request, (const struct fuse_read_in *)(request + 1));
	case FUSE_STATFS:
		return answer(request->unique, 0, &system, sizeof(system));
	case FUSE_RELEASE:
		return answer(request->unique, 0, NULL, 0);
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
	case FUSE_INTERRUPT:
		return;
	default:
		return answer(request->unique, -ENOSYS, NULL, 0);
	}
}

static void *read_far(void *far)
{
	int memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	need(memory >= 0, "/proc/self/mem");
	/* access_remote_vm() keeps the lock while it waits for the page. */
	if (pread(memory, &byte, 1, (off_t)(uintptr_t)far) < 0)
		rest();
	return NULL;
}

/* Who wants the lock alone makes all others wait who come later. */
static void *map_more(void *unused)
{
	usleep(200 * 1000); /* by then read_far() has it */
	mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return unused;
}

static void hold_lock(int fd)
{
	char *far = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, FAR);
	pthread_t reader, writer;

	/* Otherwise the change of user has made the process's memory root's. */
	need(far != MAP_FAILED && prctl(PR_SET_DUMPABLE, 1) == 0, "mmap");
	need(pthread_create(&writer, NULL, map_more, NULL) == 0 &&
	             pthread_create(&reader, NULL, read_far, far) == 0,
	     "pthread_create");
	setvbuf(stdout, NULL, _IONBF, 0); /* to say "ready" without more memory */
	usleep(400 * 1000);
}

static void map_it(const char *folder)
{
	char path[4200];

	/* When the serving process ends, requests fail and nothing waits for them any more. */
	close(device);
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	need(fd >= 0, path);
	map_page(fd, 0);
	if (lock)
		hold_lock(fd);
	say_ready();
	rest();
}

/* Mounts for this process and its child only. */
static void mount_on(const char *folder, unsigned uid)
{
	char options[128];

	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	need(device >= 0, "/dev/fuse");
	snprintf(options, sizeof(options),
	         "fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other", device, uid, uid);
	need(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	             mount("hung", folder, "fuse", MS_NOSUID | MS_NODEV, options) == 0,
	     "mount");
}

static void take_argument(const char *text)
{
	static size_t count;

	if (!strcmp(text, "again")) {
		again = 1;
	} else if (!strcmp(text, "lock")) {
		lock = 1;
	} else if (strchr(text, '/')) {
		program = open(text, O_RDONLY | O_CLOEXEC);
		need(program >= 0, text);
		name = strrchr(text, '/') + 1;
	} else if (count < 4) {
		hung[count++] = text;
	}
}

int main(int argc, char **argv)
{
	unsigned uid = (unsigned)number(argc, argv, 2, 65534);
	static union {
		struct fuse_in_header header;
		char bytes[LARGEST + 4096];
	} request;

	need(argc > 3, "hung_fs FOLDER UID OPERATION...");
	program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	for (int i = 3; i < argc; i++)
		take_argument(argv[i]);
	mount_on(argv[1], uid);
	need(setgroups(0, NULL) == 0 && setresgid(uid, uid, uid) == 0 &&
	             setresuid(uid, uid, uid) == 0,
	     "setresuid");
	mapper = fork_with();
	if (mapper == 0)
		map_it(argv[1]);
	while (read(device, &request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT)
		if (!is_hung(&request.header))
			serve(&request.header);
	return 0;
}
