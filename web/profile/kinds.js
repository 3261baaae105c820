// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The kind of code of a frame, by the name of its binary. */

/** Kinds by number, in the order of the legend. */
export const KINDS = ['native', 'Python', 'kernel', 'JIT', 'GPU', 'process', 'other'];
export const [NATIVE, PYTHON, KERNEL, JIT, GPU, PROCESS, OTHER] = KINDS.keys();

/** Kinds of code that a runtime interprets. */
export const INTERPRETED = [PYTHON];

/* Names in brackets are not files: kernel modules and mappings without a file have such names. */
const BRACKETED = [
	[/^\[kernel/, KERNEL],
	[/^\[python/i, PYTHON],
	[/^\[jit/i, JIT],
	[/^\[(gpu|cuda|rocm|hip)/i, GPU],
	[/^\[(vdso|vsyscall|uprobes|heap|stack|anon)/, NATIVE],
	[/^\[(host|unknown|idle|lock|no stack)/, OTHER],
	[/^\[\w+\]$/, KERNEL],
];

/**
 * @param {string} binary file name of a mapping, '' if unknown
 * @param {string} name of the function
 * @returns {number} index in KINDS
 */
export function kindOf(binary, name) {
	if (binary[0] === '[')
		return BRACKETED.find(([pattern]) => pattern.test(binary))?.[1] ?? OTHER;
	return /^\[(unknown|idle|lock|no stack)/.test(name) ? OTHER : NATIVE;
}
