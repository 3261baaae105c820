/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * What a profile of all time is bound by (encode/bound.h), as a text to read or as JSON. Not among
 * ENCODERS: they are formats of /report, not of /profile.
 */
#pragma once

#include "encode/encoder.h"

extern const struct encoder encoder_report_text, encoder_report_json;
