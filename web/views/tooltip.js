// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Describes the box under the pointer. Screen readers get the same text as announcements. */
import { element } from '../dom.js';

const GAP = 14;

export class Tooltip {
	constructor(host) {
		this.box = element('div', { class: 'tooltip', hidden: true, 'aria-hidden': 'true' });
		host.append(this.box);
	}

	/** @param {[string, string][]} facts labels and texts */
	show(event, title, facts) {
		this.box.replaceChildren(
			element('strong', {}, title),
			element('dl', {}, facts.map(([label, text]) =>
				[element('dt', {}, label), element('dd', {}, text)])));
		this.box.hidden = false;
		const { offsetWidth: width, offsetHeight: height } = this.box;
		const left = Math.min(event.clientX + GAP, window.innerWidth - width - GAP);
		const below = event.clientY + GAP;
		const top = below + height < window.innerHeight ? below : event.clientY - height - GAP;
		this.box.style.left = `${Math.max(left, 4)}px`;
		this.box.style.top = `${Math.max(top, 4)}px`;
	}

	hide() {
		this.box.hidden = true;
	}

	destroy() {
		this.box.remove();
	}
}
