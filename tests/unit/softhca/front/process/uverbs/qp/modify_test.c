/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * modify_test.c - changes of QPs: the device's command for each step from RESET to RTS, on
 * InfiniBand and on RoCE, the values that are refused, and the state that a refused change leaves.
 *
 * Covers: softhca/front/process/uverbs/qp/modify.c
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/qp/modify.c"

enum { QPN = 0x4321, DEST = 0x765432, PSN = 0x123456, COUNTERS = 0x2a, REFUSED = EDOM, ECE = 0x77 };

static struct {
	struct uverbs_qp qp;
	struct real_qp real;
	struct raw_qp raw;
	struct uverbs_rwq_table table;
	bool is_privileged;
	struct uverbs_cq send_cq, recv_cq;
	struct client send_client, recv_client; /* that made them */
	int started;                            /* as the epitaph was told last; -1: not told */
	struct rate_limit limit;
	bool has_limit;
	uint32_t raw_opcode;
	unsigned int dct_changes;
	int spread_error;
} it;

void roce_resolve(const uint8_t gid[16], uint8_t mac[6])
{
	memcpy(mac, gid + 10, 6);
}

uint16_t roce_udp_source(uint32_t flow_label)
{
	return (uint16_t)(0xc000 | (flow_label & 0x3fff));
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_true(port >= 1 && port <= 2);
	memset(entry, 0, sizeof(*entry));
	return index < 4 ? 0 : ENODATA;
}

int adapter_query_pkey(struct adapter *adapter, unsigned int port, uint32_t index, uint16_t *pkey)
{
	assert_ptr_equal(adapter, &rig.adapter);
	*pkey = 0xffff;
	return index < 8 * port ? 0 : ERANGE; /* port 2 has more */
}

bool client_may(pid_t tid, unsigned int capability)
{
	(void)tid;
	return it.is_privileged && capability == CLIENT_CAP_NET_RAW;
}

int raw_qp_change(struct adapter *adapter, struct raw_qp *raw, uint32_t opcode,
		  const struct rate_limit *limit)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(raw, &it.raw);
	it.raw_opcode = opcode;
	it.has_limit = limit;
	if (limit)
		it.limit = *limit;
	return rig.command_error;
}

int qp_dct_modify(struct uverbs_call *uc, const struct ib_uverbs_modify_qp *cmd,
		  struct uverbs_qp *qp)
{
	assert_ptr_equal(uc, &rig.call);
	assert_ptr_equal(qp, &it.qp);
	(void)cmd;
	it.dct_changes++;
	return 0;
}

int mlx4_check_spread_change(unsigned int from, unsigned int to)
{
	assert_int_equal(from, it.real.state);
	assert_true(to < QP_STATES);
	return it.spread_error;
}

int qp_service_type(unsigned int type)
{
	return type == IB_UVERBS_QPT_UD ? PRM_QP_ST_UD : PRM_QP_ST_RC;
}

void epitaph_start_qp(const struct epitaph_place *at, const struct client *send,
		      const struct client *recv)
{
	assert_ptr_equal(at, &it.qp.epitaph);
	assert_ptr_equal(send, &it.send_client);
	assert_ptr_equal(recv, it.qp.recv_cq ? &it.recv_client : &it.send_client);
	it.started = true;
}

void epitaph_reset_qp(const struct epitaph_place *at)
{
	assert_ptr_equal(at, &it.qp.epitaph);
	it.started = false;
}

static int qp_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.adapter.num_ports = 2;
	rig.adapter.counter_set[0] = COUNTERS;
	rig.adapter.counter_set[1] = COUNTERS + 1;
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_RA_REQ_QP, 4);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_RA_RES_QP, 3);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_MSG, 30);
	it.real.qpn = QPN;
	it.qp.real = &it.real;
	it.qp.type = IB_UVERBS_QPT_RC;
	it.send_cq.base.maker = &it.send_client;
	it.recv_cq.base.maker = &it.recv_client;
	it.qp.send_cq = &it.send_cq;
	it.qp.recv_cq = &it.recv_cq;
	it.started = -1;
	rig_publish(&it.qp.base, UVERBS_OBJECT_QP);
	return 0;
}

/* ---- what a program asks for ---- */

static struct ib_uverbs_ex_modify_qp to_init(void)
{
	return (struct ib_uverbs_ex_modify_qp){
		.base = { .attr_mask = QP_ATTR_STATE | QP_ATTR_PKEY | QP_ATTR_PORT | QP_ATTR_ACCESS,
			  .qp_state = QP_INIT,
			  .port_num = 2,
			  .pkey_index = 9,
			  .qp_access_flags = IB_UVERBS_ACCESS_REMOTE_WRITE |
					     IB_UVERBS_ACCESS_REMOTE_READ |
					     IB_UVERBS_ACCESS_REMOTE_ATOMIC }
	};
}

static struct ib_uverbs_ex_modify_qp to_rtr(void)
{
	return (struct ib_uverbs_ex_modify_qp){
		.base = { .attr_mask = QP_ATTR_STATE | QP_ATTR_AV | QP_ATTR_MTU | QP_ATTR_DEST_QPN |
				       QP_ATTR_RQ_PSN | QP_ATTR_MAX_DEST_READS | QP_ATTR_RNR_TIMER,
			  .qp_state = QP_RTR,
			  .path_mtu = 4,
			  .dest_qp_num = DEST,
			  .rq_psn = PSN,
			  .max_dest_rd_atomic = 5,
			  .min_rnr_timer = 12,
			  .dest = { .dgid = { 0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5,
					      6 },
				    .flow_label = 0xabcde,
				    .dlid = 0x1234,
				    .sgid_index = 3,
				    .hop_limit = 64,
				    .traffic_class = 0x68,
				    .sl = 5,
				    .src_path_bits = 0x83,
				    .static_rate = 2,
				    .is_global = 1,
				    .port_num = 2 } }
	};
}

static struct ib_uverbs_ex_modify_qp to_rts(void)
{
	return (struct ib_uverbs_ex_modify_qp){
		.base = { .attr_mask = QP_ATTR_STATE | QP_ATTR_TIMEOUT | QP_ATTR_SQ_PSN |
				       QP_ATTR_RETRY | QP_ATTR_RNR_RETRY | QP_ATTR_MAX_READS,
			  .qp_state = QP_RTS,
			  .timeout = 14,
			  .sq_psn = PSN + 1,
			  .retry_cnt = 6,
			  .rnr_retry = 7,
			  .max_rd_atomic = 16 }
	};
}

static struct ib_uverbs_ex_modify_qp to_state(uint8_t state)
{
	return (struct ib_uverbs_ex_modify_qp){ .base = { .attr_mask = QP_ATTR_STATE,
							  .qp_state = state } };
}

static int wish_change(struct ib_uverbs_ex_modify_qp cmd)
{
	cmd.base.qp_handle = it.qp.base.handle;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return qp_modify_ex(&rig.call);
}

/* Takes the QP to STATE, as far as RTS. */
static void qp_bring_to(unsigned int state)
{
	if (state >= QP_INIT)
		assert_int_equal(wish_change(to_init()), 0);
	if (state >= QP_RTR)
		assert_int_equal(wish_change(to_rtr()), 0);
	if (state >= QP_RTS)
		assert_int_equal(wish_change(to_rts()), 0);
	assert_int_equal(it.real.state, state);
}

/* A refused change runs no command, and changes nothing that is remembered: the QP is as it was. */
static void expect_refused(struct ib_uverbs_ex_modify_qp cmd, int error)
{
	const unsigned int commands = rig.commands;
	const struct real_qp before = it.real;

	assert_int_equal(wish_change(cmd), error);
	assert_int_equal(rig.commands, commands);
	assert_memory_equal(&it.real, &before, sizeof(before));
}

static uint64_t command_field(uint32_t field)
{
	return fld_get(rig.command, field);
}

static uint64_t qpc(uint32_t field)
{
	return fld_get(fld_at(rig.command, MODIFY_QP_IN_QPC), field);
}

static const uint8_t *path(void)
{
	return fld_at(fld_at(rig.command, MODIFY_QP_IN_QPC), QPC_PRIMARY_PATH);
}

static void check_command(unsigned int opcode, uint32_t optional)
{
	assert_int_equal(command_field(CMD_IN_OPCODE), opcode);
	assert_int_equal(command_field(MODIFY_QP_IN_QPN), QPN);
	assert_int_equal(command_field(MODIFY_QP_IN_OPT_PARAM_MASK), optional);
	assert_int_equal(command_field(M4_AS_RTS2SQD_TELL), 0);
	assert_int_equal(qpc(QPC_ST), PRM_QP_ST_RC);
	assert_int_equal(qpc(QPC_PM_STATE), PRM_QP_PM_STATE_MIGRATED);
}

/* ---- steps ---- */

static void reset_to_init_gives_place_and_access(void **state)
{
	(void)state;
	assert_int_equal(wish_change(to_init()), 0);
	check_command(PRM_OP_RST2INIT_QP, 0);
	assert_int_equal(fld_get(path(), ADS_PKEY_INDEX), 9);
	assert_int_equal(fld_get(path(), ADS_VHCA_PORT_NUM), 2);
	assert_int_equal(qpc(QPC_COUNTER_SET_ID), COUNTERS + 1);
	/* no reads before max_dest_rd_atomic is known */
	assert_int_equal(qpc(QPC_RWE), 1);
	assert_int_equal(qpc(QPC_RRE), 0);
	assert_int_equal(qpc(QPC_RAE), 0);
	assert_int_equal(qpc(QPC_ATOMIC_MODE), 0);
	assert_int_equal(it.real.state, QP_INIT);
	assert_int_equal(it.real.port, 2);
	assert_int_equal(it.started, 1);
}

static void init_to_rtr_gives_the_path(void **state)
{
	(void)state;
	qp_bring_to(QP_RTR);
	check_command(PRM_OP_INIT2RTR_QP, PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE);
	assert_int_equal(qpc(QPC_MTU), 4);
	assert_int_equal(qpc(QPC_LOG_MSG_MAX), 30);
	assert_int_equal(qpc(QPC_REMOTE_QPN), DEST);
	assert_int_equal(qpc(QPC_NEXT_RCV_PSN), PSN);
	assert_int_equal(qpc(QPC_LOG_RRA_MAX), 3); /* 8 are the least power of two for 5 */
	assert_int_equal(qpc(QPC_MIN_RNR_NAK), 12);
	assert_true(qpc(QPC_RWE) && qpc(QPC_RRE) && qpc(QPC_RAE));
	assert_int_equal(qpc(QPC_ATOMIC_MODE), PRM_ATOMIC_MODE_IB_SPEC);
	assert_int_equal(fld_get(path(), ADS_RLID), 0x1234);
	assert_int_equal(fld_get(path(), ADS_MLID), 0x03);
	assert_int_equal(fld_get(path(), ADS_SL), 5);
	assert_int_equal(fld_get(path(), ADS_STAT_RATE), 7);
	assert_int_equal(fld_get(path(), ADS_GRH), 1);
	assert_int_equal(fld_get(path(), ADS_SRC_ADDR_INDEX), 3);
	assert_int_equal(fld_get(path(), ADS_HOP_LIMIT), 64);
	assert_int_equal(fld_get(path(), ADS_TCLASS), 0x68);
	assert_int_equal(fld_get(path(), ADS_FLOW_LABEL), 0xabcde);
	assert_int_equal(fld_get(path(), ADS_VHCA_PORT_NUM), 2);
	assert_memory_equal(fld_at(path(), ADS_RGID_RIP), to_rtr().base.dest.dgid, 16);
}

static void a_local_path_has_no_grh(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_rtr();
	static const uint8_t none[16];

	(void)state;
	qp_bring_to(QP_INIT);
	cmd.base.dest.is_global = 0;
	cmd.base.dest.static_rate = 0;
	cmd.base.dest.sgid_index = 100; /* not looked at */
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(fld_get(path(), ADS_GRH), 0);
	assert_int_equal(fld_get(path(), ADS_HOP_LIMIT), 0);
	assert_int_equal(fld_get(path(), ADS_STAT_RATE), 0);
	assert_memory_equal(fld_at(path(), ADS_RGID_RIP), none, 16);
	assert_int_equal(fld_get(path(), ADS_RLID), 0x1234);
}

static void a_path_of_roce_has_a_mac(void **state)
{
	struct ib_uverbs_ex_modify_qp local = to_rtr();

	(void)state;
	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	qp_bring_to(QP_INIT);
	local.base.dest.is_global = 0;
	expect_refused(local, EINVAL);
	assert_int_equal(wish_change(to_rtr()), 0);
	assert_int_equal(fld_get(path(), ADS_RMAC_47_32), 0x0102);
	assert_int_equal(fld_get(path(), ADS_RMAC_31_0), 0x03040506);
	assert_int_equal(fld_get(path(), ADS_UDP_SPORT), 0xc000 | (0xabcde & 0x3fff));
	assert_int_equal(fld_get(path(), ADS_DSCP), 0x68 >> 2);
	assert_int_equal(fld_get(path(), ADS_ETH_PRIO), 5);
}

static void rtr_to_rts_gives_the_requester(void **state)
{
	(void)state;
	qp_bring_to(QP_RTS);
	check_command(PRM_OP_RTR2RTS_QP, 0);
	assert_int_equal(fld_get(path(), ADS_ACK_TIMEOUT), 14);
	assert_int_equal(qpc(QPC_NEXT_SEND_PSN), PSN + 1);
	assert_int_equal(qpc(QPC_RETRY_COUNT), 6);
	assert_int_equal(qpc(QPC_RNR_RETRY), 7);
	assert_int_equal(qpc(QPC_LOG_SRA_MAX), 4);
	assert_int_equal(fld_get(path(), ADS_VHCA_PORT_NUM), 0);
}

static void in_rts_each_attribute_is_optional(void **state)
{
	static const struct {
		uint32_t attr, optional;
	} rows[] = {
		{ QP_ATTR_ACCESS, PRM_OPTPAR_RRE | PRM_OPTPAR_RAE | PRM_OPTPAR_RWE },
		{ QP_ATTR_RNR_TIMER, PRM_OPTPAR_RNR_TIMEOUT },
		{ QP_ATTR_MIG_STATE, PRM_OPTPAR_PM_STATE },
	};

	(void)state;
	qp_bring_to(QP_RTS);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		assert_int_equal(wish_change((struct ib_uverbs_ex_modify_qp){
					 .base = { .attr_mask = rows[i].attr } }),
				 0);
		check_command(PRM_OP_RTS2RTS_QP, rows[i].optional);
	}
	assert_int_equal(it.real.access, 0);
}

static void a_datagram_qp_has_one_packet_and_a_qkey(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = { .base = { .attr_mask = QP_ATTR_STATE | QP_ATTR_PKEY |
								     QP_ATTR_PORT | QP_ATTR_QKEY,
							.qp_state = QP_INIT,
							.port_num = 1,
							.qkey = 0x80010000 } };

	(void)state;
	it.qp.type = IB_UVERBS_QPT_UD;
	expect_refused(cmd, EPERM);
	it.is_privileged = true;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(qpc(QPC_Q_KEY), 0x80010000);
	assert_int_equal(qpc(QPC_MTU), 5);
	assert_int_equal(qpc(QPC_LOG_MSG_MAX), 12);
	assert_int_equal(qpc(QPC_COUNTER_SET_ID), COUNTERS);
	it.is_privileged = false;
	cmd = to_state(QP_INIT);
	cmd.base.attr_mask |= QP_ATTR_QKEY;
	cmd.base.qkey = 0x7fffffff;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(command_field(MODIFY_QP_IN_OPT_PARAM_MASK), PRM_OPTPAR_Q_KEY);
}

/* ---- refusals ---- */

static void values_have_limits(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_init();

	(void)state;
	cmd.base.port_num = 3;
	expect_refused(cmd, EINVAL);
	cmd.base.port_num = 0;
	expect_refused(cmd, EINVAL);
	cmd.base.port_num = 1;
	expect_refused(cmd, ERANGE); /* P_Key index 9 is of port 2 */
	cmd = to_init();
	cmd.base.qp_state = QP_STATES;
	expect_refused(cmd, EINVAL);
	cmd = to_init();
	cmd.base.attr_mask |= QP_ATTR_CUR_STATE;
	cmd.base.cur_qp_state = QP_STATES;
	expect_refused(cmd, EINVAL);
	cmd = to_init();
	cmd.base.attr_mask &= ~(uint32_t)QP_ATTR_PKEY;
	expect_refused(cmd, EINVAL);
	cmd = to_init();
	cmd.base.attr_mask |= 1u << 21;
	expect_refused(cmd, EOPNOTSUPP);
	qp_bring_to(QP_INIT);
	for (uint8_t mtu = 0; mtu < 8; mtu++) {
		cmd = to_rtr();
		cmd.base.path_mtu = mtu;
		if (mtu < 1 || mtu > 5)
			expect_refused(cmd, EINVAL);
	}
	cmd = to_rtr();
	cmd.base.max_dest_rd_atomic = 9;
	expect_refused(cmd, EINVAL);
	cmd.base.max_dest_rd_atomic = 8;
	assert_int_equal(wish_change(cmd), 0);
	cmd = to_rts();
	cmd.base.max_rd_atomic = 17;
	expect_refused(cmd, EINVAL);
	cmd = to_rts();
	cmd.base.attr_mask |= QP_ATTR_ALT_PATH;
	expect_refused(cmd, EINVAL);
	assert_int_equal(wish_change(to_rts()), 0);
}

static void a_path_leads_from_the_own_port(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_rtr();

	(void)state;
	qp_bring_to(QP_INIT);
	cmd.base.dest.port_num = 1;
	expect_refused(cmd, EINVAL);
	cmd.base.dest.port_num = 3;
	expect_refused(cmd, EINVAL);
	cmd = to_rtr();
	cmd.base.dest.sgid_index = 4;
	expect_refused(cmd, ENODATA);
}

/* mlx4 has a state SQD, in which a path may lead from another port, which becomes the QP's. */
static void in_sqd_a_path_brings_its_port(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_state(QP_SQD);

	(void)state;
	rig.identity.kind = HCA_MLX4;
	qp_bring_to(QP_RTS);
	cmd.base.en_sqd_async_notify = 1; /* without its bit in the mask */
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(command_field(M4_AS_RTS2SQD_TELL), 0);
	assert_int_equal(wish_change(to_state(QP_RTS)), 0);
	cmd.base.attr_mask |= QP_ATTR_SQD_NOTIFY;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(command_field(CMD_IN_OPCODE), M4_AS_RTS2SQD_QP);
	assert_int_equal(command_field(M4_AS_RTS2SQD_TELL), 1);
	cmd = to_rtr();
	cmd.base.attr_mask = QP_ATTR_AV;
	cmd.base.dest.port_num = 1;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(command_field(CMD_IN_OPCODE), M4_AS_SQD2SQD_QP);
	assert_int_equal(command_field(MODIFY_QP_IN_OPT_PARAM_MASK),
			 PRM_OPTPAR_PRI_PORT | PRM_OPTPAR_PRIMARY_ADDR_PATH);
	assert_int_equal(fld_get(path(), ADS_VHCA_PORT_NUM), 1);
	assert_int_equal(it.real.port, 1);
	cmd.base.attr_mask |= QP_ATTR_PORT;
	cmd.base.port_num = 2; /* not the path's */
	expect_refused(cmd, EINVAL);
}

static void the_other_side_of_xrc_is_ignored(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_rtr();

	(void)state;
	it.qp.type = IB_UVERBS_QPT_XRC_INI;
	qp_bring_to(QP_INIT);
	cmd.base.max_dest_rd_atomic = 200;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(qpc(QPC_LOG_RRA_MAX), 0);
	assert_int_equal(qpc(QPC_MIN_RNR_NAK), 0);
	assert_int_equal(it.real.max_dest_reads, 0);
	it.qp.type = IB_UVERBS_QPT_XRC_TGT;
	cmd = to_rts();
	cmd.base.max_rd_atomic = 200;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(qpc(QPC_LOG_SRA_MAX), 0);
	assert_int_equal(qpc(QPC_RETRY_COUNT), 0);
	assert_int_equal(qpc(QPC_RNR_RETRY), 0);
}

static void a_command_that_fails_changes_nothing(void **state)
{
	struct real_qp before;

	(void)state;
	qp_bring_to(QP_INIT);
	before = it.real;
	it.started = -1;
	rig.command_error = REFUSED;
	assert_int_equal(wish_change(to_rtr()), REFUSED);
	assert_memory_equal(&it.real, &before, sizeof(before));
	assert_int_equal(it.started, -1);
	assert_int_equal(it.qp.ece, 0);
}

static void a_reset_qp_has_not_started(void **state)
{
	(void)state;
	qp_bring_to(QP_RTS);
	assert_int_equal(wish_change(to_state(QP_ERR)), 0);
	assert_int_equal(command_field(CMD_IN_OPCODE), PRM_OP_2ERR_QP);
	assert_int_equal(it.started, 1);
	assert_int_equal(wish_change(to_state(QP_RESET)), 0);
	assert_int_equal(command_field(CMD_IN_OPCODE), PRM_OP_2RST_QP);
	assert_int_equal(it.started, 0);
	rig.commands = 0;
	assert_int_equal(wish_change(to_state(QP_RESET)), 0);
	assert_int_equal(rig.commands, 0);
}

static void driver_in(uint32_t comp_mask, uint32_t ece)
{
	const struct mlx5_ib_modify_qp driver = { .comp_mask = comp_mask, .ece_options = ece };

	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
}

static void reordering_takes_a_capability_and_lasts(void **state)
{
	(void)state;
	driver_in(MLX5_IB_MODIFY_QP_OOO_DP << 1, 0);
	expect_refused(to_init(), EOPNOTSUPP);
	driver_in(MLX5_IB_MODIFY_QP_OOO_DP, 0);
	expect_refused(to_init(), EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_DP_ORDERING_OOO_ALL_RC, 1);
	assert_int_equal(wish_change(to_init()), 0);
	assert_int_equal(qpc(QPC_DP_ORDERING_1), 1);
	assert_int_equal(qpc(QPC_DP_ORDERING_FORCE), 1);
	driver_in(0, 0);
	assert_int_equal(wish_change(to_rtr()), 0);
	assert_int_equal(qpc(QPC_DP_ORDERING_1), 1);
	assert_int_equal(wish_change(to_state(QP_RESET)), 0);
	assert_false(it.real.out_of_order);
	it.qp.type = IB_UVERBS_QPT_UC;
	driver_in(MLX5_IB_MODIFY_QP_OOO_DP, 0);
	expect_refused(to_init(), EOPNOTSUPP);
	rig_in(UVERBS_ATTR_UHW_IN, "", 1); /* cut */
	expect_refused(to_init(), EINVAL);
}

static void options_of_the_connection_go_both_ways(void **state)
{
	const struct mlx5_ib_modify_qp_resp *resp;

	(void)state;
	driver_in(0, ECE);
	assert_int_equal(wish_change(to_init()), 0);
	/* the device has none, so the command carries none */
	assert_int_equal(command_field(MODIFY_QP_IN_ECE), 0);
	fld_set(rig.adapter.caps, HCA_CAP_ECE_SUPPORT, 1);
	assert_int_equal(wish_change(to_rtr()), 0);
	assert_int_equal(command_field(MODIFY_QP_IN_ECE), ECE);
	it.qp.ece = ECE;
	assert_int_equal(respond_ece(&rig.call, it.qp.base.handle), 0);
	resp = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*resp));
	assert_int_equal(resp->ece_options, ECE);
	assert_int_equal(resp->response_length, sizeof(*resp));
	assert_int_equal(resp->dctn, 0);
	assert_int_equal(respond_ece(&rig.call, it.qp.base.handle + 1), ENOENT);
}

/* ---- QPs of other kinds ---- */

static struct ib_uverbs_ex_modify_qp raw_rate(uint32_t rate)
{
	return (struct ib_uverbs_ex_modify_qp){ .base = { .attr_mask = QP_ATTR_RATE_LIMIT },
						.rate_limit = rate };
}

static void a_raw_qp_has_a_rate(void **state)
{
	struct mlx5_ib_modify_qp driver = { .burst_info = { .max_burst_sz = 3000,
							    .typical_pkt_sz = 500 } };
	struct ib_uverbs_ex_modify_qp init = to_state(QP_INIT);

	(void)state;
	it.qp.type = IB_UVERBS_QPT_RAW_PACKET;
	it.real.raw = &it.raw;
	init.base.attr_mask |= QP_ATTR_PORT;
	init.base.port_num = 1;
	assert_int_equal(wish_change(init), 0);
	assert_int_equal(it.raw_opcode, PRM_OP_RST2INIT_QP);
	assert_false(it.has_limit);
	assert_int_equal(wish_change(to_state(QP_RTR)), 0);
	assert_int_equal(wish_change(to_state(QP_RTS)), 0);
	assert_int_equal(wish_change(raw_rate(100)), 0);
	assert_true(it.has_limit && it.limit.rate == 100 && !it.limit.burst && !it.limit.packet);
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	assert_int_equal(wish_change(raw_rate(100)), EINVAL);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING_BURST_BOUND, 1);
	assert_int_equal(wish_change(raw_rate(100)), EINVAL);
	fld_set(rig.adapter.qos_caps, QOS_CAP_PACKET_PACING_TYPICAL_SIZE, 1);
	assert_int_equal(wish_change(raw_rate(100)), 0);
	assert_true(it.limit.burst == 3000 && it.limit.packet == 500);
	assert_int_equal(wish_change(raw_rate(0)), EINVAL);
	driver.burst_info.reserved = 1;
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	assert_int_equal(wish_change(raw_rate(100)), EOPNOTSUPP);
	assert_int_equal(rig.commands, 0);
}

static void an_underlay_qp_has_nothing_but_a_state(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_init();

	(void)state;
	it.qp.type = IB_UVERBS_QPT_UD;
	it.qp.is_underlay = true;
	it.real.raw = &it.raw;
	expect_refused(cmd, EINVAL);
	assert_int_equal(wish_change(to_state(QP_INIT)), 0);
	assert_int_equal(wish_change(to_state(QP_RTR)), 0);
	assert_int_equal(wish_change(to_state(QP_RTS)), 0);
	assert_int_equal(it.raw_opcode, PRM_OP_RTR2RTS_QP);
}

static void targets_and_spreading_qps_go_their_own_way(void **state)
{
	struct ib_uverbs_ex_modify_qp cmd = to_init();

	(void)state;
	it.real.target = (void *)&it;
	assert_int_equal(wish_change(cmd), 0);
	assert_int_equal(it.dct_changes, 1);
	assert_int_equal(((const struct mlx5_ib_modify_qp_resp *)rig_out(
				  UVERBS_ATTR_UHW_OUT, sizeof(struct mlx5_ib_modify_qp_resp)))
				 ->dctn,
			 QPN);
	cmd.base.port_num = 3;
	expect_refused(cmd, EINVAL);
	assert_int_equal(it.dct_changes, 1);
	it.real.target = NULL;
	it.qp.table = &it.table;
	expect_refused(to_init(), ENOSYS);
	rig.identity.kind = HCA_MLX4;
	it.spread_error = REFUSED;
	expect_refused(to_init(), REFUSED);
	it.spread_error = 0;
	assert_int_equal(wish_change(to_init()), 0);
	assert_int_equal(it.real.state, QP_INIT);
}

static void the_old_command_has_no_rate(void **state)
{
	struct ib_uverbs_modify_qp cmd = to_init().base;

	(void)state;
	cmd.qp_handle = it.qp.base.handle;
	cmd.attr_mask |= QP_ATTR_RATE_LIMIT;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(qp_modify(&rig.call), EOPNOTSUPP);
	cmd.attr_mask &= ~(uint32_t)QP_ATTR_RATE_LIMIT;
	cmd.qp_handle++;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(qp_modify(&rig.call), ENOENT);
	cmd.qp_handle--;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(qp_modify(&rig.call), 0);
	assert_int_equal(it.real.state, QP_INIT);
	assert_false(rig_has_out(UVERBS_ATTR_UHW_OUT));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, qp_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(reset_to_init_gives_place_and_access),
		CASE(init_to_rtr_gives_the_path),
		CASE(a_local_path_has_no_grh),
		CASE(a_path_of_roce_has_a_mac),
		CASE(rtr_to_rts_gives_the_requester),
		CASE(in_rts_each_attribute_is_optional),
		CASE(a_datagram_qp_has_one_packet_and_a_qkey),
		CASE(values_have_limits),
		CASE(a_path_leads_from_the_own_port),
		CASE(in_sqd_a_path_brings_its_port),
		CASE(the_other_side_of_xrc_is_ignored),
		CASE(a_command_that_fails_changes_nothing),
		CASE(a_reset_qp_has_not_started),
		CASE(reordering_takes_a_capability_and_lasts),
		CASE(options_of_the_connection_go_both_ways),
		CASE(a_raw_qp_has_a_rate),
		CASE(an_underlay_qp_has_nothing_but_a_state),
		CASE(targets_and_spreading_qps_go_their_own_way),
		CASE(the_old_command_has_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
