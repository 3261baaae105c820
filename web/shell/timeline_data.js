// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Converts the answer of /timeline for drawing: times in Unix seconds, use in CPUs.
 */

export const SERIES = 8;
const SHORTEST = 60; // seconds; the least that is shown

function seriesOf(row, cpusOf) {
	return { pid: row.pid, tid: row.tid, name: row.comm, total: row.total / 1e9, cpus: cpusOf(row.cpu) };
}

/** @returns {{from, step, steps, end, cpus, threads, series, other, sum}} */
export function readTimeline(answer) {
	const step = answer.step_ms / 1000, stepNanos = answer.step_ms * 1e6;
	const all = answer.other.length, end = answer.from_unix_ms / 1000 + step * all;
	/* Time before the daemon started is left out, except that at least a minute is shown: steps stay narrow. */
	const begin = Math.min(answer.oldest_unix_ms / 1000, end - SHORTEST);
	const skipped = Math.min(Math.max(Math.floor((begin - answer.from_unix_ms / 1000) / step), 0), all - 1);
	const cpusOf = (nanos) => Float64Array.from(nanos.slice(skipped), (value) => value / stepNanos);
	const series = (answer.threads ?? answer.processes).map((row) => seriesOf(row, cpusOf));
	const other = cpusOf(answer.other), sum = Float64Array.from(other);
	for (const { cpus } of series)
		cpus.forEach((value, i) => { sum[i] += value; });
	return {
		from: answer.from_unix_ms / 1000 + skipped * step,
		step,
		steps: all - skipped,
		end,
		cpus: answer.cpus,
		threads: Boolean(answer.threads),
		series,
		other,
		sum,
	};
}

/** '14:03:07' */
export function clockTime(seconds) {
	return new Date(seconds * 1000).toLocaleTimeString([], { hour12: false });
}

/** '14:03:07, 1.4 of 2 CPUs: make 0.8, cc1 0.5' */
export function describeStep(data, step) {
	const busy = data.series.map(({ name, cpus }) => ({ name, use: cpus[step] }))
		.filter(({ use }) => use >= 0.005).sort((a, b) => b.use - a.use).slice(0, 3);
	const names = busy.map(({ name, use }) => `${name} ${use.toFixed(2)}`).join(', ');
	return `${clockTime(data.from + step * data.step)}, ${data.sum[step].toFixed(2)} of ${data.cpus} CPUs` +
		(names ? `: ${names}` : '');
}

/** Mean use of each series, by stretch of time, for a table of at most `rows` rows. */
export function stretches(data, rows) {
	const width = Math.max(1, Math.ceil(data.steps / rows)), made = [];
	for (let first = 0; first < data.steps; first += width) {
		const last = Math.min(first + width, data.steps), length = last - first;
		const mean = (values) => values.subarray(first, last).reduce((a, b) => a + b, 0) / length;
		made.push({
			from: data.from + first * data.step,
			to: data.from + last * data.step,
			sum: mean(data.sum),
			use: data.series.map(({ cpus }) => mean(cpus)),
			other: mean(data.other),
		});
	}
	return made;
}
