/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Hints for requests that work with other tools but have another name or path in profd. A hint ends
 * the refusal and gives the right name or path. No state; any thread.
 */
#pragma once

/* `what` is a parameter's name, or "" for a path. Returns "" when there is no hint. */
const char *elsewhere_hint(const char *what, const char *asked);
