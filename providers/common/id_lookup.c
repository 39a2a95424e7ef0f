/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup.c - the writers' side of the lookup table. Root and leaves are kept until the table is
 * destroyed, because a reader may be inside one without holding a lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "providers/common/id_lookup.h"
#include "util/alloc.h"
#include "util/log.h"

enum { PATIENCE_MS = 5000, MS_PER_S = 1000, NS_PER_MS = 1000000 };

void provider_id_lookup_init(struct id_lookup *ids)
{
	pthread_condattr_t attr;

	ids->root = NULL;
	pthread_mutex_init(&ids->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* nobody sets that clock */
	pthread_cond_init(&ids->cleared, &attr);
	pthread_condattr_destroy(&attr);
	ids->patience_ms = PATIENCE_MS;
}

void provider_id_lookup_destroy(struct id_lookup *ids)
{
	for (unsigned int i = 0; ids->root && i < ID_ROOT_SIZE; i++)
		free(ids->root->leaf[i]);
	free(ids->root);
	pthread_cond_destroy(&ids->cleared);
	pthread_mutex_destroy(&ids->lock);
}

/* The lock is held. */
static int root_make(struct id_lookup *ids)
{
	if (!ids->root)
		ids->root = calloc_for("numbers of queues", 1, sizeof(*ids->root));
	return ids->root ? 0 : ENOMEM;
}

int provider_id_root_get(struct id_lookup *ids, const struct id_root **root)
{
	int ret;

	pthread_mutex_lock(&ids->lock);
	ret = root_make(ids);
	*root = ids->root;
	pthread_mutex_unlock(&ids->lock);
	return ret;
}

/* The lock is held. */
static int leaf_get(struct id_lookup *ids, unsigned int n, struct id_leaf **leaf)
{
	int ret = root_make(ids);

	if (ret)
		return ret;
	if (!ids->root->leaf[n]) {
		struct id_leaf *fresh = calloc_for("number of a queue", 1, sizeof(*fresh));

		if (!fresh)
			return ENOMEM;
		__atomic_store_n(&ids->root->leaf[n], fresh, __ATOMIC_RELEASE);
	}
	*leaf = ids->root->leaf[n];
	return 0;
}

static void entry_put(struct id_leaf *leaf, uint32_t id, void *object)
{
	__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], object, __ATOMIC_RELEASE);
	leaf->used++;
}

static struct timespec time_after(unsigned int ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += ms / MS_PER_S;
	time.tv_nsec += (long)(ms % MS_PER_S) * NS_PER_MS;
	if (time.tv_nsec >= (long)MS_PER_S * NS_PER_MS) {
		time.tv_nsec -= (long)MS_PER_S * NS_PER_MS;
		time.tv_sec++;
	}
	return time;
}

/* Waits with the lock, which a thread that is cancelled would keep. */
static int entry_await(struct id_lookup *ids, void *const *entry, uint32_t id)
{
	struct timespec end;
	int ret = 0, state;

	if (!*entry)
		return 0;
	end = time_after(ids->patience_ms);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	while (*entry && !ret)
		ret = pthread_cond_timedwait(&ids->cleared, &ids->lock, &end);
	pthread_setcancelstate(state, NULL);
	if (!*entry)
		return 0;
	verbs_warn("number of a queue: the kernel gives 0x%x again, whose object is not gone", id);
	return EEXIST;
}

int provider_id_set(struct id_lookup *ids, uint32_t id, void *object)
{
	struct id_leaf *leaf;
	int ret;

	if (id >> ID_BITS)
		return EINVAL;
	pthread_mutex_lock(&ids->lock);
	ret = leaf_get(ids, id >> ID_LEAF_BITS, &leaf);
	if (!ret)
		ret = entry_await(ids, &leaf->entry[id & (ID_LEAF_SIZE - 1)], id);
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
	leaf = ids->root ? ids->root->leaf[id >> ID_LEAF_BITS] : NULL;
	if (leaf && leaf->entry[id & (ID_LEAF_SIZE - 1)]) {
		__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], NULL, __ATOMIC_RELEASE);
		leaf->used--;
		pthread_cond_broadcast(&ids->cleared);
	}
	pthread_mutex_unlock(&ids->lock);
}
