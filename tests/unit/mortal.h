/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names on which the reader process of the unit tests misbehaves, as an undiscovered bug in a
 * demangler would. It dies on a name that contains MORTAL_NAME, and never answers one that contains
 * ENDLESS_NAME. A question that begins with ERRING_NAME is answered with the error whose number
 * follows. A question that contains OPENED_NAME is answered with the result of opening that file. A
 * question for names in file number ENDLESS_FILE is never answered either.
 */
#pragma once

#define MORTAL_NAME  "4dies"
#define ENDLESS_NAME "5hangs"
#define ERRING_NAME  "_Z4errs"
#define OPENED_NAME  "/etc/passwd"
/* A question that contains this takes SLOW_SECONDS. */
#define SLOW_NAME    "4slow"
#define SLOW_SECONDS 5
/* A question that contains this takes BUSY_MS of CPU time. */
#define BUSY_NAME    "4busy"
#define BUSY_MS      500
#define ENDLESS_FILE 0xE2D1E55
