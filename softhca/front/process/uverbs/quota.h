/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota.h - how many objects one program may have on an adapter of `softhca serve`.
 *
 * A program may have as many objects of a kind as are still free: alone up to half of them, beside
 * that program half of the rest, and so on. So there is something left for a program that comes
 * later, whatever the others do. A program on an adapter of its own (`softhca run`) has all. All
 * calls are made in the thread that answers calls.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_QUOTA_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_QUOTA_H

struct object;

enum { QUOTA_OTHER_OBJECTS = 1 << 20 }; /* of an adapter: address handles, flows... */

/* Counts OBJECT, whose file, type and maker are set. Returns 0, or ENOMEM if its maker has its
 * share. */
int quota_take(const struct object *object);
/* Takes back quota_take(). */
void quota_give(const struct object *object);

#endif
