/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * explanations.h - what verbs-explain prints of each of the checker's messages.
 */
#ifndef LIBIBVERBS_MESSAGES_EXPLANATIONS_H
#define LIBIBVERBS_MESSAGES_EXPLANATIONS_H

#include "libibverbs/check/messages.h"

/* Texts have lines of at most 68 columns; snippets are statements of C. */
struct explanation {
	const char *cause, *cure;
	const char *wrong, *right;
	const char *pages; /* besides rdmakit_diagnostics(7) */
};

extern const struct explanation explanations[CHECK_FAULTS];

#endif
