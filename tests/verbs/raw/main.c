/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-raw [TOPIC...]: as verbs-diff, see raw.h. verbs-dv has the topics for connected
 * QPs, whose requests have no destination.
 */
#include "tests/verbs/raw/raw.h"
#include "util/bits.h"

static const struct rig_topic topics[] = {
	{ "datagrams", raw_datagrams },
	{ "shared-receives", raw_shared_receives },
	{ "initiators", raw_initiators },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
