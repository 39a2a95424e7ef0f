/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_pingpong.c - ibv_srq_pingpong: the pingpong core over several reliable connections at once,
 * all of which receive from one shared queue.
 */
#include <stdio.h>
#include <stdlib.h>

#include "pingpong.h"

static int check_counts(const struct pp_options *options)
{
	if (options->num_qp > options->rx_depth) {
		fprintf(stderr,
			"rx_depth %u is too small for %u QPs -- must have at least one receive per "
			"QP.\n",
			options->rx_depth, options->num_qp);
		return -1;
	}
	if (options->num_qp >= PP_MAX_QPS) {
		fprintf(stderr, "num_qp %u must be less than %d\n", options->num_qp,
			PP_MAX_QPS - 1);
		return -1;
	}
	return 0;
}

static int create_srq(struct pp *pp)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = pp->options->rx_depth,
						    .max_sge = 1 } };

	pp->srq = ibv_create_srq(pp->pd, &attr);
	return pp->srq ? 0 : pp_fail("Couldn't create SRQ");
}

int main(int argc, char **argv)
{
	struct pp_options options = pp_defaults();
	struct pp pp;
	int ret;

	options.num_qp = 16;
	options.fill = 0;
	if (pp_parse(argc, argv, "pdismqr4lego1", &options) || check_counts(&options))
		return EXIT_FAILURE;
	ret = pp_open(&options, &pp);
	pp.records = PP_MAX_QPS;
	pp.names_qps = true;
	if (!ret)
		ret = create_srq(&pp);
	if (!ret)
		ret = pp_create_qps(&pp, IBV_QPT_RC);
	if (!ret)
		ret = pp_bounce(&pp, IBV_QP_ACCESS_FLAGS, pp_connect_rc);
	if (pp_close(&pp))
		ret = -1;
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
