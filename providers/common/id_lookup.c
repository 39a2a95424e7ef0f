/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup.c - the writers' side of the lookup table. Leaves are kept until the table is
 * destroyed, because a reader may be inside one without holding a lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "providers/common/id_lookup.h"
#include "util/alloc.h"

void provider_id_lookup_init(struct id_lookup *ids)
{
	memset(ids->leaf, 0, sizeof(ids->leaf));
	pthread_mutex_init(&ids->lock, NULL);
	pthread_cond_init(&ids->cleared, NULL);
}

void provider_id_lookup_destroy(struct id_lookup *ids)
{
	for (unsigned int i = 0; i < ID_ROOT_SIZE; i++)
		free(ids->leaf[i]);
	pthread_cond_destroy(&ids->cleared);
	pthread_mutex_destroy(&ids->lock);
}

static int leaf_get(struct id_lookup *ids, unsigned int n, struct id_leaf **leaf)
{
	if (!ids->leaf[n]) {
		struct id_leaf *fresh = calloc_for("number of a queue", 1, sizeof(*fresh));

		if (!fresh)
			return ENOMEM;
		__atomic_store_n(&ids->leaf[n], fresh, __ATOMIC_RELEASE);
	}
	*leaf = ids->leaf[n];
	return 0;
}

static void entry_put(struct id_leaf *leaf, uint32_t id, void *object)
{
	__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], object, __ATOMIC_RELEASE);
	leaf->used++;
}

int provider_id_set(struct id_lookup *ids, uint32_t id, void *object)
{
	struct id_leaf *leaf;
	int ret;

	if (id >> ID_BITS)
		return EINVAL;
	pthread_mutex_lock(&ids->lock);
	ret = leaf_get(ids, id >> ID_LEAF_BITS, &leaf);
	while (!ret && leaf->entry[id & (ID_LEAF_SIZE - 1)])
		pthread_cond_wait(&ids->cleared, &ids->lock);
	if (!ret)
		entry_put(leaf, id, object);
	pthread_mutex_unlock(&ids->lock);
	return ret;
}

static uint32_t leaf_first_free(const struct id_leaf *leaf)
{
	uint32_t i = 0;

	while (leaf->entry[i])
		i++;
	return i;
}

int provider_id_alloc(struct id_lookup *ids, void *object, uint32_t *id)
{
	struct id_leaf *leaf;
	int ret = ENOSPC;

	pthread_mutex_lock(&ids->lock);
	for (unsigned int n = 0; n < ID_ROOT_SIZE; n++) {
		ret = leaf_get(ids, n, &leaf);
		if (ret)
			break;
		ret = ENOSPC;
		if (leaf->used == ID_LEAF_SIZE)
			continue;
		*id = n << ID_LEAF_BITS | leaf_first_free(leaf);
		entry_put(leaf, *id, object);
		ret = 0;
		break;
	}
	pthread_mutex_unlock(&ids->lock);
	return ret;
}

void provider_id_clear(struct id_lookup *ids, uint32_t id)
{
	struct id_leaf *leaf;

	pthread_mutex_lock(&ids->lock);
	leaf = ids->leaf[id >> ID_LEAF_BITS];
	if (leaf && leaf->entry[id & (ID_LEAF_SIZE - 1)]) {
		__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], NULL, __ATOMIC_RELEASE);
		leaf->used--;
		pthread_cond_broadcast(&ids->cleared);
	}
	pthread_mutex_unlock(&ids->lock);
}
