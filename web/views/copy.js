// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** Copies text to the clipboard. Browsers offer navigator.clipboard on localhost and over TLS only. */
import { element } from '../dom.js';

export async function copyText(text) {
	if (navigator.clipboard) {
		try {
			return await navigator.clipboard.writeText(text);
		} catch {
			/* Not allowed; execCommand() may be. */
		}
	}
	const area = element('textarea', { value: text, class: 'sr-only', 'aria-hidden': 'true' });
	const before = document.activeElement;
	document.body.append(area);
	area.select();
	document.execCommand('copy');
	area.remove();
	before?.focus();
}
