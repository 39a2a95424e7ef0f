/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_lookup.c - the writing side of the lookup table. Root and leaves stay allocated until the
 * table is destroyed, because a reader may use them without a lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "providers/common/id_lookup.h"
#include "util/alloc.h"
#include "util/log.h"
#include "util/mutex.h"

enum { PATIENCE_MS = 5000, MS_PER_S = 1000, NS_PER_MS = 1000000 };

void provider_id_lookup_init(struct id_lookup *ids)
{
	pthread_condattr_t attr;

	ids->root = NULL;
	mutex_init(&ids->lock);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC); /* a clock that cannot be set */
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
}

enum { WORD_BITS = 64 };

static void room_fill(struct id_room *room)
{
	memset(room, 0xff, sizeof(*room));
}

static uint32_t room_first(const struct id_room *room)
{
	uint32_t word = (uint32_t)__builtin_ctzll(room->all);

	return word * WORD_BITS + (uint32_t)__builtin_ctzll(room->word[word]);
}

static void room_set(struct id_room *room, uint32_t n)
{
	room->word[n / WORD_BITS] |= 1ULL << n % WORD_BITS;
	room->all |= 1ULL << n / WORD_BITS;
}

static void room_clear(struct id_room *room, uint32_t n)
{
	room->word[n / WORD_BITS] &= ~(1ULL << n % WORD_BITS);
	if (!room->word[n / WORD_BITS])
		room->all &= ~(1ULL << n / WORD_BITS);
}

static int root_make(struct id_lookup *ids)
{
	if (ids->root)
		return 0;
	ids->root = calloc_for("numbers of queues", 1, sizeof(*ids->root));
	if (!ids->root)
		return ENOMEM;
	room_fill(&ids->root->room);
	return 0;
}

int provider_id_root_get(struct id_lookup *ids, const struct id_root **root)
{
	bool locked = mutex_enter(&ids->lock);
	int ret = root_make(ids);

	*root = ids->root;
	mutex_leave(&ids->lock, locked);
	return ret;
}

static int leaf_get(struct id_lookup *ids, unsigned int n, struct id_leaf **leaf)
{
	int ret = root_make(ids);

	if (ret)
		return ret;
	if (!ids->root->leaf[n]) {
		struct id_leaf *fresh = calloc_for("number of a queue", 1, sizeof(*fresh));

		if (!fresh)
			return ENOMEM;
		room_fill(&fresh->room);
		__atomic_store_n(&ids->root->leaf[n], fresh, __ATOMIC_RELEASE);
	}
	*leaf = ids->root->leaf[n];
	return 0;
}

static void entry_put(struct id_root *root, struct id_leaf *leaf, uint32_t id, void *object)
{
	__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], object, __ATOMIC_RELEASE);
	room_clear(&leaf->room, id & (ID_LEAF_SIZE - 1));
	if (!leaf->room.all)
		room_clear(&root->room, id >> ID_LEAF_BITS);
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

/* Waits until an entry is cleared. Cancellation is disabled, because a cancelled thread would keep
 * the lock. */
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

/* Sets an entry. If the entry still has an object, takes the lock unless *LOCKED, sets *LOCKED, and
 * waits until the entry is cleared. */
static int id_put(struct id_lookup *ids, uint32_t id, void *object, bool *locked)
{
	struct id_leaf *leaf;
	int ret = leaf_get(ids, id >> ID_LEAF_BITS, &leaf);
	void **entry;

	if (ret)
		return ret;
	entry = &leaf->entry[id & (ID_LEAF_SIZE - 1)];
	if (*entry && !*locked) {
		pthread_mutex_lock(&ids->lock);
		*locked = true;
	}
	ret = entry_await(ids, entry, id);
	if (!ret)
		entry_put(ids->root, leaf, id, object);
	return ret;
}

int provider_id_set(struct id_lookup *ids, uint32_t id, void *object)
{
	bool locked;
	int ret;

	if (id >> ID_BITS)
		return EINVAL;
	locked = mutex_enter(&ids->lock);
	ret = id_put(ids, id, object, &locked);
	mutex_leave(&ids->lock, locked);
	return ret;
}

static int id_take(struct id_lookup *ids, void *object, uint32_t *id)
{
	struct id_leaf *leaf;
	uint32_t n;
	int ret = root_make(ids);

	if (ret)
		return ret;
	if (!ids->root->room.all)
		return ENOSPC;
	n = room_first(&ids->root->room);
	ret = leaf_get(ids, n, &leaf);
	if (ret)
		return ret;
	*id = n << ID_LEAF_BITS | room_first(&leaf->room);
	entry_put(ids->root, leaf, *id, object);
	return 0;
}

int provider_id_alloc(struct id_lookup *ids, void *object, uint32_t *id)
{
	bool locked = mutex_enter(&ids->lock);
	int ret = id_take(ids, object, id);

	mutex_leave(&ids->lock, locked);
	return ret;
}

void provider_id_clear(struct id_lookup *ids, uint32_t id)
{
	struct id_leaf *leaf;
	bool locked;

	locked = mutex_enter(&ids->lock);
	leaf = ids->root ? ids->root->leaf[id >> ID_LEAF_BITS] : NULL;
	if (leaf && leaf->entry[id & (ID_LEAF_SIZE - 1)]) {
		__atomic_store_n(&leaf->entry[id & (ID_LEAF_SIZE - 1)], NULL, __ATOMIC_RELEASE);
		room_set(&leaf->room, id & (ID_LEAF_SIZE - 1));
		room_set(&ids->root->room, id >> ID_LEAF_BITS);
		if (locked) /* another thread may wait */
			pthread_cond_broadcast(&ids->cleared);
	}
	mutex_leave(&ids->lock, locked);
}
