/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Gives the kernel half the user ids that belong to one account (base/accounts.h), as they were
 * read at the start.
 */
#pragma once

struct profd_bpf;

/* Sizes the map. Call before the kernel half is loaded; 0 or a negative errno. */
int bpf_accounts_size(struct profd_bpf *skeleton);
/* Fills the map. Call after the kernel half is loaded; 0 or a negative errno. */
int bpf_accounts_tell(const struct profd_bpf *skeleton);
