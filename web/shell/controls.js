// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * The row of choices above the views. Each choice is a key of the state.
 */
import { element, visible } from '../dom.js';
import { DEFAULT_LAST, WITH_WAITS } from './source.js';

const RANGES = ['10s', '30s', '1m', '2m', '5m', '10m'];

const capital = (text) => text[0].toUpperCase() + text.slice(1);

export class Controls {
	/** @param {{store: Store, profile: function(): Profile?, captured: boolean}} page */
	constructor(host, page, { kinds, by }) {
		this.page = page;
		this.kinds = kinds;
		this.by = by;
		this.inputs = {
			kind: this.#select('kind', kinds.map(({ name, title }) => [name === 'cpu' ? '' : name, title])),
			last: this.#select('last', []),
			live: this.#check('live', '1', ''),
			type: this.#select('type', []),
			by: this.#select('by', by.map((name) => [name === 'function' ? '' : name, capital(name)])),
			kernel: this.#check('kernel', '', '0'),
			native: this.#check('native', '', '0'),
			work: this.#check('work', '', '0'),
			loops: this.#check('loops', '1', ''),
			search: this.#search(),
		};
		const { inputs } = this;
		this.kindLabel = this.#label('Profile', inputs.kind);
		this.workLabel = this.#label('Waiting for work', inputs.work);
		host.append(this.kindLabel, this.#label('Time', inputs.last), this.#label('Live', inputs.live),
			this.#label('Value', inputs.type), this.#label('By', inputs.by), this.#label('Kernel', inputs.kernel),
			this.#label('Native', inputs.native), this.workLabel, this.#label('Fold recursion', inputs.loops), this.#label('Search', inputs.search));
	}

	#label(text, input) {
		input.id = `control-${text.toLowerCase().replaceAll(' ', '-')}`;
		return element('div', { class: `control control-${input.type === 'checkbox' ? 'check' : 'field'}` },
			element('label', { for: input.id }, text), input);
	}

	#select(key, options) {
		const select = element('select', { on: { change: () => this.#choose(key, select.value) } });
		this.#fill(select, options);
		return select;
	}

	#fill(select, options) {
		const made = options.map(([value, text]) => element('option', { value }, visible(text)));
		select.replaceChildren(...made);
	}

	#choose(key, value) {
		const change = { [key]: value };
		if (key === 'last')
			Object.assign(change, { from: '', to: '', base: '' });
		if (key === 'kind')
			change.type = '';
		this.page.store.set(change);
	}

	/* `on` and `off` are the values of the key. */
	#check(key, on, off) {
		const box = element('input', { type: 'checkbox', on: { change: () => {
			const change = { [key]: box.checked ? on : off };
			if (key === 'live' && box.checked)
				Object.assign(change, { from: '', to: '', base: '' });
			this.page.store.set(change);
		} } });
		box.shows = (value) => { box.checked = value === on; };
		return box;
	}

	#search() {
		const input = element('input', {
			type: 'search', placeholder: 'regular expression  ( / )', spellcheck: false,
			on: { input: () => this.page.store.set({ search: input.value }, { replace: true }) },
		});
		return input;
	}

	focusSearch() {
		this.inputs.search.focus();
		this.inputs.search.select();
	}

	/** Shows the current state. */
	show() {
		const { store: { state } } = this.page, { inputs } = this, profile = this.page.profile();
		this.kindLabel.hidden = this.kinds.length < 2;
		this.workLabel.hidden = !WITH_WAITS.includes(state.kind);
		this.#fill(inputs.last, [
			...(state.from ? [['chosen', 'Chosen interval']] : []),
			...(state.last && !RANGES.includes(state.last) ? [[state.last, `Last ${state.last}`]] : []),
			...RANGES.map((range) => [range, `Last ${range}`])]);
		inputs.last.value = state.from ? 'chosen' : state.last || DEFAULT_LAST;
		const types = profile?.types ?? [];
		this.#fill(inputs.type, types.map(({ type, unit }) => [type, unit && unit !== 'count' ? `${type} (${unit})` : type]));
		inputs.type.value = types.some(({ type }) => type === state.type) ? state.type
			: types[profile?.defaultType]?.type ?? '';
		inputs.kind.value = state.kind === 'cpu' ? '' : state.kind;
		inputs.by.value = this.by.includes(state.by) && state.by !== 'function' ? state.by : '';
		['live', 'kernel', 'native', 'work', 'loops'].forEach((key) => inputs[key].shows(state[key]));
		if (document.activeElement !== inputs.search)
			inputs.search.value = state.search;
		this.#checkSearch(state.search);
	}

	#checkSearch(text) {
		let wrong = '';
		try {
			RegExp(text);
		} catch (error) {
			wrong = error.message;
		}
		this.inputs.search.setAttribute('aria-invalid', String(Boolean(wrong)));
		this.inputs.search.title = wrong;
	}
}
