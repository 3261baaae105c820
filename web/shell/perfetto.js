// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Shows a trace in Perfetto's page, in a window of its own. The page sends the trace as a message from window to
 * window, so it does not leave the browser. Perfetto's page answers PING with PONG once it listens, and then
 * accepts one trace.
 */
const PERFETTO = 'https://ui.perfetto.dev';
const ASK_EVERY = 100, PATIENCE = 60_000; // milliseconds

/* Resolves when the page in that window listens. The page says so only in answer to a PING. */
function listens(target) {
	return new Promise((resolve, reject) => {
		const end = performance.now() + PATIENCE;
		const stop = (settle, value) => {
			clearInterval(timer);
			removeEventListener('message', heard);
			settle(value);
		};
		const heard = ({ source, origin, data }) => {
			if (source === target && origin === PERFETTO && data === 'PONG')
				stop(resolve);
		};
		const timer = setInterval(() => {
			if (target.closed)
				stop(reject, new Error('the Perfetto window was closed before it received the trace'));
			else if (performance.now() > end)
				stop(reject, new Error(`${PERFETTO} does not answer; save the trace and open it there`));
			else
				target.postMessage('PING', '*');
		}, ASK_EVERY);
		addEventListener('message', heard);
	});
}

/**
 * Must be called while a click is handled, or the browser does not open the window.
 * @param {string} title
 * @param {function(): Promise<ArrayBuffer>} fetchTrace
 */
export async function openInPerfetto(title, fetchTrace) {
	const target = open(PERFETTO);
	if (!target)
		throw new Error('the browser blocks the Perfetto window; allow pop-ups for this page');
	const [buffer] = await Promise.all([fetchTrace(), listens(target)]);
	target.postMessage({ perfetto: { buffer, title } }, PERFETTO);
}
