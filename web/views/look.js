// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** What flame graphs look like in this state: colours of the theme, of the boxes, and what is searched. */
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
