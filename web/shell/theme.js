// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The light and dark theme, and the colours of theme.css for drawing on a canvas.
 */

const FONTS = ['--mono', '--sans'];
const dark = matchMedia('(prefers-color-scheme: dark)');

export class Theme {
	#known = new Map();
	#probe = document.createElement('i');

	/** @param {function()} changed called when the colours change */
	constructor(changed) {
		this.#probe.hidden = true;
		document.body.append(this.#probe);
		this.changed = changed;
		dark.addEventListener('change', () => this.#forget());
	}

	/** 'light', 'dark', or '' to follow the system. */
	set(name) {
		const root = document.documentElement;
		if ((root.dataset.theme ?? '') === name)
			return;
		if (name)
			root.dataset.theme = name;
		else
			delete root.dataset.theme;
		this.#forget();
	}

	get dark() {
		const { theme } = document.documentElement.dataset;
		return theme ? theme === 'dark' : dark.matches;
	}

	/** The value of a colour variable such as '--accent', in the form that a canvas accepts. */
	css(name) {
		if (!this.#known.has(name)) {
			this.#probe.style.color = `var(${name})`;
			const raw = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
			const colour = getComputedStyle(this.#probe).color;
			this.#known.set(name, FONTS.includes(name) ? raw : colour);
		}
		return this.#known.get(name);
	}

	#forget() {
		this.#known.clear();
		this.changed();
	}
}
