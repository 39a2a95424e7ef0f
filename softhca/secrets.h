/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * secrets.h - the file of --crypto: the secrets that the adapter's administrator has given it, one
 * per line, numbered from 0 per kind:
 *	kek HEX		a key of 128 or 256 bits that unwraps others
 *	credential HEX	40 bytes that a login has to show
 * Empty lines and lines that begin with # are ignored.
 */
#ifndef SOFTHCA_SECRETS_H
#define SOFTHCA_SECRETS_H

#include "softhca/device/hca.h"

/* Reads the file. Returns 0, an errno of the file, or EINVAL after logging the bad line. */
int secrets_read(const char *path, struct hca_secrets *secrets);

#endif
