/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup.h - maps the 24-bit number in a completion to its queue.
 *
 * Two levels of 4096 pointers. A second-level table is allocated with its first entry, and the
 * first level with the first CQ or entry, because devices are often opened only to be queried. CQs
 * read the table without a lock: an entry is published before its queue can produce completions,
 * and removed after the last of them was removed from the CQ. Numbers are assigned by the adapter
 * (provider_id_set) or chosen here, from 0 up (provider_id_alloc).
 */
#ifndef PROVIDERS_COMMON_ID_LOOKUP_H
#define PROVIDERS_COMMON_ID_LOOKUP_H

#include <pthread.h>
#include <stdint.h>

#define ID_BITS      24
#define ID_LEAF_BITS 12
#define ID_LEAF_SIZE (1U << ID_LEAF_BITS)
#define ID_ROOT_SIZE (1U << (ID_BITS - ID_LEAF_BITS))

/* Set of free items, out of 4096: a bit for each item in WORD, and a bit for each nonzero word in
 * ALL. */
struct id_room {
	uint64_t all, word[ID_LEAF_SIZE / 64];
};

struct id_leaf {
	void *entry[ID_LEAF_SIZE];
	struct id_room room; /* free entries; guarded by the table's lock, like the root's */
};

struct id_root {
	struct id_leaf *leaf[ID_ROOT_SIZE];
	struct id_room room; /* leaves that are not allocated, or have a free entry */
};

struct id_lookup {
	/* NULL: not yet allocated, because a context may have no queue; set under the lock */
	struct id_root *root;
	/* taken by writers, and by readers that keep an object from being cleared */
	pthread_mutex_t lock;
	pthread_cond_t cleared;
	/* limit of a wait for an entry to be cleared, because the destroying thread may itself wait
	 * for the caller */
	unsigned int patience_ms;
};

void provider_id_lookup_init(struct id_lookup *ids);
void provider_id_lookup_destroy(struct id_lookup *ids);

/* Sets *ROOT for id_find(); valid as long as IDS. */
int provider_id_root_get(struct id_lookup *ids, const struct id_root **root);

/* Sets an entry. The kernel may assign a number again as soon as it has destroyed the old object,
 * before the destroying thread has cleared the entry. Waits until the entry is cleared, and returns
 * EEXIST on timeout. (The destroying thread may itself be waiting for the caller to acknowledge an
 * event.) */
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
