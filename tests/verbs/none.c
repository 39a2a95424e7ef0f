/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * none.c - verbs-none: results of calls on a machine without an adapter.
 *
 * Covers: libibverbs/device.c, libibverbs/verbs_device.c
 */
#include "tests/verbs/diff/diff.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

static void list_devices(bool want_num)
{
	int num = want_num ? -1 : 0;
	struct ibv_device **list;

	errno = 0;
	list = ibv_get_device_list(want_num ? &num : NULL);
	if (!list) {
		say("get_device_list: NULL errno %s, num %d", say_errno(errno), num);
		return;
	}
	say("get_device_list: a list that %s, num %d", list[0] ? "is not empty" : "is empty", num);
	ibv_free_device_list(list);
}

static void lists_are_empty(void)
{
	list_devices(true);
	list_devices(true);
	list_devices(false);
}

int main(int argc, char **argv)
{
	static const struct topic topics[] = { { "none", lists_are_empty } };

	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
