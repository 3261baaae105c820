// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/** To the clipboard; a page that is not served from the own host or by TLS has none but the old way. */
import { element } from '../dom.js';

export async function copyText(text) {
	if (navigator.clipboard) {
		try {
			return await navigator.clipboard.writeText(text);
		} catch {
			/* Not allowed; the old way may be. */
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
