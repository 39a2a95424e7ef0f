/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * main.c - verbs-odd [--errno] [FAMILY...]: public calls with odd arguments, each in a process of
 * its own. With --errno, a call that returns an errno must set it, too.
 *
 * Covers: libibverbs/, librdmacm/, providers/mlx5/dv/, providers/mlx4/dv/
 */
#include <stdio.h>
#include <string.h>

#include "odd.h"
#include "tests/lib/say.h"
#include "tests/lib/topics.h"

static const struct odd_family *const families[] = {
	&odd_device,  &odd_memory, &odd_queues, &odd_qp,       &odd_post,   &odd_flow,   &odd_cm,
	&odd_rsocket, &odd_mlx5dv, &odd_devx,   &odd_steering, &odd_mlx4dv, &odd_orders,
};

/* Loads the providers before the first fork(), so that each child need not. */
static void find_device(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	MUST(list && list[0]);
	odd_ibv_device = list[0];
}

int main(int argc, char **argv)
{
	const char *names[ARRAY_SIZE(families)];

	if (argc > 1 && !strcmp(argv[1], "--errno")) {
		odd_errno_is_set = true;
		argv[1] = argv[0];
		argc--, argv++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		names[i] = families[i]->name;
	topics_add(names, sizeof(names[0]), ARRAY_SIZE(names));
	topics_choose(argc, argv);
	find_device();
	for (size_t i = 0; i < ARRAY_SIZE(families); i++)
		if (topic_begin(names[i]))
			odd_run(families[i]);
	return topics_end();
}
