// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** The line below a view: the facts about the chosen frame, and links to it in other views. */
import { element, visible } from '../dom.js';
import { frameLinks } from './controls.js';
import { amount, placeOf } from './describe.js';

export class Details {
	constructor(context) {
		this.context = context;
		this.node = element('div', { class: 'details' });
	}

	/** @param {[string, string][]} facts default: those of the frame as a whole */
	show(model, frame, facts = frameFacts(model, frame)) {
		const { frames } = model;
		this.node.replaceChildren(
			element('strong', {}, visible(frames.name[frame])),
			element('dl', {}, facts.map(([label, text]) =>
				element('div', {}, element('dt', {}, label), element('dd', {}, text)))),
			element('span', { class: 'links' }, frame ? frameLinks(this.context, frames, frame) : []));
	}

	clear() {
		this.node.replaceChildren();
	}
}

function frameFacts(model, frame) {
	const { frames } = model;
	const facts = [
		['total', amount(model, frames.total[frame], frames.baseTotal?.[frame])],
		['self', amount(model, frames.self[frame], frames.baseSelf?.[frame])],
		['source', placeOf(frames, frame)],
		['binary', visible(frames.binary[frame])],
	];
	return facts.filter(([, text]) => text);
}
