/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every size that comes from outside has its limit here, with the reason. Going over one is an
 * error or a counter, never a bigger allocation.
 */
#pragma once

enum {
	/* A request, all of its lines. Each connection takes as much memory once it was answered,
	 * because libmicrohttpd clears what it reserves; a longer one it refuses by itself. */
	MAX_REQUEST_BYTES = 32 * 1024,
	MAX_QUERY_BYTES = 16 * 1024,
	MAX_QUERY_VALUES = 64,   /* values of one repeatable parameter, such as pid= */
	MAX_LISTENERS = 8,       /* --listen given so often */
	MAX_CONNECTIONS = 16384, /* of one listening socket; each takes a descriptor */
	MAX_KEPT_CONNECTIONS =
		2048, /* with more, one is closed when it was answered, for its memory */
	MAX_GROUP_MEMBERS = 65536, /* users who may ask; a directory of a university has less */
	MAX_RENDER_QUEUE = MAX_CONNECTIONS, /* answers waiting for the render lane */
	MAX_CAPTURE_SECONDS = 600,          /* what the recorder keeps */
	MAX_TASK_ID = 1 << 22,              /* of a process or thread; the kernel's own limit */
	MAX_HEAP_RATE = 1 << 30, /* bytes a sample; beyond it a process ends before its first */
	MAX_HEAP_BUDGET_PERCENT = 10000, /* of one core: the allocators of a hundred threads */
	MAX_SAMPLE_HZ = 1000,            /* above it the profiler shows in what it measures */
	MAX_STACK_FRAMES = 1024, /* words: 512 native frames, and two for a Python one among them */
	MAX_SYMBOLS = 4 * 1000 * 1000, /* of one file; libLLVM with debug symbols has 0.9 million */
	MAX_SYMBOL_NAME_BYTES = 64 * 1024, /* a longer name is cut; C++ templates reach 30 KiB */
	MAX_SECTION_BYTES = 1 << 30, /* of a symbol or string table, checked before it is read */
	MAX_FRAME_SECTION_BYTES = 128 << 20, /* of .eh_frame; that of a browser is 20 MB */
	MAX_BUILD_ID_BYTES = 64,    /* SHA-1 is 20, anything over SHA-512 is not a build ID */
	MAX_NOTE_BYTES = 64 * 1024, /* of one note segment; real ones have a few hundred */
	MAX_NOTES = 64,             /* note segments and sections looked at for a build ID */
	MAX_SEGMENTS = 128,         /* PT_LOAD entries looked at */
	MAX_KALLSYMS_BYTES = 64 * 1024 * 1024,  /* /proc/kallsyms is 10 to 20 MB */
	MAX_PROC_FILE_BYTES = 16 * 1024 * 1024, /* /proc/PID/maps of a JIT with 100,000 regions */
	MAX_MAPPINGS = 65536,                   /* executable mappings of one process */
	MAX_MAPPING_BYTES = 64 << 20,           /* all mappings of all processes; 3,000 take 10 */
	MAX_PROCESSES = 65536,                  /* in the process table, exited ones included */
	MAX_IMAGES = 3 * MAX_PROCESSES,         /* they run, and ran before: 27 MiB */
	MAX_KIN = 1 << 18,  /* processes that started others and have ended: 4 MiB */
	MAX_OBJECTS = 8192, /* executables kept open */
	MAX_UNWIND_ROWS = 16 * 1000 * 1000,  /* of one file; libLLVM has 0.9 million, a browser 3 */
	MAX_HEAP_READER_BYTES = 128 << 20,   /* to look for probes in one file */
	MAX_HEAP_SEARCH_BYTES = 256 << 20,   /* to look for an allocator among a file's symbols */
	MAX_GPU_READER_BYTES = 256 << 20,    /* the same of CUDA; jaxlib's plugin takes 96 MB */
	MAX_PYTHON_READER_BYTES = 128 << 20, /* to look for a CPython in one file */
	MAX_TABLE_READER_BYTES = 256 << 20,  /* to make one unwind table in; libLLVM takes 40 MB */
	MAX_UNWIND_CHUNKS = 1024,            /* of 256 KiB; --unwind-memory goes up to as much */
	MAX_PIECES = 2048,                   /* of a file's text, of 512 KiB; a browser has 450 */
	MAX_PATH_BYTES = 4096,
	MAX_CONTROL_GROUP_BYTES = 512,     /* of its path; that of a pod in a pod has 400 */
	MAX_USERS_FILE_BYTES = 4 << 20,    /* of /etc, a line for each user; 50,000 of them */
	MAX_DEBUG_FILE_BYTES = 0x7fffffff, /* of one that a server has; a browser's has 1.5 GB */
	MAX_WEB_CONFIG_BYTES = 256 * 1024, /* --web-config; certificates may stand in it */
	MAX_WEB_ITEMS = 64,                /* of a list in it; Go knows 13 cipher suites */
	MAX_WEB_TEXT_BYTES = 64 * 1024,    /* of one text in it: a bundle of client CAs */
	MAX_WEB_USERS = 1024,              /* each is compared with whoever asks */
	MAX_CREDENTIAL_BYTES = 1024,       /* user name and password; bcrypt looks at 72 of those */
	MAX_CERTIFICATE_BYTES = 1 << 20,   /* of a PEM file; all public CAs together have 220 KiB */
	MAX_BCRYPT_COST = 16,              /* 2^16 rounds take seconds, for each guess of anybody */
	MAX_PASSWORD_QUEUE = 64,           /* passwords waiting to be checked, a twentieth s each */
	MAX_PASSWORDS_KNOWN = 128,         /* answers of that which are remembered */
	MAX_PROCESSES_QUEUE = 16,          /* lists of processes waiting; 6 MiB each of 65,536 */
	MAX_CMDLINE_BYTES = 4096,      /* shown of a command line; programs can make any length */
	MAX_CMDLINES_BYTES = 16 << 20, /* of all of a list; with more than 4096, less of each */
};
