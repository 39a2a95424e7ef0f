/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-steer [TOPIC...]: matchers and flows in the device's format, by their calls and
 * frames. It prints results, which must be the same on the distribution's library.
 */
#include "tests/verbs/steer/steer.h"
#include "util/bits.h"

static const struct rig_topic topics[] = {
	{ "matchers", steer_matchers },
	{ "flows", steer_flows },
	{ "in-use", steer_in_use },
	{ "actions", steer_actions },
	{ "esp", steer_esp },
	{ "fields", steer_fields },
	{ "order", steer_order },
	{ "shared", steer_shared },
	{ "tags", steer_tags },
	{ "drops", steer_drops },
	{ "misses", steer_misses },
	{ "counters", steer_counters },
	{ "objects", steer_objects },
	{ "sent", steer_sent },
	{ "tables", steer_tables },
	{ "anchors", steer_anchors },
	{ "changes", steer_changes },
	{ "odd-changes", steer_odd_changes },
	{ "reformats", steer_reformats },
	{ "odd-reformats", steer_odd_reformats },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
