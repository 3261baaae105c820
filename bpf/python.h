/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What the BPF programs and the daemon know of CPython: where its structures have what a walk
 * needs, how native frames of the interpreter are recognized, and what the BPF programs send of a
 * code object that they meet for the first time. Structures: CPython's Include/cpython
 * and Include/internal, by version.
 */
#pragma once

#include "bpf/abi.h"
#include "bpf/words.h"

/* The value of a word of a Python frame is a signature, which names the code object; see struct
 * python_code. The offset counts from the beginning of its bytecode. */
#define WORD_PYTHON WORD_OF(python)

/* How a native frame of the interpreter's loop is recognized, and which Python frames it runs. */
enum python_entry {
	PYTHON_ENTRY_LOOP = 1, /* 3.8, 3.9: by its code, python_process.loops; one frame each */
	PYTHON_ENTRY_EACH,     /* 3.10: holds the CFrame on the stack; one frame each */
	PYTHON_ENTRY_RUN,      /* 3.11: holds the _PyCFrame; frames up to one with is_entry */
	PYTHON_ENTRY_SHIM,     /* 3.12 on: holds a frame of no function, behind the run */
};

enum {
	PYTHON_LOOPS = 4,            /* pieces of the loop's code: compilers split off cold ones */
	PYTHON_OWNER_SHIM = 3,       /* frame.owner from this value on: an entry, not a function */
	MAX_PYTHON_PROCESSES = 4096, /* one user alone may have half */
	MAX_PYTHON_THREADS = 512,    /* threads of an interpreter that are searched for one */
	MAX_PYTHON_SEARCHES = 1024,  /* interpreters and thread states searched in a process */
};

/* Offsets in bytes into CPython's structures, as this process has them. 0 where there is no such
 * field and none is needed, unless said otherwise. The list of OFFSET(name) is written once, for
 * the tables and the tests. */
#define PYTHON_OFFSETS(OFFSET)                                                                    \
	OFFSET(interpreter_next)    /* PyInterpreterState.next; may be 0 */                       \
	OFFSET(interpreter_threads) /* PyInterpreterState.threads.head (tstate_head) */           \
	OFFSET(interpreter_gil)     /* 3.12 on: .ceval.gil, a pointer to the GIL's state */       \
	OFFSET(thread_next)         /* PyThreadState.next */                                      \
	OFFSET(thread_id)           /* .thread_id, which is pthread_self() */                     \
	OFFSET(thread_native_id)    /* .native_thread_id, 3.11 on */                              \
	OFFSET(thread_frame)        /* .frame (to 3.9), .cframe (3.10 to 3.12), .current_frame */ \
	OFFSET(thread_top_frame)    /* 3.10: .frame, because its cframe has no current_frame */   \
	OFFSET(cframe_current)      /* _PyCFrame.current_frame, 3.11 and 3.12; may be 0 */        \
	OFFSET(cframe_previous)     /* 3.10 to 3.12 */                                            \
	OFFSET(frame_previous)      /* _PyInterpreterFrame.previous (PyFrameObject.f_back) */     \
	OFFSET(frame_code)          /* .f_executable, f_code; may be 0; low bits are tags */      \
	OFFSET(frame_instruction)   /* .instr_ptr, prev_instr: an address; f_lasti: an int */     \
	OFFSET(frame_owner)         /* u8, 3.11 on */                                             \
	OFFSET(frame_entry)         /* u8 .is_entry, 3.11 */                                      \
	OFFSET(frame_tlbc)          /* s32 .tlbc_index, free-threaded 3.14 on */                  \
	OFFSET(code_filename)                                                                     \
	OFFSET(code_name)                                                                         \
	OFFSET(code_qualname)   /* 3.11 on */                                                     \
	OFFSET(code_first_line) /* int */                                                         \
	OFFSET(code_lines)      /* co_linetable, co_lnotab: bytes object */                       \
	OFFSET(code_bytecode)   /* .co_code_adaptive, 3.11 on: the bytecode itself */             \
	OFFSET(code_tlbc)       /* .co_tlbc, free-threaded 3.14 on */                             \
	OFFSET(text_length)     /* PyASCIIObject.length */                                        \
	OFFSET(text_state)      /* .state */                                                      \
	OFFSET(text_ascii)      /* size of PyASCIIObject: where ASCII begins */                   \
	OFFSET(text_compact)    /* size of PyCompactUnicodeObject: where other text begins */     \
	OFFSET(bytes_length)    /* PyVarObject.ob_size */                                         \
	OFFSET(bytes_data)      /* PyBytesObject.ob_sval */                                       \
	OFFSET(gil_holder)      /* in the GIL's state: .last_holder */                            \
	OFFSET(gil_locked)      /* int .locked */                                                 \
	PYTHON_NAME_OFFSETS(OFFSET)

/* Offsets by which the daemon finds the names that a program gives its threads; the BPF programs do
 * not need them. All 0 from 3.14 on, where CPython passes those names to the kernel. */
#define PYTHON_NAME_OFFSETS(OFFSET)                                                          \
	OFFSET(interpreter_modules) /* sys.modules: .imports.modules, to 3.11 .modules */    \
	OFFSET(object_type)         /* PyObject.ob_type: the last word of the common head */ \
	OFFSET(type_flags)          /* PyTypeObject.tp_flags */                              \
	OFFSET(type_cached_keys)    /* PyHeapTypeObject.ht_cached_keys */                    \
	OFFSET(dict_keys)           /* PyDictObject.ma_keys */                               \
	OFFSET(dict_values)         /* .ma_values */

/* How to walk one process; value of the map python_processes, by pid. */
struct python_process {
	u64 interpreters; /* address of the pointer to the first PyInterpreterState */
	u64 gil; /* to 3.11: address of the GIL's state; 0: see interpreter_gil, or there is none */
	u64 loops[PYTHON_LOOPS][2]; /* [start, end) in the process; PYTHON_ENTRY_LOOP only */
	u32 version;                /* as in sys.hexversion >> 16: 0x030b */
	u8 entry;                   /* enum python_entry */
	u8 free_threaded;           /* bool: there is no GIL, objects have another header */
	u8 last_unit;               /* unit of f_lasti, to 3.10: 1 or 2 bytes */
	u8 kind_shift,
		ascii_shift; /* in PyASCIIObject.state: shift of kind:3, and of the bit ascii */
	u8 unused[3];
#define OFFSET(name) u16 name;
	PYTHON_OFFSETS(OFFSET)
#undef OFFSET
	u16 unused_offset[3];
};

/* Sent by the BPF programs, once and sometimes again, for a code object that is on a stack: through
 * the ring buffer python_codes, before the sample that names it is added. It is read while the code
 * runs, so it cannot have been freed. */
struct python_code {
	u64 signature; /* 56 bits: hash of process, program, code object, its names and its lines */
	u64 lines_address; /* of the data of the line table, for one that was too long */
	u64 time_ns;       /* CLOCK_MONOTONIC */
	u64 began_ns;      /* of the process: CLOCK_BOOTTIME */
	u32 pid;
	u32 version;
	u32 first_line;
	u32 lines_bytes; /* of the line table; only the first MAX_PYTHON_LINES are sent */
	u16 name_bytes;  /* sent; 0: could not be read, or empty */
	u16 file_bytes;  /* the same */
	u8 name_kind; /* 1: ASCII, else the bytes of one character: 2 is UCS-2, 4 UCS-4; 3: Latin-1
	               */
	u8 file_kind;
	u8 cut; /* bit 0: the name is longer than what was sent; bit 1: the file name is */
	u8 unused;
	/* name, file and lines follow, one behind the other. */
};
_Static_assert(sizeof(struct python_code) == 56, "shared layout");

enum {
	MAX_PYTHON_NAME = 256, /* bytes of a name that are sent */
	MAX_PYTHON_FILE = 512,
	MAX_PYTHON_LINES = 4096,
	MAX_PYTHON_CODE = 56 + MAX_PYTHON_NAME + MAX_PYTHON_FILE + MAX_PYTHON_LINES,
	PYTHON_CODES_BYTES = 1 << 20, /* of the ring buffer */
	PYTHON_SENT = 1 << 15,        /* slots that remember which signatures were sent: 256 KiB */
};

/* Sent by the BPF programs for a Python thread when it is first sampled, and once a minute while it
 * is sampled: through the same ring buffer. The kind of the first word distinguishes it from a
 * struct python_code. */
struct python_thread_told {
	u64 word; /* WORD_THREAD | its pthread_self(), which Python calls its ident */
	u32 pid, tid;
	u32 image; /* as of tally_key */
	u32 unused;
	u64 time_ns;  /* CLOCK_MONOTONIC */
	u64 began_ns; /* of the process: CLOCK_BOOTTIME */
};
_Static_assert(sizeof(struct python_thread_told) == 40, "shared layout");

/* State of the GIL at a sample; in tally_key.gil. */
enum python_gil {
	GIL_UNKNOWN,  /* no Python thread, or not known */
	GIL_HELD,     /* by this thread */
	GIL_RELEASED, /* this thread runs without it */
	GIL_WAITING,  /* this thread wants it */
	GIL_NONE,     /* free-threaded */
};
