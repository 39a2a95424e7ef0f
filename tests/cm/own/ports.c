/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ports.c - prints the numbers that rdma_cm chose: ports of ids that named none, and the first PSN
 * of a QP. See run-seed.
 *
 * Covers: softhca/front/process/ucma/number.c, softhca/front/process/ucma/bind.c
 */
#include <stdio.h>

#include "tests/cm/cm.h"

enum { PORTS = 3 };

static int port_choose(struct rdma_event_channel *channel)
{
	struct sockaddr_in address = cm_loopback(0);
	struct rdma_cm_id *id;
	int port;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(id, (struct sockaddr *)&address));
	port = ntohs(rdma_get_src_port(id));
	MUST(!rdma_destroy_id(id));
	return port;
}

static uint32_t packet_number_choose(void)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS };
	struct cm_pair pair;
	int mask;

	cm_pair_request(&pair, NULL);
	MUST(!rdma_init_qp_attr(pair.server, &attr, &mask) && mask & IBV_QP_SQ_PSN);
	cm_pair_close(&pair);
	return attr.sq_psn;
}

int main(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int ports[PORTS];
	uint32_t psn;

	MUST(channel);
	for (int i = 0; i < PORTS; i++)
		ports[i] = port_choose(channel);
	rdma_destroy_event_channel(channel);
	psn = packet_number_choose();
	printf("%d %d %d %u\n", ports[0], ports[1], ports[2], psn);
	return 0;
}
