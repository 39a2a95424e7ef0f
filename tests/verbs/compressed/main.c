/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-compressed [TOPIC...]: completion queues with compressed entries, from
 * mlx5dv_create_cq(). It prints results, which must be the same on the distribution's library.
 */
#include "tests/verbs/compressed/compressed.h"
#include "util/bits.h"

static const struct rig_topic topics[] = {
	{ "create", compressed_create }, { "runs", compressed_runs },
	{ "laps", compressed_laps },     { "unlike", compressed_unlike },
	{ "errors", compressed_errors }, { "small", compressed_small },
	{ "polled", compressed_polled },
};

int main(int argc, char **argv)
{
	return rig_main(topics, ARRAY_SIZE(topics), argc, argv);
}
