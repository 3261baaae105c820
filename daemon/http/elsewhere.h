/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What people ask for as they would elsewhere, and has another name or place here: the end of a
 * refusal that says which. No state; any thread.
 */
#pragma once

/* `what` is a parameter's name, or "" for a path. "" when nothing is known of it. */
const char *elsewhere_hint(const char *what, const char *asked);
