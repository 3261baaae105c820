// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Small controls that views share. Each one writes a key of the state. */
import { element, visible } from '../dom.js';

/** A choice of values: [[value, label]]; the first one is the meaning of ''. */
export function choice(context, key, label, values) {
	const select = element('select', {
		on: { change: () => context.set({ [key]: select.value === values[0][0] ? '' : select.value }) },
	}, values.map(([value, text]) => element('option', { value }, text)));
	return {
		node: element('label', { class: 'choice' }, `${label} `, select),
		update() {
			select.value = context.state[key] || values[0][0];
		},
	};
}

/** A switch, with the value '1' or ''. */
export function toggle(context, key, label) {
	const button = element('button', {
		type: 'button',
		on: { click: () => context.set({ [key]: context.state[key] === '1' ? '' : '1' }) },
	}, label);
	return {
		node: button,
		update() {
			button.setAttribute('aria-pressed', String(context.state[key] === '1'));
		},
	};
}

/** Buttons that show a frame in the other views. */
export function frameLinks(context, frames, frame) {
	const name = frames.name[frame];
	const link = (view, label) => (context.state.view === view ? null : element('button', {
		type: 'button',
		'aria-label': `${label} of ${visible(name)}`,
		on: { click: () => context.set({ view, focus: name }) },
	}, label));
	return [
		link('sandwich', 'Callers and callees'),
		link('graph', 'Call graph'),
		frames.file[frame] ? link('source', 'Source') : null,
	];
}

/** Number of the frame that the state's focus names, or -1. */
export function focusedFrame(model, state) {
	return state.focus ? model.frames.name.indexOf(state.focus, 1) : -1;
}

/** The frame in focus, or else the row with the largest self. */
export function focusOrHottest(model, state) {
	const frame = focusedFrame(model, state);
	if (frame > 0 && (model.frames.total[frame] || model.frames.baseTotal?.[frame]))
		return frame;
	return model.rows.reduce((best, row) =>
		(best < 0 || model.frames.self[row] > model.frames.self[best] ? row : best), -1);
}
