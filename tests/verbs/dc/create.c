/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * create.c - valid and invalid arguments of mlx5dv_create_qp(), and the states of its QPs.
 *
 * Covers: providers/mlx5/dv/qp.c, providers/mlx5/qp/dv.c, softhca/front/process/uverbs/qp/dct.c
 */
#include "dc.h"

static void try_create(const struct dc *dc, struct ibv_qp_init_attr_ex attr,
		       struct mlx5dv_qp_init_attr mlx5, const char *what)
{
	struct ibv_qp *qp = SAY_PTR(mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5), "%s", what);

	if (!qp)
		return;
	say("type %d, CQs %d %d, SRQ %d, state %d", (int)qp->qp_type, qp->send_cq == dc->cq,
	    qp->recv_cq == dc->cq, qp->srq == dc->srq, (int)qp->state);
	SAY_RET(ibv_destroy_qp(qp), "destroy");
}

static struct ibv_qp_init_attr_ex initiator(const struct dc *dc)
{
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);

	attr.cap = (struct ibv_qp_cap){ .max_send_wr = 8, .max_send_sge = 1 };
	return attr;
}

static struct ibv_qp_init_attr_ex target(const struct dc *dc)
{
	struct ibv_qp_init_attr_ex attr = dc_attr(dc);

	attr.srq = dc->srq;
	return attr;
}

static struct ibv_qp_init_attr_ex rc(const struct dc *dc)
{
	struct ibv_qp_init_attr_ex attr = initiator(dc);

	attr.qp_type = IBV_QPT_RC;
	return attr;
}

static void try_targets(const struct dc *dc)
{
	struct ibv_qp_init_attr_ex attr = target(dc);
	struct mlx5dv_qp_init_attr mlx5 = dc_target_attr(DC_KEY);

	try_create(dc, attr, mlx5, "a target");
	attr.srq = NULL;
	try_create(dc, attr, mlx5, "a target without an SRQ");
	attr = target(dc);
	attr.comp_mask = 0;
	try_create(dc, attr, mlx5, "a target without a PD");
	attr = target(dc);
	attr.cap.max_recv_wr = 4;
	try_create(dc, attr, mlx5, "a target with receives");
	attr = target(dc);
	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	try_create(dc, attr, mlx5, "a target with streams");
}

static void try_initiators(const struct dc *dc)
{
	struct ibv_qp_init_attr_ex attr = initiator(dc);
	struct mlx5dv_qp_init_attr mlx5 = dc_initiator_attr();

	try_create(dc, attr, mlx5, "an initiator");
	attr.srq = dc->srq;
	try_create(dc, attr, mlx5, "an initiator with an SRQ");
	attr = initiator(dc);
	attr.cap.max_recv_wr = 4;
	try_create(dc, attr, mlx5, "an initiator with receives");
	attr = initiator(dc);
	attr.comp_mask = 0;
	try_create(dc, attr, mlx5, "an initiator without a PD");
	attr = initiator(dc);
	attr.cap.max_send_sge = 1000;
	try_create(dc, attr, mlx5, "an initiator with too many SGEs");
	attr = initiator(dc);
	mlx5.dc_init_attr.dc_type = 7;
	try_create(dc, attr, mlx5, "a type that there is not");
}

static void try_streams(const struct dc *dc)
{
	static const uint8_t sizes[][2] = { { 0, 0 }, { 3, 2 }, { 1, 0 }, { 0, 1 },
					    { 6, 5 }, { 7, 1 }, { 1, 7 } };
	struct mlx5dv_qp_init_attr mlx5 = dc_initiator_attr();
	struct ibv_qp_init_attr_ex attr = initiator(dc);

	mlx5.comp_mask |= MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		mlx5.dc_init_attr.dci_streams.log_num_concurent = sizes[i][0];
		mlx5.dc_init_attr.dci_streams.log_num_errored = sizes[i][1];
		say("streams 2^%u, in error 2^%u", sizes[i][0], sizes[i][1]);
		try_create(dc, attr, mlx5, "an initiator with streams");
	}
}

void dc_create_errors(struct rig *rig)
{
	struct mlx5dv_qp_init_attr mlx5 = { 0 };
	struct ibv_qp_init_attr_ex attr;
	struct dc dc;

	dc_open(rig, &dc);
	attr = initiator(&dc);
	try_create(&dc, attr, mlx5, "DRIVER without DC");
	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_SEND;
	try_create(&dc, attr, mlx5, "DRIVER without DC, for ibv_wr");
	mlx5.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_DCI_STREAMS;
	try_create(&dc, initiator(&dc), mlx5, "streams without DC");
	try_create(&dc, rc(&dc), dc_initiator_attr(), "RC with DC");
	mlx5.comp_mask = 1 << 20;
	try_create(&dc, rc(&dc), mlx5, "an unknown bit in comp_mask");
	try_targets(&dc);
	try_initiators(&dc);
	try_streams(&dc);
	dc_close(&dc);
}

static struct ibv_qp *qp_make(const struct dc *dc, struct ibv_qp_init_attr_ex attr,
			      struct mlx5dv_qp_init_attr mlx5)
{
	struct ibv_qp *qp;

	MUST(qp = mlx5dv_create_qp(dc->rig->ctx, &attr, &mlx5));
	return qp;
}

static void walk_initiator(const struct dc *dc)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_INIT,
				    .port_num = RIG_PORT,
				    .qp_access_flags = RIG_ALL_REMOTE };
	struct ibv_qp *qp = qp_make(dc, initiator(dc), dc_initiator_attr());

	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RTR), "RESET to RTR");
	SAY_RET(ibv_modify_qp(qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
		"INIT with access flags");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_INIT), "INIT");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RTS), "INIT to RTS");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RTR), "RTR");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RTS), "RTS");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_SQD), "SQD");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_ERR), "ERR");
	say("state %d, of the structure %d", (int)dc_state(qp), (int)qp->state);
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_RESET), "RESET");
	SAY_RET(dc_initiator_to(dc, qp, IBV_QPS_INIT), "INIT again");
	SAY_RET(ibv_destroy_qp(qp), "destroy");
}

static void walk_target(const struct dc *dc)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_qp *qp = qp_make(dc, target(dc), dc_target_attr(DC_KEY));

	say("number %u", qp->qp_num);
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_RTR), "RESET to RTR");
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_INIT), "INIT");
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_INIT), "INIT again");
	SAY_RET(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ERR");
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_RTR), "RTR");
	say("has a number: %d, state of the structure %d", qp->qp_num != 0, (int)qp->state);
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_RTR), "RTR again");
	SAY_RET(ibv_modify_qp(qp, &attr, IBV_QP_STATE), "ERR");
	SAY_RET(ibv_destroy_srq(dc->srq), "destroy the SRQ in use");
	SAY_RET(ibv_destroy_qp(qp), "destroy");
	qp = qp_make(dc, target(dc), dc_target_attr(DC_KEY));
	SAY_RET(ibv_destroy_qp(qp), "destroy in RESET");
	qp = qp_make(dc, target(dc), dc_target_attr(DC_KEY));
	SAY_RET(dc_target_to(dc, qp, IBV_QPS_INIT), "INIT");
	SAY_RET(ibv_destroy_qp(qp), "destroy in INIT");
}

void dc_states(struct rig *rig)
{
	struct dc dc;

	dc_open(rig, &dc);
	walk_initiator(&dc);
	walk_target(&dc);
	dc_close(&dc);
}

static void query_and_say(struct ibv_qp *qp, int mask, const char *what)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(&init, 0, sizeof(init));
	if (SAY_RET(ibv_query_qp(qp, &attr, mask, &init), "query %s %#x", what, mask))
		return;
	say("state %d access %#x port %u rnr %u mtu %d pkey %u", (int)attr.qp_state,
	    attr.qp_access_flags, attr.port_num, attr.min_rnr_timer, (int)attr.path_mtu,
	    attr.pkey_index);
	say("timeout %u retries %u %u reads %u psn %#x", attr.timeout, attr.retry_cnt,
	    attr.rnr_retry, attr.max_rd_atomic, attr.sq_psn);
	say("grh %u hop limit %u", attr.ah_attr.is_global, attr.ah_attr.grh.hop_limit);
	say("room %u %u %u %u %u", init.cap.max_send_wr, init.cap.max_recv_wr,
	    init.cap.max_send_sge, init.cap.max_recv_sge, init.cap.max_inline_data);
	say("type %d, CQs %d, SRQ %d", (int)init.qp_type, init.send_cq == init.recv_cq,
	    init.srq != NULL);
}

static void device_and_say(struct rig *rig)
{
	struct mlx5dv_context device = {
		.comp_mask = MLX5DV_CONTEXT_MASK_DCI_STREAMS | MLX5DV_CONTEXT_MASK_DC_ODP_CAPS,
	};

	MUST(!mlx5dv_query_device(rig->ctx, &device));
	say("known %#llx: streams 2^%u, in error 2^%u, on demand %#x",
	    (unsigned long long)device.comp_mask, device.dci_streams_caps.max_log_num_concurent,
	    device.dci_streams_caps.max_log_num_errored, device.dc_odp_caps);
}

void dc_query(struct rig *rig)
{
	struct ibv_qp *initiator, *target;
	struct dc dc;

	device_and_say(rig);
	dc_open(rig, &dc);
	initiator = dc_initiator(&dc, -1);
	target = dc_target(&dc, DC_KEY);
	query_and_say(initiator, IBV_QP_STATE | IBV_QP_CAP, "initiator");
	query_and_say(target, IBV_QP_STATE, "target");
	query_and_say(target,
		      IBV_QP_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT | IBV_QP_MIN_RNR_TIMER |
			      IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_PKEY_INDEX,
		      "target");
	query_and_say(target, IBV_QP_STATE | IBV_QP_CAP, "target");
	MUST(!ibv_destroy_qp(initiator));
	MUST(!ibv_destroy_qp(target));
	dc_close(&dc);
}
