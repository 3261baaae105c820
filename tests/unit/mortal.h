/* SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause */
/*
 * Names that have this in them are what nobody knows of yet in a demangler: the reader process of
 * the unit tests dies over one, and has no answer for another. A question that begins with the last
 * one is answered with the error whose number follows, and one that begins with the name of a file
 * with what opening that says. About the file of the number at the end it
 * works without end when it is asked for lines.
 */
#pragma once

#define MORTAL_NAME  "4dies"
#define ENDLESS_NAME "5hangs"
#define ERRING_NAME  "_Z4errs"
#define OPENED_NAME  "/etc/passwd"
/* It takes seconds over one with this in it. */
#define SLOW_NAME    "4slow"
#define SLOW_SECONDS 5
#define ENDLESS_FILE 0xE2D1E55
