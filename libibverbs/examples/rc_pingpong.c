/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rc_pingpong.c - ibv_rc_pingpong: the pingpong core over a reliable connection.
 */
#include <stdlib.h>

#include "pingpong.h"

int main(int argc, char **argv)
{
	struct pp_options options = pp_defaults();
	struct pp pp;
	int ret;

	if (pp_parse(argc, argv, "pdismrnlegoOPtcjNU", &options))
		return EXIT_FAILURE;
	ret = pp_open(&options, &pp);
	if (!ret)
		ret = pp_create_qps(&pp, IBV_QPT_RC);
	if (!ret)
		ret = pp_bounce(&pp, IBV_QP_ACCESS_FLAGS, pp_connect_rc);
	if (pp_close(&pp))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
