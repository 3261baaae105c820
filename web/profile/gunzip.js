// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Decompression with a bound, by the browser's own DecompressionStream. */

/** No profile is larger; a small file that claims to be is not unpacked any further. */
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
			throw new RangeError(`the file has more than ${limit >> 20} MiB unpacked`);
		}
		chunks.push(value);
	}
}

/**
 * The bytes of a gzip file unpacked, or the bytes themselves where they are none.
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
		throw new Error('not a whole gzip file: it is cut off or damaged');
	}
}
