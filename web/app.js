// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/**
 * Puts the parts together. The keys of the state that change decide what is repeated: fetching, aggregating or drawing.
 */
import { element, visible } from './dom.js';
import { formatDelta, formatShare, formatValue } from './profile/format.js';
import { Wait, captureForm } from './shell/capture.js';
import { Controls } from './shell/controls.js';
import { Cost } from './shell/cost.js';
import { getAbilities, getJson } from './shell/daemon.js';
import { Exports } from './shell/exports.js';
import { Files } from './shell/files.js';
import { Filters } from './shell/filters.js';
import { Gpu } from './shell/gpu.js';
import { HeapForm, Keepsakes } from './shell/heap.js';
import { Help } from './shell/help.js';
import { Memory } from './shell/memory.js';
import { Notices } from './shell/notices.js';
import { Processes } from './shell/processes.js';
import { Report } from './shell/report.js';
import { DEFAULT_LAST, Source } from './shell/source.js';
import { FETCHED, SELECTED, Store } from './shell/state.js';
import { Tabs } from './shell/tabs.js';
import { Tasks } from './shell/tasks.js';
import { Theme } from './shell/theme.js';
import { Timeline } from './shell/timeline.js';
import { Stage } from './shell/stage.js';

/* Keys of the state that have no meaning for a file; opening one clears them. */
const OF_THE_HOST = Object.fromEntries([...FETCHED, 'live', 'type', 'zoom', 'focus'].map((key) => [key, '']));
const REFRESH = 5000, LIVE = 2000; // milliseconds

const at = (id) => document.getElementById(id);

class App {
	constructor(abilities) {
		this.abilities = abilities;
		this.store = new Store();
		this.source = new Source();
		this.model = null;
		this.notices = new Notices({ alert: at('alert'), empty: at('empty'), live: at('live') });
		this.colours = new Theme(() => this.drawAll());
		this.announce = (text) => this.notices.announce(text);
		this.failed = (error) => this.notices.error(error);
		this.#makeParts();
		this.store.subscribe((changed) => this.#changed(changed));
	}

	#makeParts() {
		const { store, colours, announce, source, failed } = this;
		const opened = (name, bytes, asBaseline) => this.#open(name, bytes, asBaseline);
		this.wait = new Wait(at('waits'), { announce });
		this.timeline = new Timeline(at('timeline'), { store, colours, announce });
		this.controls = new Controls(at('controls'), { store, profile: () => source.shown?.profile }, this.abilities);
		const used = this.abilities.has('gpu') && this.abilities.kinds.some(({ name }) => name.startsWith('gpu_'));
		this.gpu = used && new Gpu(at('gpu'));
		this.processes = new Processes(at('processes'), { store, gpu: this.gpu, suggested: () => [this.filters.suggest(), this.tasks?.refresh()] });
		this.filters = new Filters(at('filters'), { store, processes: () => this.processes.list });
		this.memory = this.abilities.has('memory') && new Memory(at('memory'), { store, colours });
		this.report = this.abilities.kinds.some(({ name }) => name === 'wall') && new Report(at('report'), { store, source });
		this.tasks = this.abilities.has('tasks') ? new Tasks(at('tasks'), { store, source, processes: () => this.processes.list }) : null;
		this.heap = this.abilities.has('heap') ? new HeapForm(at('heap'), { store, wait: this.wait, open: opened }) : null;
		at('heap').hidden = !this.heap;
		this.keepsakes = this.abilities.has('oom') && new Keepsakes(at('keepsakes'), { open: opened, failed });
		this.files = new Files(opened, failed);
		this.stage = new Stage(at('panel'), { store, colours, announce, getJson });
		this.tabs = new Tabs(at('tabs'), this.stage.titles, at('panel'), (view) => store.set({ view: view === 'flame' ? '' : view }));
		this.cost = new Cost(at('cost'));
		this.help = new Help(this.#keys());
		this.help.text = this.abilities.index;
		this.#makeTools();
		at('skip').addEventListener('click', (event) => {
			event.preventDefault();
			at('panel').querySelector('[tabindex="0"], button, input')?.focus();
		});
	}

	#makeTools() {
		const button = (text, press, properties = {}) =>
			element('button', { type: 'button', on: { click: press }, ...properties }, text);
		const tools = at('tools');
		tools.append(captureForm((seconds) => this.#capture(seconds)), button('Open…', () => this.files.pick()));
		this.exports = new Exports(tools, {
			source: this.source, model: () => this.model, view: () => this.stage.view,
			state: () => this.store.state, failed: this.failed,
		});
		tools.append(button('Theme', () => this.#toggleTheme(), { title: 'Light or dark (T)' }),
			button('?', () => this.help.open(), { 'aria-label': 'Keys and help' }));
	}

	#keys() {
		const { store } = this;
		const views = Object.keys(this.stage.titles);
		return {
			'/': () => this.controls.focusSearch(),
			l: () => store.set({ live: store.state.live ? '' : '1', from: '', to: '', base: '' }),
			t: () => this.#toggleTheme(),
			...Object.fromEntries(views.map((view, i) => [String(i + 1), () => store.set({ view: i ? view : '' })])),
		};
	}

	#toggleTheme() {
		this.store.set({ theme: this.colours.dark ? 'light' : 'dark' }, { replace: true });
	}

	async start() {
		const { status } = this.abilities;
		at('host').textContent = `${status.cpus} CPUs at ${status.sample_hz} Hz · version ${status.version}`;
		this.cost.show(status.cost);
		this.#show();
		await Promise.all([this.#load(), this.#refresh()]);
		this.#tick();
	}

	/* Repeats as long as the page is open. A hidden page sends no requests. */
	#tick() {
		setTimeout(async () => {
			if (!document.hidden) {
				await Promise.all([this.#refresh(), this.cost.refresh()]);
				if (this.store.state.live && !this.source.isFile && !this.source.loading)
					await this.#load({ quiet: true });
			}
			this.#tick();
		}, this.store.state.live ? LIVE : REFRESH);
	}

	async #refresh() {
		const parts = [this.timeline, this.processes, this.report, this.memory, this.keepsakes].filter(Boolean);
		const gpu = this.gpu && this.gpu.refresh().then(() => this.processes.redraw());
		await Promise.all([gpu, ...parts.map((part) => part.refresh())]);
		this.filters.show();
	}

	#changed(changed) {
		const any = (keys) => changed.some((key) => keys.includes(key));
		if (any(FETCHED))
			this.#refresh();
		if (any(FETCHED) && !this.source.isFile)
			this.#load();
		else if (any(FETCHED) || any(SELECTED))
			this.#remodel();
		if (changed.includes('live') && this.store.state.live && !this.source.isFile)
			this.#load({ quiet: true });
		this.#show();
	}

	/** Fetches and shows what the state asks for. quiet: no announcement to screen readers. */
	async #load({ quiet = false } = {}) {
		at('profile').setAttribute('aria-busy', 'true');
		try {
			if (!await this.source.load(this.store.state))
				return;
			this.notices.clear();
			this.#remodel();
			if (!quiet && this.model)
				this.announce(`Shown: ${at('summary').textContent}`);
		} catch (error) {
			if (error.status === 404 && this.store.state.comm)
				this.#miss(error.message);
			else
				this.notices.error(error, () => this.#load());
		}
		if (!this.source.loading)
			at('profile').setAttribute('aria-busy', 'false');
	}

	/* No process matches the filter. That is not an error: one may start later. */
	#miss(missing) {
		this.notices.clear();
		Object.assign(this, { missing, model: null });
		this.#show();
	}

	#remodel() {
		try {
			this.model = this.source.model(this.store.state);
		} catch (error) {
			this.failed(error);
		}
		this.#show();
	}

	async #capture(seconds) {
		try {
			this.source.close();
			const covered = await this.wait.run('Capturing', seconds,
				(signal) => this.source.capture(this.store.state, seconds, signal));
			if (covered)
				this.store.set({ ...covered, last: '', base: '', live: '' });
			this.#load();
		} catch (error) {
			this.failed(error);
			this.#load();
		}
	}

	async #open(name, bytes, asBaseline) {
		await this.source.open(name, bytes, asBaseline);
		this.notices.clear();
		at('profile').setAttribute('aria-busy', 'false');
		this.store.set(OF_THE_HOST, { replace: true });
		this.#remodel();
		this.announce(`Opened ${name}`);
	}

	#close() {
		this.source.close();
		this.model = null;
		this.#load();
		this.#show();
	}

	#show() {
		const { state } = this.store;
		this.colours.set(['light', 'dark'].includes(state.theme) ? state.theme : '');
		this.controls.show();
		this.filters.show();
		this.timeline.show();
		this.processes.show();
		this.heap?.show();
		this.#showOpened();
		this.#showSummary();
		this.#showView();
	}

	drawAll() {
		[this.timeline, this.memory].filter(Boolean).forEach((part) => part.draw());
		if (this.model && !this.model.empty)
			this.stage.show(this.model);
	}

	#showOpened() {
		const { shown, baseline } = this.source, box = at('opened');
		box.hidden = !this.source.isFile;
		at('timeline').hidden = this.source.isFile;
		if (box.hidden)
			return;
		box.replaceChildren(element('strong', {}, visible(shown.name)),
			baseline ? ` compared with ${visible(baseline.name)}` : '',
			element('button', { type: 'button', on: { click: () => this.files.pick(true) } }, 'Compare with another file…'),
			element('button', { type: 'button', on: { click: () => this.#close() } }, 'Back to this host'));
	}

	#showSummary() {
		const { model, source } = this;
		document.title = source.isFile ? `${visible(source.shown.name)} – profd` : `profd – ${location.host}`;
		if (!model) {
			at('summary').textContent = '';
			return;
		}
		const { profile } = source.shown, seconds = profile.durationNanos / 1e9;
		const total = `${formatValue(model.total, model.unit)} of ${visible(model.type)}`;
		const change = model.isDiff ? `, ${formatDelta(model.total - model.baseTotal, model.unit)} ` +
			`(${formatShare(model.total - model.baseTotal, model.baseTotal)}) against the baseline` : '';
		const whole = profile.comments.find((comment) => comment.startsWith('stacks complete')) ?? '';
		at('summary').textContent = `${total}${seconds ? ` in ${seconds.toFixed(1)} s` : ''}${change}`;
		at('summary').title = visible(whole);
	}

	#showView() {
		const { state } = this.store, name = this.stage.name(state.view);
		this.tabs.show(name);
		at('panel').hidden = !this.model || this.model.empty;
		if (!this.model || this.model.empty) {
			this.notices.empty(this.#whyNothing(), ...this.#wayOut());
			return;
		}
		this.notices.empty('');
		this.stage.show(this.model, name);
	}

	#whyNothing() {
		if (!this.model)
			return this.source.loading ? 'Loading…' : visible(this.missing ?? '');
		const filtered = ['pid', 'comm', 'unit', 'container', 'thread'].some((key) => this.store.state[key]);
		const grew = this.store.state.kind && this.store.state.kind !== 'cpu' && !this.source.isFile;
		return filtered ? `No samples match the filters: the processes did not ${grew ? 'grow' : 'run'} enough in this time.`
			: 'No samples in this time.';
	}

	#wayOut() {
		const none = { pid: '', comm: '', unit: '', container: '', thread: '', from: '', to: '', base: '', last: '10m' };
		return (this.model || this.missing) && !this.source.isFile
			? [element('button', { type: 'button', on: { click: () => this.store.set(none) } }, 'Show all of the last 10 minutes')] : [];
	}
}

async function begin() {
	let abilities;
	try {
		abilities = await getAbilities();
	} catch (error) {
		new Notices({ alert: at('alert'), empty: at('empty'), live: at('live') }).error(error, () => location.reload());
		return;
	}
	const app = new App(abilities);
	await app.start();
}

begin();
