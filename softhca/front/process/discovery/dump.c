/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dump.c - lists of RDMA netlink that take more than a datagram.
 *
 * A list goes out in turns of the daemon's loop, a few datagrams each, so that other programs'
 * calls are answered in between. When the program's socket is full, a timer tries again: no event
 * tells that another process has read. As in Linux, a list waits for its reader as long as the
 * socket is there.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "softhca/front/process/discovery/dump.h"
#include "softhca/front/process/discovery/netlink_reply.h"
#include "softhca/front/process/discovery/resources.h"
#include "softhca/front/process/timer.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "util/bits.h"

enum {
	DUMPS_MAX = 256,       /* of a user */
	DATAGRAMS_OF_TURN = 8, /* about 500 objects */
	FIRST_NAP_MS = 1,
	LAST_NAP_MS = 64,
};

struct dump {
	LIST_ENTRY(dump) in_all;
	struct timer timer;
	const struct adapter *adapter;
	uint16_t type;
	unsigned int user;
	struct object_place place;
	bool is_last;        /* the end of the list is in the datagram or sent */
	unsigned int nap_ms; /* length of the next wait for the program */
	struct reply reply;
};

static LIST_HEAD(, dump) dumps = LIST_HEAD_INITIALIZER(dumps);

static void dump_end(struct dump *dump)
{
	timer_stop(&dump->timer);
	LIST_REMOVE(dump, in_all);
	free(dump);
}

static void datagram_fill(struct dump *dump)
{
	dump->is_last = resources_put(&dump->reply, dump->type, dump->adapter, &dump->place);
	if (dump->is_last)
		reply_done(&dump->reply);
}

/* Sends some datagrams. Returns 0 when the last one is sent, EINPROGRESS if there are more, or
 * another errno of sending. */
static int send_some(struct dump *dump)
{
	for (unsigned int i = 0; i < DATAGRAMS_OF_TURN; i++) {
		int ret;

		if (!dump->reply.len) {
			if (dump->is_last)
				return 0;
			datagram_fill(dump);
		}
		ret = reply_try_send(&dump->reply);
		if (ret)
			return ret;
		dump->nap_ms = FIRST_NAP_MS;
	}
	return EINPROGRESS;
}

static void wait_for_reader(struct dump *dump)
{
	timer_start(&dump->timer, timer_now() + dump->nap_ms * NS_PER_MS);
	if (dump->nap_ms < LAST_NAP_MS)
		dump->nap_ms *= 2;
}

static void dump_turn(struct dump *dump)
{
	int ret = send_some(dump);

	if (ret == EINPROGRESS) {
		timer_start(&dump->timer, timer_now());
	} else if (ret && ret != ECONNREFUSED) { /* a shortage, or a reader that has stopped */
		wait_for_reader(dump);
	} else {
		dump_end(dump);
	}
}

static void dump_expired(struct timer *timer)
{
	dump_turn(container_of(timer, struct dump, timer));
}

static bool is_busy(unsigned int user, uint32_t port)
{
	unsigned int of_user = 0;
	const struct dump *dump;

	LIST_FOREACH(dump, &dumps, in_all) {
		of_user += dump->user == user;
		if (dump->reply.port == port || of_user == DUMPS_MAX)
			return true;
	}
	return false;
}

int dump_begin(const struct adapter *adapter, uint16_t type, unsigned int user, uint32_t port,
	       uint32_t seq)
{
	struct dump *dump;

	if (is_busy(user, port))
		return EBUSY;
	dump = calloc(1, sizeof(*dump));
	if (!dump)
		return ENOMEM;
	dump->timer.expired = dump_expired;
	dump->adapter = adapter;
	dump->type = type;
	dump->user = user;
	dump->nap_ms = FIRST_NAP_MS;
	reply_init(&dump->reply, port, seq, true);
	LIST_INSERT_HEAD(&dumps, dump, in_all);
	dump_turn(dump);
	return 0;
}

void dumps_stop(void)
{
	while (!LIST_EMPTY(&dumps))
		dump_end(LIST_FIRST(&dumps));
}
