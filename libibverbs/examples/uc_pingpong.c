/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uc_pingpong.c - ibv_uc_pingpong: the pingpong core over an unreliable connection. A lost message
 * ends the run.
 */
#include <stdlib.h>

#include "pingpong.h"

int main(int argc, char **argv)
{
	struct pp_options options = pp_defaults();
	struct pp pp;
	int ret;

	if (pp_parse(argc, argv, "pdismrnleg1", &options))
		return EXIT_FAILURE;
	ret = pp_open(&options, &pp);
	if (!ret)
		ret = pp_create_qps(&pp, IBV_QPT_UC);
	if (!ret)
		ret = pp_bounce(&pp, IBV_QP_ACCESS_FLAGS, pp_connect_uc);
	if (pp_close(&pp))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
