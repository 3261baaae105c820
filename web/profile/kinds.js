// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** What kind of code a frame is, by the name of the binary that it is in. */

/** Kinds by number; the order is that of the legend. */
export const KINDS = ['native', 'Python', 'kernel', 'JIT', 'GPU', 'process', 'other'];
export const [NATIVE, PYTHON, KERNEL, JIT, GPU, PROCESS, OTHER] = KINDS.keys();

/* Names in brackets are no files: a kernel module has its name in them, and so has what a process maps
 * without a file. */
const BRACKETED = [
	[/^\[kernel/, KERNEL],
	[/^\[python/i, PYTHON],
	[/^\[jit/i, JIT],
	[/^\[(gpu|cuda|rocm|hip)/i, GPU],
	[/^\[(vdso|vsyscall|uprobes|heap|stack|anon)/, NATIVE],
	[/^\[(host|unknown|idle|no stack)/, OTHER],
	[/^\[\w+\]$/, KERNEL],
];

/**
 * @param {string} binary file name of a mapping, '' where it is not known
 * @param {string} name of the function
 * @returns {number} index in KINDS
 */
export function kindOf(binary, name) {
	if (/^\[(unknown|idle|no stack)/.test(name))
		return OTHER;
	if (binary[0] === '[')
		return BRACKETED.find(([pattern]) => pattern.test(binary))?.[1] ?? OTHER;
	return NATIVE;
}
