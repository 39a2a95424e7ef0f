/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vanishing.h - copies from and to mapped files of the client, which may shorten them at any time.
 */
#ifndef SOFTHCA_FRONT_PCI_VANISHING_H
#define SOFTHCA_FRONT_PCI_VANISHING_H

#include <stddef.h>

/* Prepares the process: from now on, SIGBUS during a copy ends that copy only. Call it before the
 * first copy; further calls are allowed. Returns 0 or a positive errno. */
int vanishing_prepare(void);
/* Copies LEN bytes, at least one, of which the last is stored last. Returns 0, or EFAULT if the
 * memory is gone; some bytes may have been copied then. */
int vanishing_copy(void *to, const void *from, size_t len);

#endif
