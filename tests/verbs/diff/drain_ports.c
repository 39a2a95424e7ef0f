/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * drain_ports.c - moves a connected QP to another port of its adapter, in state SQD: by the port
 * attribute, and by a path alone. IBTA vol 1, 10.3.1.
 *
 * Covers: softhca/device/transport/drain.c, softhca/front/process/driver/qp_state.c
 */
#include "diff.h"

static void receive_post(struct rig_end *end)
{
	struct ibv_sge sge = { .addr = (uintptr_t)end->buf, .length = 64, .lkey = end->mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 }, *bad;

	MUST(!ibv_post_recv(end->qp, &wr, &bad));
}

/* Gives end I, in state SQD, a path from its port OWN to the other end's, with the bits of MASK. */
static int path_move(struct rig_pair *pair, int i, uint8_t own, uint8_t others, int mask)
{
	struct ibv_context *ctx = pair->rig->ctx;
	struct ibv_qp_init_attr init;
	struct ibv_port_attr port;
	struct ibv_qp_attr attr;

	MUST(!ibv_query_qp(pair->end[i].qp, &attr, IBV_QP_AV, &init));
	MUST(!ibv_query_port(ctx, others, &port));
	attr.port_num = attr.ah_attr.port_num = own;
	attr.ah_attr.dlid = port.lid;
	if (attr.ah_attr.is_global)
		MUST(!ibv_query_gid(ctx, others, 0, &attr.ah_attr.grh.dgid));
	return ibv_modify_qp(pair->end[i].qp, &attr, mask);
}

static void both_to(struct rig_pair *pair, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	for (int i = 0; i < 2; i++)
		SAY_RET(ibv_modify_qp(pair->end[i].qp, &attr, IBV_QP_STATE), "%d to state %d", i,
			(int)state);
}

/* Sends a message each way, and prints the ports by which they arrive. */
static void to_and_fro(struct rig_pair *pair)
{
	struct ibv_port_attr port[2];
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct ibv_wc wc;

	for (uint8_t i = 0; i < 2; i++)
		MUST(!ibv_query_port(pair->rig->ctx, i + 1, &port[i]));
	for (int i = 0; i < 2; i++) {
		MUST(!ibv_query_qp(pair->end[i].qp, &attr, IBV_QP_PORT, &init));
		say("%d: port %u, path of port %u", i, attr.port_num, attr.ah_attr.port_num);
		receive_post(&pair->end[i]);
	}
	for (int i = 0; i < 2; i++) {
		struct rig_end *end = &pair->end[i];
		struct ibv_sge sge = { .addr = (uintptr_t)end->buf,
				       .length = 8,
				       .lkey = end->mr->lkey };
		struct ibv_send_wr wr = { .sg_list = &sge,
					  .num_sge = 1,
					  .opcode = IBV_WR_SEND,
					  .send_flags = IBV_SEND_SIGNALED },
				   *bad;

		MUST(!ibv_post_send(end->qp, &wr, &bad));
		MUST(rig_poll(end->cq, 1, &wc) == 1);
		say("sent by %d: %s", i, ibv_wc_status_str(wc.status));
		MUST(rig_poll(pair->end[!i].cq, 1, &wc) == 1);
		say("received: %s, from port %s", ibv_wc_status_str(wc.status),
		    !wc.slid                 ? "?"
		    : wc.slid == port[0].lid ? "1"
					     : "2");
	}
}

/* Both ends begin at port 1. When one end moves, the other must learn its new address, or its
 * packets would be lost. */
static void other_port(struct rig_pair *pair)
{
	to_and_fro(pair);
	both_to(pair, IBV_QPS_SQD);
	SAY_RET(path_move(pair, 0, 3, 1, IBV_QP_AV | IBV_QP_PORT), "to port 3");
	SAY_RET(path_move(pair, 0, 2, 1, IBV_QP_AV | IBV_QP_PORT), "to port 2");
	SAY_RET(path_move(pair, 1, 1, 2, IBV_QP_AV), "the path alone");
	both_to(pair, IBV_QPS_RTS);
	to_and_fro(pair);
	both_to(pair, IBV_QPS_SQD);
	SAY_RET(path_move(pair, 0, 1, 2, IBV_QP_AV), "back, by the path alone");
	SAY_RET(path_move(pair, 1, 2, 1, IBV_QP_AV | IBV_QP_PORT), "the other one to port 2");
	both_to(pair, IBV_QPS_RTS);
	to_and_fro(pair);
}

void diff_drain_ports(struct rig *rig)
{
	struct rig_conf conf = rig_conf_default();
	struct rig_pair pair;

	if (rig->device.phys_port_cnt < 2) {
		say("one port");
		return;
	}
	rig_pair_open(rig, &conf, &pair);
	other_port(&pair);
	rig_pair_close(&pair);
}
