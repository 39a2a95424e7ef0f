/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * access.c - the operations that the QPs of a connection allow the peer. READs and atomics are
 * allowed if both sides agreed on them, regardless of earlier connections, and of the state and
 * access that the program has set meanwhile.
 *
 * Covers: librdmacm/qp.c, librdmacm/connect.c
 */
#include "tests/cm/cm.h"

static void say_qp(const char *who, const struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(id->qp, &attr, 0xfffff, &init));
	say("%s: state %d access 0x%x reads %u %u P_Key %u port %u", who, attr.qp_state,
	    attr.qp_access_flags, attr.max_rd_atomic, attr.max_dest_rd_atomic, attr.pkey_index,
	    attr.port_num);
}

static void pair_finish(struct cm_pair *pair, struct rdma_conn_param *answer)
{
	if (!SAY_RET(rdma_accept(pair->server, answer), "accept")) {
		cm_expect("client", pair->client_channel);
		cm_expect("server", pair->server_channel);
	}
	say_qp("client", pair->client);
	say_qp("server", pair->server);
	cm_pair_close(pair);
}

static void reads_agree(uint8_t reads_of_client, uint8_t reads_of_server)
{
	struct rdma_conn_param ask = { .initiator_depth = reads_of_client,
				       .responder_resources = reads_of_server,
				       .retry_count = 7 };
	struct rdma_conn_param answer = { .initiator_depth = reads_of_server,
					  .responder_resources = reads_of_client };
	struct cm_pair pair;

	say("client reads %u, server reads %u", reads_of_client, reads_of_server);
	cm_pair_request(&pair, &ask);
	cm_make_qp(pair.server);
	pair_finish(&pair, &answer);
}

static void set_access(struct rdma_cm_id *id, unsigned int access)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT, .qp_access_flags = access };

	SAY_RET(ibv_modify_qp(id->qp, &attr, IBV_QP_STATE | IBV_QP_ACCESS_FLAGS), "INIT again");
}

static void changed_meanwhile(void)
{
	struct cm_pair pair;

	say("the program grants access itself");
	cm_pair_request(&pair, NULL);
	cm_make_qp(pair.server);
	set_access(pair.client, 0);
	set_access(pair.server, IBV_ACCESS_LOCAL_WRITE);
	pair_finish(&pair, NULL);
}

static void replace_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = id->qp->send_cq,
		.recv_cq = id->qp->recv_cq,
		.cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_pd *pd = id->qp->pd;

	MUST(!ibv_destroy_qp(id->qp));
	MUST(id->qp = ibv_create_qp(pd, &attr));
}

static void replaced_meanwhile(void)
{
	struct cm_pair pair;

	say("QPs that the library has not made");
	cm_pair_request(&pair, NULL);
	cm_make_qp(pair.server);
	replace_qp(pair.client);
	replace_qp(pair.server);
	pair_finish(&pair, NULL);
}

void cm_diff_access(void)
{
	reads_agree(0, 0);
	reads_agree(1, 1);
	reads_agree(0, 0);
	reads_agree(1, 0);
	reads_agree(0, 1);
	reads_agree(1, 1);
	changed_meanwhile();
	replaced_meanwhile();
}
