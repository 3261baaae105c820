// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The look of flame graphs in a state: colours of the theme and of boxes, and search matches. */
import { matchFrames } from '../profile/search.js';
import { paletteOf } from './palette.js';

export function lookOf(model, context, upwards) {
	const { state, colours } = context, css = (name) => colours.css(`--${name}`).trim();
	return {
		upwards,
		palette: paletteOf(model, state.colour, colours.dark),
		marks: matchFrames(model.frames, state.search),
		font: 'system-ui, sans-serif',
		colours: {
			surface: css('surface'),
			text: css('text'),
			match: css('match'),
			onMatch: colours.dark ? '#ffffff' : '#16181d',
			focus: css('focus'),
		},
	};
}
