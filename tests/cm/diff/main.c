/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - cm-diff [TOPIC...]: all topics, or those named. Exit code 0, 1 when a promise of
 * the interface that needs no comparison was broken (a line that ends in WRONG), 77 without
 * rdma_cm.
 */
#include <stdio.h>

#include "tests/cm/cm.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

static const struct topic topics[] = {
	{ "handler", cm_diff_handler },
	{ "names", cm_diff_names },
	{ "ids", cm_diff_ids },
	{ "bind", cm_diff_bind },
	{ "options", cm_diff_options },
	{ "addresses", cm_diff_addresses },
	{ "addrinfo", cm_diff_addrinfo },
	{ "queues", cm_diff_queues },
	{ "srq", cm_diff_srq },
	{ "xrc", cm_diff_xrc },
	{ "states", cm_diff_states },
	{ "connect", cm_diff_connect },
	{ "access", cm_diff_access },
	{ "params", cm_diff_params },
	{ "reject", cm_diff_reject },
	{ "disconnect", cm_diff_disconnect },
	{ "migrate", cm_diff_migrate },
	{ "ep", cm_diff_ep },
	{ "data", cm_diff_data },
	{ "gids", cm_diff_gids },
	{ "datagrams", cm_diff_datagrams },
	{ "signals", cm_diff_signals },
	{ "mcast", cm_diff_mcast },
};

int main(int argc, char *argv[])
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
