// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Worker that reads profiles: receives an ArrayBuffer, answers {profile} or {error}. */
import { decodeHere } from './profile.js';

/* The buffers of all columns, which are transferred to the page without a copy. */
function columnsOf(value, found = new Set()) {
	if (ArrayBuffer.isView(value))
		found.add(value.buffer);
	else if (Array.isArray(value) ? ArrayBuffer.isView(value[0]) : value && typeof value === 'object')
		Object.values(value).forEach((part) => columnsOf(part, found));
	return found;
}

addEventListener('message', async ({ data }) => {
	try {
		const profile = await decodeHere(new Uint8Array(data));
		postMessage({ profile }, [...columnsOf(profile)]);
	} catch (error) {
		postMessage({ error: error.message });
	}
});
