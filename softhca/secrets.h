/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * secrets.h - the file of --crypto: what the adapter is given by who is in charge of it, a line for
 * each, numbered from 0:
 * 	kek HEX		a key of 128 or 256 bits that unwraps others
 * 	credential HEX	40 bytes that a login has to show
 * Empty lines, and those that begin with #, say nothing.
 */
#ifndef SOFTHCA_SECRETS_H
#define SOFTHCA_SECRETS_H

#include "softhca/device/hca.h"

/* Reads the file. Returns 0, an errno of the file, or EINVAL after logging the bad line. */
int secrets_read(const char *path, struct hca_secrets *secrets);

#endif
