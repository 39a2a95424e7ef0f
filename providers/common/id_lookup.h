/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup.h - from the 24-bit number in a completion to the queue it belongs to.
 *
 * Two levels of 4096 pointers. A second-level table is there from its first entry on, and the first
 * level from the first CQ or entry on, as a device is often opened only to be asked. A CQ has the
 * first level, and reads it without a lock: an entry is published before the queue can produce
 * completions and removed after the last of them has been cleaned from the CQ. Numbers are either
 * given by the adapter (provider_id_set) or chosen here, densely, from 0 up (provider_id_alloc).
 */
#ifndef PROVIDERS_COMMON_ID_LOOKUP_H
#define PROVIDERS_COMMON_ID_LOOKUP_H

#include <pthread.h>
#include <stdint.h>

#define ID_BITS      24
#define ID_LEAF_BITS 12
#define ID_LEAF_SIZE (1U << ID_LEAF_BITS)
#define ID_ROOT_SIZE (1U << (ID_BITS - ID_LEAF_BITS))

/* Which of 4096 things are free, by a bit each: in WORD, and in ALL for each word that has one. */
struct id_room {
	uint64_t all, word[ID_LEAF_SIZE / 64];
};

struct id_leaf {
	void *entry[ID_LEAF_SIZE];
	struct id_room room; /* entries; guarded by the lock of the table, as that of the root */
};

struct id_root {
	struct id_leaf *leaf[ID_ROOT_SIZE];
	struct id_room room; /* leaves with a free entry, or not there yet */
};

struct id_lookup {
	struct id_root *root;     /* NULL: there is none; guarded by the lock until it is there */
	pthread_mutex_t lock;     /* writers, and who keeps what was found from being cleared */
	pthread_cond_t cleared;   /* an entry */
	unsigned int patience_ms; /* of who waits for that */
};

void provider_id_lookup_init(struct id_lookup *ids);
void provider_id_lookup_destroy(struct id_lookup *ids);

/* *ROOT is what id_find() wants, for as long as IDS lives. */
int provider_id_root_get(struct id_lookup *ids, const struct id_root **root);

/* The kernel gives a number again as soon as it has destroyed the object that had it, and who did
 * that may not have cleared the entry yet: the function waits for it, and returns EEXIST when that
 * does not happen. (Who destroys may itself wait for the caller, to acknowledge an event.) */
int provider_id_set(struct id_lookup *ids, uint32_t id, void *object);
int provider_id_alloc(struct id_lookup *ids, void *object, uint32_t *id);
void provider_id_clear(struct id_lookup *ids, uint32_t id);

static inline void *id_find(const struct id_root *root, uint32_t id)
{
	const struct id_leaf *leaf;

	leaf = __atomic_load_n(&root->leaf[(id >> ID_LEAF_BITS) & (ID_ROOT_SIZE - 1)],
			       __ATOMIC_ACQUIRE);
	if (!leaf)
		return NULL;
	return __atomic_load_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], __ATOMIC_ACQUIRE);
}

#endif
