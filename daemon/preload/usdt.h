/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Probes that a profiler can find in a file: USDT, "user statically defined tracing". A probe is
 * one nop and a note in .note.stapsdt, which says where the probe is, its name, which registers
 * have its arguments, and where its semaphore is. A profiler that listens puts a breakpoint on the
 * nop. While it does, the kernel keeps the semaphore above 0 in each process, so that arguments are
 * only prepared when a profiler listens.
 *
 * The note's layout is that of SystemTap (User Space Probe Implementation): three words of 4 bytes
 * (length of owner, length of description, type 3), the owner "stapsdt", and the description: the
 * addresses of nop, base and semaphore, then three strings. The addresses are those of the file;
 * the base, one byte in a section of its own, shows by how much prelink has moved the rest since.
 *
 * On x86-64 the nop is the one of one byte. Linux 6.18 turns a nop of five bytes into a call to a
 * page that children do not inherit, so each child that is forked while a profiler listens dies at
 * its next sample. At one sample in hundreds of kilobytes the cost of the trap does not matter.
 */
#pragma once

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the probes know x86-64 and arm64"
#endif

/* Defines the semaphore of a probe. Only the kernel writes it, at the file offset that the profiler
 * gives. */
#define USDT_SEMAPHORE(provider, name)                        \
	volatile unsigned short provider##_##name##_semaphore \
		__attribute__((section(".probes"), visibility("hidden")))

/* Whether a profiler listens. */
#define USDT_HEARD(provider, name) __builtin_expect(provider##_##name##_semaphore != 0, 0)

/* Exactly one file of an object defines the base. */
#define USDT_BASE()                                              \
	__asm__(".pushsection .stapsdt.base, \"a\", %progbits\n" \
	        ".globl _.stapsdt.base\n"                        \
	        ".hidden _.stapsdt.base\n"                       \
	        "_.stapsdt.base: .byte 0\n"                      \
	        ".popsection\n")

/* `arguments` gives size and register of each operand: "8@%0 8@%1". */
#define USDT_PROBE(provider, name, arguments, ...)                                      \
	__asm__ volatile("771: nop\n"                                                   \
	                 ".pushsection .note.stapsdt, \"\", %%note\n"                   \
	                 ".balign 4\n"                                                  \
	                 ".4byte 773f - 772f, 775f - 774f, 3\n"                         \
	                 "772: .asciz \"stapsdt\"\n"                                    \
	                 "773: .balign 4\n"                                             \
	                 "774: .8byte 771b, _.stapsdt.base\n"                           \
	                 ".8byte " #provider "_" #name "_semaphore\n"                   \
	                 ".asciz \"" #provider "\", \"" #name "\", \"" arguments "\"\n" \
	                 "775: .balign 4\n"                                             \
	                 ".popsection\n" ::__VA_ARGS__)
