// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Bounded decompression with the browser's DecompressionStream. */

/** The largest profile that is read. Decompression of a larger one stops at this size. */
export const MAX_BYTES = 512 * 1024 * 1024;

function isGzip(bytes) {
	return bytes.length > 2 && bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function concatenated(chunks, size) {
	const all = new Uint8Array(size);
	let at = 0;
	for (const chunk of chunks) {
		all.set(chunk, at);
		at += chunk.length;
	}
	return all;
}

async function readAll(reader, limit) {
	const chunks = [];
	let size = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done)
			return concatenated(chunks, size);
		size += value.length;
		if (size > limit) {
			reader.cancel().catch(() => {});
			throw new RangeError(`the uncompressed file is larger than ${limit >> 20} MiB`);
		}
		chunks.push(value);
	}
}

/**
 * Unpacks a gzip file; returns other bytes as they are.
 * @param {Uint8Array} bytes
 * @param {number} limit
 * @returns {Promise<Uint8Array>}
 */
export async function gunzip(bytes, limit = MAX_BYTES) {
	if (!isGzip(bytes))
		return bytes;
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
	try {
		return await readAll(stream.getReader(), limit);
	} catch (error) {
		if (error instanceof RangeError)
			throw new Error(error.message);
		throw new Error('the gzip file is truncated or damaged');
	}
}
