/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dct_test.c - DC targets: attributes that are collected until RTR, the device's context that they
 * amount to, transitions that are refused, and the attributes of a query.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"

static int dct_command(struct adapter *adapter, void *in, size_t in_len, void *out, size_t out_len);

#define adapter_command dct_command
#include "softhca/front/process/uverbs/qp/dct.c"
#undef adapter_command

enum {
	PDN = 0x11,
	SRQN = 0x22,
	CQN = 0x33,
	UIDX = 0x44,
	ECE = 0x55,
	DCTN = 0x66,
	ANSWERED_ECE = 0x77,
	SET = 9,
	REFUSED = EDOM
};
#define KEY 0x123456789abcdef0ull

static struct uverbs_pd pd = { .pdn = PDN };
static struct uverbs_srq srq = { .srqn = SRQN };
static struct uverbs_cq cq;
static struct real_qp real;
static struct uverbs_qp qp;
static struct qp_request req;
static uint8_t queried[PRM_DCTC_SIZE];

/* Keeps the command, and answers with the numbers of a target or with its context. */
static int dct_command(struct adapter *adapter, void *in, size_t in_len, void *out, size_t out_len)
{
	const int ret = (adapter_command)(adapter, in, in_len, out, out_len);

	if (fld_get(in, CMD_IN_OPCODE) == PRM_OP_QUERY_DCT) {
		memcpy(fld_at(out, QUERY_DCT_OUT_CONTEXT), queried, sizeof(queried));
		return ret;
	}
	fld_set(out, CREATE_DCT_OUT_DCTN, DCTN);
	fld_set(out, CREATE_DCT_OUT_ECE, ANSWERED_ECE);
	return ret;
}

static int dct_begin(void **state)
{
	rig_begin(state);
	rig.adapter.num_ports = 2;
	rig.adapter.counter_set[1] = SET;
	cq = (struct uverbs_cq){ .cqn = CQN, .cqe_size = 128 };
	real = (struct real_qp){ .state = QP_RESET };
	qp = (struct uverbs_qp){ .real = &real, .pd = &pd, .srq = &srq, .recv_cq = &cq };
	req = (struct qp_request){ .driver = { .access_key = KEY,
					       .uidx = UIDX,
					       .ece_options = ECE,
					       .flags = MLX5_QP_FLAG_SCATTER_CQE } };
	memset(queried, 0, sizeof(queried));
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 1);
	return 0;
}

static void target_begin(void)
{
	assert_int_equal(qp_dct_prepare(&rig.call, &req, &qp), 0);
}

static void target_end(void)
{
	rig.command_error = 0;
	assert_int_equal(qp_dct_destroy(&rig.adapter, &real), 0);
}

static uint32_t in_context(uint32_t field)
{
	return (uint32_t)fld_get(real.target->context, field);
}

static uint32_t in_command(uint32_t field)
{
	return (uint32_t)fld_get(fld_at(rig.command, CREATE_DCT_IN_CONTEXT), field);
}

static int to_init(uint32_t access)
{
	const struct ib_uverbs_modify_qp cmd = {
		.attr_mask = TO_INIT,
		.qp_state = QP_INIT,
		.qp_access_flags = access,
		.pkey_index = 0x1234,
		.port_num = 2,
	};

	return qp_dct_modify(&rig.call, &cmd, &qp);
}

static int to_rtr(void)
{
	const struct ib_uverbs_modify_qp cmd = {
		.attr_mask = TO_RTR,
		.qp_state = QP_RTR,
		.min_rnr_timer = 12,
		.path_mtu = 3,
		.dest = { .traffic_class = 0x21,
			  .flow_label = 0x54321,
			  .sgid_index = 7,
			  .hop_limit = 64,
			  .sl = 0xd },
	};
	const uint8_t room[sizeof(struct mlx5_ib_modify_qp_resp)] = { 0 };

	rig_in(UVERBS_ATTR_UHW_OUT, room, offsetof(struct mlx5_ib_modify_qp_resp, dctn) + 4);
	return qp_dct_modify(&rig.call, &cmd, &qp);
}

static void a_target_begins_with_what_the_qp_has(void **state)
{
	(void)state;
	target_begin();
	assert_int_equal(in_context(DCTC_PD), PDN);
	assert_int_equal(in_context(DCTC_SRQN_XRQN), SRQN);
	assert_int_equal(in_context(DCTC_CQN), CQN);
	assert_true(fld_get(real.target->context, DCTC_DC_ACCESS_KEY) == KEY);
	assert_int_equal(in_context(DCTC_USER_INDEX), UIDX);
	assert_int_equal(in_context(DCTC_ECE), ECE);
	assert_int_equal(in_context(DCTC_CS_RES), PRM_DCT_CS_RES_64B);
	target_end();
	assert_int_equal(rig.released, 0);
}

static void options_need_support(void **state)
{
	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 0);
	cq.cqe_size = 64;
	target_begin();
	assert_int_equal(in_context(DCTC_ECE), 0);
	assert_int_equal(in_context(DCTC_CS_RES), 0);
	target_end();
	cq.cqe_size = 128;
	req.driver.flags = MLX5_QP_FLAG_SIGNATURE;
	target_begin();
	assert_int_equal(in_context(DCTC_CS_RES), 0);
	target_end();
}

static void init_takes_access_key_and_port(void **state)
{
	(void)state;
	target_begin();
	assert_int_equal(to_init(IB_UVERBS_ACCESS_REMOTE_READ), 0);
	assert_int_equal(real.state, QP_INIT);
	assert_int_equal(real.port, 2);
	assert_int_equal(in_context(DCTC_RRE), 1);
	assert_int_equal(in_context(DCTC_RWE), 0);
	assert_int_equal(in_context(DCTC_RAE), 0);
	assert_int_equal(in_context(DCTC_ATOMIC_MODE), 0);
	assert_int_equal(in_context(DCTC_PKEY_INDEX), 0x1234);
	assert_int_equal(in_context(DCTC_PORT), 2);
	assert_int_equal(in_context(DCTC_COUNTER_SET_ID), SET);
	assert_int_equal(rig.commands, 0);
	target_end();
}

static void atomics_have_a_mode(void **state)
{
	(void)state;
	target_begin();
	assert_int_equal(to_init(IB_UVERBS_ACCESS_REMOTE_ATOMIC), 0);
	assert_int_equal(in_context(DCTC_RAE), 1);
	assert_int_equal(in_context(DCTC_RRE), 0);
	assert_int_equal(in_context(DCTC_ATOMIC_MODE), PRM_ATOMIC_MODE_IB_SPEC);
	real.state = QP_RESET;
	assert_int_equal(to_init(IB_UVERBS_ACCESS_REMOTE_WRITE), 0);
	assert_int_equal(in_context(DCTC_RWE), 1);
	assert_int_equal(in_context(DCTC_RAE), 0);
	target_end();
}

static void the_target_is_made_at_rtr(void **state)
{
	(void)state;
	target_begin();
	assert_int_equal(to_init(0), 0);
	assert_int_equal(to_rtr(), 0);
	assert_int_equal(rig.command_len, PRM_CREATE_DCT_IN_SIZE);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_DCT);
	assert_int_equal(in_command(DCTC_PD), PDN);
	assert_int_equal(in_command(DCTC_MIN_RNR_NAK), 12);
	assert_int_equal(in_command(DCTC_MTU), 3);
	assert_int_equal(in_command(DCTC_TCLASS), 0x21);
	assert_int_equal(in_command(DCTC_FLOW_LABEL), 0x54321);
	assert_int_equal(in_command(DCTC_MY_ADDR_INDEX), 7);
	assert_int_equal(in_command(DCTC_HOP_LIMIT), 64);
	assert_int_equal(in_command(DCTC_ETH_PRIO), 0);
	assert_memory_equal(fld_at(rig.command, CREATE_DCT_IN_CONTEXT), real.target->context,
			    PRM_DCTC_SIZE);
	assert_int_equal(real.qpn, DCTN);
	assert_int_equal(qp.ece, ANSWERED_ECE);
	assert_int_equal(real.state, QP_RTR);
	rig.command_error = REFUSED;
	assert_int_equal(qp_dct_destroy(&rig.adapter, &real), REFUSED);
	target_end();
	assert_int_equal(rig.released, 2); /* drained and destroyed */
	assert_int_equal(rig.last_released, DCTN);
}

static void roce_has_a_priority(void **state)
{
	(void)state;
	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	target_begin();
	assert_int_equal(to_init(0), 0);
	assert_int_equal(to_rtr(), 0);
	assert_int_equal(in_command(DCTC_ETH_PRIO), 5);
	target_end();
}

static void a_refused_target_stays_in_init(void **state)
{
	(void)state;
	target_begin();
	assert_int_equal(to_init(0), 0);
	rig.command_error = REFUSED;
	assert_int_equal(to_rtr(), REFUSED);
	assert_int_equal(real.state, QP_INIT);
	assert_int_equal(real.qpn, 0);
	target_end();
	assert_int_equal(rig.released, 0);
}

static void options_of_a_transition_are_taken(void **state)
{
	struct mlx5_ib_modify_qp driver = { .comp_mask = MLX5_IB_MODIFY_QP_OOO_DP };

	(void)state;
	target_begin();
	assert_int_equal(to_init(0), 0);
	assert_int_equal(in_context(DCTC_DP_ORDERING_1), 0);
	real.state = QP_RESET;
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	assert_int_equal(to_init(0), 0);
	assert_int_equal(in_context(DCTC_ECE), ECE);
	assert_int_equal(in_context(DCTC_DP_ORDERING_1), 1);
	assert_int_equal(in_context(DCTC_DP_ORDERING_FORCE), 1);
	target_end();
}

static void ece_of_a_transition_needs_support(void **state)
{
	struct mlx5_ib_modify_qp driver = { .ece_options = 0x99 };

	(void)state;
	target_begin();
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 0);
	assert_int_equal(to_init(0), 0);
	assert_int_equal(in_context(DCTC_ECE), ECE);
	assert_int_equal(in_context(DCTC_DP_ORDERING_1), 0);
	assert_int_equal(in_context(DCTC_DP_ORDERING_FORCE), 0);
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 1);
	real.state = QP_RESET;
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(to_init(0), 0);
	assert_int_equal(in_context(DCTC_ECE), ECE);
	rig.in_refused = UINT16_MAX;
	real.state = QP_RESET;
	assert_int_equal(to_init(0), 0);
	assert_int_equal(in_context(DCTC_ECE), 0x99);
	target_end();
}

static int target_modify(uint32_t mask, unsigned int from, unsigned int to)
{
	const struct ib_uverbs_modify_qp cmd = { .attr_mask = mask, .qp_state = to, .port_num = 1 };

	real.state = from;
	return qp_dct_modify(&rig.call, &cmd, &qp);
}

static void other_transitions_are_refused(void **state)
{
	const uint8_t room[sizeof(struct mlx5_ib_modify_qp_resp)] = { 0 };
	const size_t answer = offsetof(struct mlx5_ib_modify_qp_resp, dctn) + 4;

	(void)state;
	target_begin();
	assert_int_equal(target_modify(TO_RTR, QP_INIT, QP_RTR), EINVAL); /* no room */
	rig_in(UVERBS_ATTR_UHW_OUT, room, answer - 1);
	assert_int_equal(target_modify(TO_RTR, QP_INIT, QP_RTR), EINVAL);
	rig_in(UVERBS_ATTR_UHW_OUT, room, answer);
	assert_int_equal(target_modify(TO_INIT & ~QP_ATTR_STATE, QP_RESET, QP_INIT), EINVAL);
	assert_int_equal(target_modify(TO_INIT & ~QP_ATTR_PORT, QP_RESET, QP_INIT), EINVAL);
	assert_int_equal(target_modify(TO_INIT | QP_ATTR_QKEY, QP_RESET, QP_INIT), EINVAL);
	assert_int_equal(target_modify(TO_RTR & ~QP_ATTR_MTU, QP_INIT, QP_RTR), EINVAL);
	assert_int_equal(target_modify(TO_INIT, QP_INIT, QP_INIT), EINVAL);
	assert_int_equal(target_modify(TO_RTR, QP_RESET, QP_RTR), EINVAL);
	assert_int_equal(target_modify(TO_RTR, QP_RTR, QP_RTR), EINVAL);
	assert_int_equal(target_modify(TO_RTR, QP_INIT, QP_RTS), EINVAL);
	assert_int_equal(rig.commands, 0);
	real.state = QP_INIT;
	target_end();
}

static void check_query(uint32_t mask, const struct ib_uverbs_query_qp_resp *expected)
{
	struct ib_uverbs_query_qp_resp resp = { 0 };

	assert_int_equal(qp_dct_query(&rig.call, mask, &qp, &resp), 0);
	assert_memory_equal(&resp, expected, sizeof(resp));
}

static void a_query_returns_what_is_asked_for(void **state)
{
	const struct ib_uverbs_query_qp_resp rows[] = {
		{ .qp_state = QP_RTR },
		{ .qp_access_flags =
			  IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC },
		{ .port_num = 2 },
		{ .min_rnr_timer = 12 },
		{ .dest = { .traffic_class = 0x21,
			    .flow_label = 0x54321,
			    .sgid_index = 7,
			    .hop_limit = 64 } },
		{ .path_mtu = 3 },
		{ .pkey_index = 0x1234 },
	};
	static const uint32_t masks[] = { QP_ATTR_STATE,     QP_ATTR_ACCESS, QP_ATTR_PORT,
					  QP_ATTR_RNR_TIMER, QP_ATTR_AV,     QP_ATTR_MTU,
					  QP_ATTR_PKEY };

	(void)state;
	target_begin();
	assert_int_equal(to_init(IB_UVERBS_ACCESS_REMOTE_READ | IB_UVERBS_ACCESS_REMOTE_ATOMIC), 0);
	assert_int_equal(to_rtr(), 0);
	memcpy(queried, real.target->context, sizeof(queried));
	for (unsigned int i = 0; i < sizeof(masks) / sizeof(masks[0]); i++)
		check_query(masks[i], &rows[i]);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_QUERY_DCT);
	assert_int_equal(fld_get(rig.command, QUERY_DCT_IN_DCTN), DCTN);
	assert_int_equal(rig.command_len, PRM_CMD_IN_SIZE);
	memset(queried, 0, sizeof(queried));
	fld_set(queried, DCTC_RWE, 1);
	check_query(QP_ATTR_ACCESS, &(const struct ib_uverbs_query_qp_resp){
					    .qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE });
	target_end();
}

static void a_query_needs_a_target(void **state)
{
	struct ib_uverbs_query_qp_resp resp = { 0 };

	(void)state;
	target_begin();
	assert_int_equal(to_init(0), 0);
	assert_int_equal(qp_dct_query(&rig.call, QP_ATTR_STATE, &qp, &resp), EINVAL);
	assert_int_equal(to_rtr(), 0);
	assert_int_equal(qp_dct_query(&rig.call, QP_ATTR_QKEY, &qp, &resp), EINVAL);
	assert_int_equal(rig.commands, 1);
	rig.command_error = REFUSED;
	assert_int_equal(qp_dct_query(&rig.call, QP_ATTR_STATE, &qp, &resp), REFUSED);
	assert_int_equal(resp.qp_state, 0);
	target_end();
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dct_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(a_target_begins_with_what_the_qp_has),
		CASE(options_need_support),
		CASE(init_takes_access_key_and_port),
		CASE(atomics_have_a_mode),
		CASE(the_target_is_made_at_rtr),
		CASE(roce_has_a_priority),
		CASE(a_refused_target_stays_in_init),
		CASE(options_of_a_transition_are_taken),
		CASE(ece_of_a_transition_needs_support),
		CASE(other_transitions_are_refused),
		CASE(a_query_returns_what_is_asked_for),
		CASE(a_query_needs_a_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
