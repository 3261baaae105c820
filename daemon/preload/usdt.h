/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Probes that a profiler can find in a file: USDT, "user statically defined tracing". A probe is
 * one nop and a note in .note.stapsdt that tells where it is, what it is called, which registers
 * have its arguments, and where its semaphore is. A profiler that listens puts a breakpoint on the
 * nop, and the kernel counts the semaphore up in each process meanwhile, so that nobody prepares
 * arguments for no one.
 *
 * The note's layout is that of SystemTap (User Space Probe Implementation): three words of 4 bytes
 * (length of owner, length of description, type 3), the owner "stapsdt", and the description: the
 * addresses of nop, base and semaphore, then three strings. The addresses are those of the file;
 * the base, one byte of a section of its own, tells by how much prelink moved the rest since.
 *
 * On x86-64 the nop is the one of one byte. Linux 6.18 turns that of five bytes into a call of a
 * page which children do not inherit, so that each child that is forked while somebody listens dies
 * of its next sample. A sample in hundreds of kilobytes can afford the trap.
 */
#pragma once

#if !defined(__x86_64__) && !defined(__aarch64__)
#error "the probes know x86-64 and arm64"
#endif

/* Defines the semaphore of a probe. Only the kernel writes it; it writes to the file's offset of
 * it. */
#define USDT_SEMAPHORE(provider, name)                        \
	volatile unsigned short provider##_##name##_semaphore \
		__attribute__((section(".probes"), visibility("hidden")))

/* Whether somebody listens. */
#define USDT_HEARD(provider, name) __builtin_expect(provider##_##name##_semaphore != 0, 0)

/* Exactly one file of an object defines the base. */
#define USDT_BASE()                                              \
	__asm__(".pushsection .stapsdt.base, \"a\", %progbits\n" \
	        ".globl _.stapsdt.base\n"                        \
	        ".hidden _.stapsdt.base\n"                       \
	        "_.stapsdt.base: .byte 0\n"                      \
	        ".popsection\n")

/* `arguments` says size and register of each operand: "8@%0 8@%1". */
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
