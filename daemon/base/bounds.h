/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Every size that comes from outside has its limit here, with the reason. Exceeding a limit is an
 * error or increments a counter; it never makes an allocation bigger.
 */
#pragma once

enum {
	/* All lines of a request. A connection takes as much memory once it was answered, because
	 * libmicrohttpd clears the memory that it reserves. libmicrohttpd itself refuses a longer
	 * request. */
	MAX_REQUEST_BYTES = 32 * 1024,
	MAX_QUERY_BYTES = 16 * 1024,
	MAX_QUERY_VALUES = 64,   /* values of one repeatable parameter, such as pid= */
	MAX_LISTENERS = 8,       /* how often --listen may be given */
	MAX_CONNECTIONS = 16384, /* of one listening socket; each takes a descriptor */
	MAX_KEPT_CONNECTIONS =
		2048, /* with more, a connection is closed after its answer, to free its memory */
	MAX_GROUP_MEMBERS = 65536, /* of the --group; the directory of a university has fewer */
	MAX_RENDER_QUEUE = MAX_CONNECTIONS, /* answers waiting for the render lane */
	MAX_CAPTURE_SECONDS = 600,          /* how far back the history reaches */
	MAX_TASK_ID = 1 << 22,              /* of a process or thread; the kernel's own limit */
	MAX_HEAP_RATE = 1 << 30, /* bytes per sample; with more, processes end before the first */
	MAX_HEAP_BUDGET_PERCENT = 10000, /* of one core: the allocators of a hundred threads */
	MAX_SAMPLE_HZ = 1000,            /* above it the profiler is visible in its measurements */
	MAX_STACK_FRAMES =
		1024, /* words: 512 native frames; each interpreted frame takes two words */
	MAX_SYMBOLS = 4 * 1000 * 1000, /* of one file; libLLVM with debug symbols has 0.9 million */
	MAX_SYMBOL_NAME_BYTES = 64 * 1024, /* longer ones are truncated; C++ reaches 30 KiB */
	MAX_SECTION_BYTES = 1 << 30, /* of a symbol or string table, checked before it is read */
	MAX_FRAME_SECTION_BYTES = 128 << 20, /* of .eh_frame; that of a browser is 20 MB */
	MAX_BUILD_ID_BYTES = 64,    /* SHA-1 is 20, anything over SHA-512 is not a build ID */
	MAX_NOTE_BYTES = 64 * 1024, /* of one note segment; real ones have a few hundred */
	MAX_NOTES = 64,             /* note segments and sections looked at for a build ID */
	MAX_SEGMENTS = 128,         /* PT_LOAD entries looked at */
	MAX_KALLSYMS_BYTES = 64 * 1024 * 1024,  /* /proc/kallsyms is 10 to 20 MB */
	MAX_PROC_FILE_BYTES = 16 * 1024 * 1024, /* /proc/PID/maps of a JIT with 100,000 regions */
	MAX_MAPPINGS = 65536,                   /* executable mappings of one process */
	MAX_MAPPING_BYTES = 64 << 20,           /* all mappings; those of 3,000 processes take 10 */
	MAX_PROCESSES = 65536,                  /* in the process table, exited ones included */
	MAX_IMAGES = 3 * MAX_PROCESSES,         /* programs that they run or ran before: 27 MiB */
	MAX_KIN = 1 << 18,                      /* ended processes that had started others: 4 MiB */
	MAX_OBJECTS = 8192,                     /* executables kept open */
	MAX_UNWIND_ROWS = 16 * 1000 * 1000,  /* of one file; libLLVM has 0.9 million, a browser 3 */
	MAX_HEAP_READER_BYTES = 128 << 20,   /* to look for places for probes in one file */
	MAX_HEAP_SEARCH_BYTES = 256 << 20,   /* to look for an allocator among a file's symbols */
	MAX_GPU_READER_BYTES = 256 << 20,    /* the same for CUDA; jaxlib's plugin takes 96 MB */
	MAX_PYTHON_READER_BYTES = 128 << 20, /* to look for CPython in one file */
	MAX_TABLE_READER_BYTES = 256 << 20,  /* to build one unwind table; libLLVM takes 40 MB */
	MAX_UNWIND_CHUNKS = 1024,            /* of 256 KiB; also the limit of --unwind-memory */
	MAX_PIECES = 2048,                   /* of a file's text, of 512 KiB; a browser has 450 */
	MAX_EXPORT_BYTES = 16 << 20, /* of one exported profile; 10 minutes of a busy host: 2 MB */
	MAX_PATH_BYTES = 4096,
	MAX_CONTROL_GROUP_BYTES = 512,     /* of its path; that of a pod in a pod has 400 */
	MAX_USERS_FILE_BYTES = 4 << 20,    /* of /etc/passwd and the like; 50,000 lines */
	MAX_DEBUG_FILE_BYTES = 0x7fffffff, /* of a debug file on a server; a browser's: 1.5 GB */
	MAX_WEB_CONFIG_BYTES = 256 * 1024, /* --web-config, which may contain certificates */
	MAX_WEB_ITEMS = 64,                /* of a list in it; Go knows 13 cipher suites */
	MAX_WEB_TEXT_BYTES = 64 * 1024,    /* of one string in it: a bundle of client CAs */
	MAX_WEB_USERS = 1024,              /* all are compared with the name in each request */
	MAX_CREDENTIAL_BYTES = 1024,     /* user name and password; bcrypt uses 72 of the latter */
	MAX_CERTIFICATE_BYTES = 1 << 20, /* of a PEM file; all public CAs together have 220 KiB */
	MAX_BCRYPT_COST = 16,            /* 2^16 rounds take seconds for each guessed password */
	MAX_PASSWORD_QUEUE = 64,         /* passwords waiting for a check, 1/20 s each */
	MAX_PASSWORDS_KNOWN = 128,       /* results of these checks that are remembered */
	MAX_PROCESSES_QUEUE = 16,        /* waiting process lists */
	MAX_CMDLINE_BYTES = 4096,        /* shown of a command line, which may have any length */
	MAX_CMDLINES_BYTES = 16 << 20,   /* of all in a list; beyond 4096 entries each gets less */
};
