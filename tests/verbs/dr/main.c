/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-dr [TOPIC...]: direct rules of root tables, by their calls, frames and dumps. It
 * prints results, which must be the same on the distribution's library.
 */
#include "tests/verbs/dr/dr.h"
#include "util/bits.h"

static const struct rig_topic topics[] = {
	{ "domains", dr_domains },   { "tables", dr_tables },
	{ "matchers", dr_matchers }, { "actions", dr_actions },
	{ "rules", dr_rules },       { "in-use", dr_in_use },
	{ "frames", dr_frames },     { "misses", dr_misses },
	{ "counters", dr_counters }, { "tags", dr_tags },
	{ "sent", dr_sent },         { "shared", dr_shared },
	{ "dumps", dr_dumps },       { "changes", dr_changes },
	{ "tunnels", dr_tunnels },   { "bulks", dr_bulks },
	{ "software", dr_software }, { "software-sent", dr_software_sent },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
