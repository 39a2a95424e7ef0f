/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * records.c - a hash table of what is known of objects, by address or number.
 *
 * A record stays in its bucket for ever, so readers need no lock: they see a bucket's list from its
 * head or from an older one.
 */
#include "check.h"

#include "util/bits.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKETS_LOG = 14 };

static struct check_record *buckets[1 << BUCKETS_LOG];

static struct check_record **bucket_of(enum check_kind kind, const void *context, uint64_t id)
{
	const uint64_t mixed = (id ^ check_id(context) << 7 ^ (uint64_t)kind << 56) *
			       /* 2^64 / golden ratio: multiplying by it spreads addresses, which
			        * differ in few bits, over the buckets */
			       UINT64_C(0x9e3779b97f4a7c15);

	return &buckets[mixed >> (64 - BUCKETS_LOG)];
}

void *verbs_check_find(enum check_kind kind, const void *context, uint64_t id)
{
	struct check_record *at = __atomic_load_n(bucket_of(kind, context, id), __ATOMIC_ACQUIRE);

	while (at && !(at->id == id && at->kind == kind && at->context == context))
		at = at->next;
	return at;
}

void *verbs_check_find_live(enum check_kind kind, const void *context, uint64_t id)
{
	struct check_record *record = verbs_check_find(kind, context, id);

	return record && check_lives(record) ? record : NULL;
}

void verbs_check_each(enum check_kind kind, void (*say)(const struct check_record *record))
{
	const struct check_record *at;

	for (size_t i = 0; i < ARRAY_SIZE(buckets); i++)
		for (at = __atomic_load_n(&buckets[i], __ATOMIC_ACQUIRE); at; at = at->next)
			if (at->kind == kind && check_lives(at))
				say(at);
}

void *verbs_check_add(enum check_kind kind, const void *context, uint64_t id, size_t size)
{
	struct check_record **bucket = bucket_of(kind, context, id);
	struct check_record *record = verbs_check_find(kind, context, id);

	if (record) {
		memset(record + 1, 0, size - sizeof(*record));
		check_live(record, true);
		return record;
	}
	record = calloc(1, size);
	if (!record)
		return NULL;
	*record = (struct check_record){ *bucket, kind, context, id, true };
	__atomic_store_n(bucket, record, __ATOMIC_RELEASE);
	return record;
}
