// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Formats values for people. */

const SCALES = {
	nanoseconds: [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
	bytes: [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
};
/* From two minutes on, times are written in minutes and hours. */
const MINUTES_FROM = 120e9;

function threeDigits(value) {
	return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

function scaled(value, unit) {
	const scales = SCALES[unit];
	if (!scales)
		return Math.round(value).toLocaleString('en-US');
	const [size, name] = scales.find(([scale, label]) => value >= scale &&
		(value >= MINUTES_FROM || (label !== 'min' && label !== 'h'))) ?? scales.at(-1);
	return `${size === 1 ? Math.round(value) : threeDigits(value / size)} ${name}`;
}

/** '1.23 s', '4.00 MiB', '1,234'. */
export function formatValue(value, unit) {
	if (!value)
		return '0';
	return (value < 0 ? '−' : '') + scaled(Math.abs(value), unit);
}

/** The same with a sign, for a change. */
export function formatDelta(value, unit) {
	return value > 0 ? `+${formatValue(value, unit)}` : formatValue(value, unit);
}

/** '12.3 %', or '–' if the whole is 0. */
export function formatShare(part, whole) {
	if (!whole)
		return '–';
	const percent = 100 * part / whole;
	if (percent && Math.abs(percent) < 0.1)
		return percent > 0 ? '<0.1 %' : '>−0.1 %';
	return `${percent.toFixed(1).replace('-', '−')} %`;
}
