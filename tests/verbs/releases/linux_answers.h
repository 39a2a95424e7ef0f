/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * linux_answers.h - what Linux' own driver answers to the calls of attributes.c in a guest of
 * `softhca pci`: it takes them all, but for a few that the adapter, the link or the call forbids.
 */
#ifndef TESTS_VERBS_RELEASES_LINUX_ANSWERS_H
#define TESTS_VERBS_RELEASES_LINUX_ANSWERS_H

/* Returns the errno of a call's request on LINK ("ib" or "roce"), 0: it is taken. */
int linux_answer(const char *call, const char *link);

#endif
