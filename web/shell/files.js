// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Profiles from files that the user drops anywhere on the page or picks.
 */
import { element } from '../dom.js';

const MAX_BYTES = 512 << 20;

export class Files {
	/** @param {function(name, bytes, asBaseline)} open may throw; `failed` gets the error */
	constructor(open, failed) {
		this.open = open;
		this.failed = failed;
		this.picker = element('input', { type: 'file', hidden: true, 'aria-label': 'Profile to open',
			accept: '.gz,.pb,.pprof,.prof', on: { change: () => this.#picked() } });
		document.body.append(this.picker);
		addEventListener('dragover', (event) => this.#over(event));
		addEventListener('dragleave', (event) => event.relatedTarget ?? this.#mark(false));
		addEventListener('drop', (event) => this.#drop(event));
	}

	/** Opens the browser's dialog to pick a file. */
	pick(asBaseline = false) {
		this.asBaseline = asBaseline;
		this.picker.value = '';
		this.picker.click();
	}

	#mark(dropping) {
		document.documentElement.classList.toggle('dropping', dropping);
	}

	#over(event) {
		if (!event.dataTransfer.types.includes('Files'))
			return;
		event.preventDefault();
		this.#mark(true);
	}

	#drop(event) {
		this.#mark(false);
		if (!event.dataTransfer.files.length)
			return;
		event.preventDefault();
		this.#read(event.dataTransfer.files[0], false);
	}

	#picked() {
		if (this.picker.files.length)
			this.#read(this.picker.files[0], this.asBaseline);
	}

	async #read(file, asBaseline) {
		try {
			if (file.size > MAX_BYTES)
				throw new Error(`it has ${file.size} bytes; at most ${MAX_BYTES} are accepted`);
			await this.open(file.name, await file.arrayBuffer(), asBaseline);
		} catch (error) {
			this.failed(new Error(`${file.name}: ${error.message}`));
		}
	}
}
