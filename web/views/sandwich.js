// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** One frame, with all its callers above it and all its callees below. */
import { element } from '../dom.js';
import { calleesOf, callersOf } from '../profile/callers.js';
import { focusOrHottest } from './controls.js';
import { Details } from './details.js';
import { FlameChart } from './flame_chart.js';
import { FramePicker } from './frame_picker.js';
import { lookOf } from './look.js';

export const title = 'Sandwich';

class SandwichView {
	constructor(host, context) {
		this.context = context;
		this.picker = new FramePicker(context);
		this.details = new Details(context);
		this.root = element('div', { class: 'flame sandwich' },
			element('div', { class: 'view-bar' }, this.picker.node), this.details.node);
		host.append(this.root);
		this.callers = this.#chart('Callers', 'Callers of the function, above it. ');
		this.callees = this.#chart('Callees', 'What the function calls, below it. ');
	}

	#chart(heading, label) {
		const part = element('section', { class: 'sandwich-part', 'aria-label': heading },
			element('h3', {}, heading));
		this.root.append(part);
		return new FlameChart(part, this.context, {
			label: `${label}Arrow keys move, Enter zooms in, Escape zooms out.`, hideRoot: true,
		});
	}

	show(model) {
		const frame = focusOrHottest(model, this.context.state);
		if (model !== this.model || frame !== this.frame) {
			this.model = model;
			this.frame = frame;
			this.trees = [callersOf(model, frame), calleesOf(model, frame)];
		}
		this.picker.show(model, frame);
		this.details.show(model, frame);
		this.callers.show(model, this.trees[0], lookOf(model, this.context, true));
		this.callees.show(model, this.trees[1], lookOf(model, this.context, false));
	}

	resize() {
		this.callers.resize();
		this.callees.resize();
	}

	destroy() {
		this.callers.destroy();
		this.callees.destroy();
		this.root.remove();
	}
}

export function createView(host, context) {
	return new SandwichView(host, context);
}
