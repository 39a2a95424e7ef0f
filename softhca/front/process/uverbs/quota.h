/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * quota.h - how many objects one process may have on an adapter of `softhca serve`.
 *
 * A process may have as many objects of a kind as are still free: alone up to half of them, beside
 * that process half of the rest, and so on. So one process leaves something for those that come
 * later. The same holds for users: the processes of one may together have as many as are still
 * free, and one of them as many as the others then leave. The server's own user has no such limit:
 * about 17 of its processes take all QPs. Resources
 * of OBJECT_OTHER have a common limit, which only bounds softhca's memory. A program on an adapter
 * of its own (`softhca run`) has all. All calls are made in the thread that answers calls.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_QUOTA_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_QUOTA_H

#include <stdint.h>

#include "softhca/front/process/object_counts.h"

struct adapter;
struct object;

enum {
	QUOTA_DCTS = 1 << 16,
	QUOTA_OTHER_OBJECTS = 1 << 20, /* of an adapter: address handles, flows... */
};

/* Returns the kind of objects of TYPE, which is not MLX5_IB_OBJECT_DEVX_OBJ; see devx_kind(). */
enum object_kind quota_kind(const struct adapter *adapter, uint16_t type);

/* Counts OBJECT, whose file, kind and maker are set. Returns 0, or ENOMEM if its maker has its
 * share. */
int quota_take(const struct object *object);
/* Undoes quota_take() for OBJECT. */
void quota_give(const struct object *object);

#endif
