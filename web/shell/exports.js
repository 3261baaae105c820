// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Saves the profile itself, for pprof, speedscope and Perfetto, or the view as text or a picture.
 */
import { element } from '../dom.js';
import { toFolded } from '../profile/folded.js';
import { getBytes } from './daemon.js';
import { openInPerfetto } from './perfetto.js';
import { intervalOf, profileAddress } from './source.js';

const KEEP_URL = 60_000; // milliseconds; a browser may first ask where to save the file

function save(name, data, type) {
	const address = URL.createObjectURL(data instanceof Blob ? data : new Blob([data], { type }));
	element('a', { href: address, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(address), KEEP_URL);
}

export class Exports {
	/** @param {{source: Source, model: function(), view: function(), state: function(), failed: function(Error)}} page */
	constructor(host, page) {
		this.page = page;
		this.entries = [
			['pprof (.pb.gz)', () => this.page.source.shown, () => this.#pprof()],
			['Perfetto trace (.pftrace.gz)', () => this.page.source.shown?.address, async () => save(this.#title('pftrace.gz'), await this.#trace())],
			['Open in Perfetto', () => this.page.source.shown, () => openInPerfetto(this.#title('pftrace.gz'), () => this.#trace())],
			['Folded stacks', () => this.page.model(), () => save(this.#name('folded'), toFolded(this.page.model()), 'text/plain')],
			['SVG picture', () => this.page.view()?.toSvg, () => save(this.#name('svg'), this.page.view().toSvg(), 'image/svg+xml')],
			['PNG picture', () => this.page.view()?.toPng, async () => save(this.#name('png'), await this.page.view().toPng())],
			['Table (.tsv)', () => this.page.view()?.toTsv, () => save(this.#name('tsv'), this.page.view().toTsv(), 'text/tab-separated-values')],
			['Print', () => this.page.model(), () => print()],
		];
		this.list = element('ul', { class: 'menu' });
		this.box = element('details', { class: 'menu-box', on: { toggle: () => this.#fill(), keydown: (event) => this.#key(event) } },
			element('summary', {}, 'Save'), this.list);
		addEventListener('pointerdown', (event) => {
			if (!this.box.contains(event.target))
				this.box.open = false;
		});
		host.append(this.box);
	}

	#name(suffix) {
		const { source } = this.page;
		const base = source.shown.name?.replace(/(\.pb)?(\.gz)?$/, '') ?? `profd-${location.hostname}`;
		return `${base}-${this.page.state().view || 'flame'}.${suffix}`;
	}

	/* The file name for the profile itself, whatever the view. A profile from a file keeps its name. */
	#title(suffix) {
		return this.page.source.shown.name ?? `profd-${location.hostname}-${this.page.state().kind || 'cpu'}.${suffix}`;
	}

	#pprof() {
		save(this.#title('pb.gz'), this.page.source.shown.bytes, 'application/octet-stream');
	}

	/* The interval shown, as a trace over time. For a file it is the profile, which Perfetto reads as well. */
	async #trace() {
		const { address, bytes, profile } = this.page.source.shown;
		return address ? getBytes(`${profileAddress(this.page.state(), intervalOf(profile))}&format=perfetto`) : bytes;
	}

	#fill() {
		this.list.replaceChildren(...this.entries.map(([label, possible, run]) => element('li', {}, element('button', {
			type: 'button', disabled: !possible(), on: { click: () => this.#run(run) } }, label))));
	}

	async #run(run) {
		this.box.open = false;
		this.box.querySelector('summary').focus();
		try {
			await run();
		} catch (error) {
			this.page.failed(error);
		}
	}

	#key(event) {
		if (event.key !== 'Escape' || !this.box.open)
			return;
		this.box.open = false;
		this.box.querySelector('summary').focus();
		event.stopPropagation();
	}
}
