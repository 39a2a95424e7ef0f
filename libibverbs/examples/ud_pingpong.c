/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ud_pingpong.c - ibv_ud_pingpong: the pingpong core with datagrams. A receive has room for the GRH
 * before the message, and a message fits into one packet.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pingpong.h"

static int check_size(const struct pp *pp)
{
	const struct pp_options *options = pp->options;
	struct ibv_port_attr port;
	unsigned int mtu;

	if (ibv_query_port(pp->context, (uint8_t)options->ib_port, &port)) {
		fprintf(stderr, "Unable to query port info for port %u\n", options->ib_port);
		return -1;
	}
	mtu = 128u << port.active_mtu;
	if (options->size <= mtu)
		return 0;
	fprintf(stderr, "Requested size larger than port MTU (%u)\n", mtu);
	return -1;
}

int main(int argc, char **argv)
{
	struct pp_options options = pp_defaults();
	struct pp pp;
	int ret;

	options.size = 1024;
	options.headroom = sizeof(struct ibv_grh);
	if (pp_parse(argc, argv, "pdi2rn3eg1", &options))
		return EXIT_FAILURE;
	ret = pp_open(&options, &pp);
	if (!ret)
		ret = check_size(&pp);
	if (!ret)
		ret = pp_create_qps(&pp, IBV_QPT_UD);
	if (!ret)
		ret = pp_bounce(&pp, IBV_QP_QKEY, pp_connect_ud);
	if (pp_close(&pp))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
