/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-devx-diff [TOPIC...]: commands in the device's own format (DevX). Arguments and
 * output as of verbs-diff.
 */
#include "dx.h"
#include "tests/lib/topics.h"

static const struct topic topics[] = {
	{ "pair", dx_pair },
	{ "places", dx_places },
	{ "objects", dx_objects },
	{ "foreign", dx_foreign },
	{ "umems", dx_umems },
	{ "general", dx_general },
	{ "of-verbs", dx_of_verbs },
	{ "indirect", dx_indirect },
	{ "answers", dx_answers },
	{ "short-answers", dx_short_answers },
	{ "events", dx_events },
	{ "bad-eventfds", dx_bad_eventfds },
	{ "foreign-channels", dx_foreign_channels },
	{ "left", dx_left },
	{ "operations", dx_operations },
	{ "without", dx_without },
};

int main(int argc, char **argv)
{
	return topics_main(topics, sizeof(topics) / sizeof(topics[0]), argc, argv);
}
