// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The numeric columns of tables. Self and total each have a value and its share, or in a diff the base, the new
 * value and the change. value(row) is for sorting and copying; text(row) is shown.
 */
import { formatDelta, formatShare, formatValue } from '../profile/format.js';

function plain(model, key, label) {
	const values = model.frames[key];
	return [
		{ key, label, value: (row) => values[row],
			text: (row) => formatValue(values[row], model.unit) },
		{ key: `${key}-share`, sortKey: key, label: `${label} %`,
			value: (row) => (model.total ? 100 * values[row] / model.total : 0),
			text: (row) => formatShare(values[row], model.total) },
	];
}

function changed(model, key, baseKey, label) {
	const now = model.frames[key], base = model.frames[baseKey];
	return [
		{ key: baseKey, label: `${label} base`, value: (row) => base[row],
			text: (row) => formatValue(base[row], model.unit) },
		{ key, label: `${label} new`, value: (row) => now[row],
			text: (row) => formatValue(now[row], model.unit) },
		{ key: `${key}-delta`, label: `${label} change`, isDelta: true,
			value: (row) => now[row] - base[row],
			text: (row) => formatDelta(now[row] - base[row], model.unit) },
	];
}

export function columnsOf(model) {
	return model.isDiff ?
		[...changed(model, 'self', 'baseSelf', 'Self'), ...changed(model, 'total', 'baseTotal', 'Total')] :
		[...plain(model, 'self', 'Self'), ...plain(model, 'total', 'Total')];
}

/** The CSS class of a cell that shows a change. */
export function deltaClass(column, row) {
	if (!column.isDelta)
		return 'number';
	const value = column.value(row);
	return value > 0 ? 'number more' : value < 0 ? 'number less' : 'number';
}
