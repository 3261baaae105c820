// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Requests to the daemon. All addresses are relative, so the page works below a proxy's prefix. Every failure is
 * an Error with one readable line: the daemon's own message if it sent one.
 */

const MAX_ERROR_TEXT = 600;

async function refusal(response) {
	const text = (await response.text()).trim().slice(0, MAX_ERROR_TEXT);
	return Object.assign(new Error(text || `the daemon answered ${response.status}`), { status: response.status });
}

async function ask(address, options) {
	// Built from origin and path, without a user name and password: fetch() refuses addresses that have them.
	const from = location.origin + location.pathname;
	let response;
	try {
		response = await fetch(new URL(address, from), { cache: 'no-store', ...options });
	} catch (error) {
		if (error.name === 'AbortError')
			throw error;
		throw new Error('the daemon does not answer; is it running?');
	}
	if (!response.ok)
		throw await refusal(response);
	return response;
}

export async function getJson(address, options) {
	return (await ask(address, options)).json();
}

export async function getBytes(address, options) {
	return (await ask(address, options)).arrayBuffer();
}

/** The list of what this daemon serves, as text. */
export async function getIndex() {
	return (await ask('./', { headers: { Accept: 'text/plain' } })).text();
}

/* The kinds of profile whose source of samples works. */
function kindsThatWork(api, status) {
	const working = new Set(status.sources.filter(({ on }) => on).map(({ name }) => name));
	return api.kinds.filter(({ name, of }) => working.has(of ?? name));
}

/**
 * What this daemon can do.
 * @returns {Promise<{status: object, index: string, kinds: {name: string, title: string}[], by: string[],
 *   has: function(string): boolean}>}
 */
export async function getAbilities() {
	const [status, api, index] = await Promise.all([getJson('status'), getJson('api'), getIndex()]);
	const served = new Set(api.endpoints.map(({ path }) => path));
	return { status, index, kinds: kindsThatWork(api, status), by: api.by, has: (path) => served.has(`/${path}`) };
}
