/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * attr_test.c - attributes of a QP for INIT, RTR and RTS, for each type of QP and each state of the
 * connection, and refused requests.
 */
#include <rdma/ib_user_verbs.h>

#include "softhca/front/process/ucma/attr.c"
#include "tests/unit/softhca/front/process/ucma/rig.h"

enum { ON_CONNECTION = MASK_STATE | MASK_PKEY_INDEX | MASK_PORT | MASK_ACCESS };

void ucma_conn_put_ah(const struct cm_path *path, uint8_t sgid_index,
		      struct ib_uverbs_ah_attr *attr)
{
	assert_ptr_equal(path, &rig.id.conn.path);
	assert_int_equal(sgid_index, 3);
	attr->dlid = 0x4321;
}

static int attr_begin(void **state)
{
	struct ucma_id *id = &rig.id;

	rig_begin(state);
	id->has_src = true;
	id->src.adapter = &rig.adapters[0];
	id->src.port = 2;
	id->state = UCMA_CONNECTS;
	id->qp_type = IB_UVERBS_QPT_RC;
	id->conn = (struct cm_conn){ .state = CM_ESTABLISHED,
				     .remote_qpn = 0x1234,
				     .psn = 0x111,
				     .remote_psn = 0x222,
				     .responder_resources = 5,
				     .initiator_depth = 6,
				     .retry_count = 4,
				     .rnr_retry_count = 3,
				     .ack_timeout = 19 };
	id->conn.path.gid_index = 3;
	id->conn.path.mtu = 4;
	return 0;
}

static int ask_attr(uint32_t qp_state)
{
	rig.call.init_qp_attr = (struct rdma_ucm_init_qp_attr){ .response = RIG_ADDR,
								.id = RIG_ID,
								.qp_state = qp_state };
	rig.written = 0;
	return ucma_conn_init_qp_attr(&rig.call);
}

static struct ib_uverbs_qp_attr attr_for(uint32_t qp_state)
{
	struct ib_uverbs_qp_attr attr;

	assert_int_equal(ask_attr(qp_state), 0);
	assert_int_equal(rig.written, sizeof(attr));
	memcpy(&attr, rig.memory, sizeof(attr));
	assert_int_equal(attr.qp_state, qp_state);
	return attr;
}

static void a_datagram_qp_gets_the_common_qkey(void **state)
{
	struct ib_uverbs_qp_attr attr;

	(void)state;
	rig.id.datagram = true;
	attr = attr_for(QPS_INIT);
	assert_int_equal(attr.qp_attr_mask, MASK_STATE | MASK_PKEY_INDEX | MASK_PORT | MASK_QKEY);
	assert_int_equal(attr.qkey, 0x01234567);
	assert_int_equal(attr.port_num, 2);
	assert_int_equal(ask_attr(QPS_RTR), EINVAL);
	assert_int_equal(ask_attr(QPS_RTS), EINVAL);
	assert_int_equal(rig.written, 0);
}

static void before_a_connection_nothing_remote_is_allowed(void **state)
{
	(void)state;
	for (rig.id.state = UCMA_BOUND; rig.id.state < UCMA_CONNECTS; rig.id.state++) {
		const struct ib_uverbs_qp_attr attr = attr_for(QPS_INIT);

		assert_int_equal(attr.qp_attr_mask, ON_CONNECTION);
		assert_int_equal(attr.qp_access_flags, 0);
		assert_int_equal(attr.port_num, 2);
	}
}

static void init_allows_what_was_agreed_on(void **state)
{
	struct ib_uverbs_qp_attr attr = attr_for(QPS_INIT);

	(void)state;
	assert_int_equal(attr.qp_attr_mask, ON_CONNECTION);
	assert_int_equal(attr.qp_access_flags, 2 | 4 | 8);
	rig.id.conn.responder_resources = 0;
	attr = attr_for(QPS_INIT);
	assert_int_equal(attr.qp_access_flags, 2);
}

static void the_connections_state_allows_init(void **state)
{
	(void)state;
	for (enum cm_state of = CM_IDLE; of <= CM_SIDR_RECEIVED; of++) {
		rig.id.conn.state = of;
		assert_int_equal(ask_attr(QPS_INIT),
				 of >= CM_REQ_SENT && of <= CM_ESTABLISHED ? 0 : EINVAL);
	}
}

static void rtr_and_rts_need_a_known_peer(void **state)
{
	(void)state;
	for (enum cm_state of = CM_IDLE; of <= CM_SIDR_RECEIVED; of++) {
		const int expected = of >= CM_REQ_RECEIVED && of <= CM_ESTABLISHED ? 0 : EINVAL;

		rig.id.conn.state = of;
		assert_int_equal(ask_attr(QPS_RTR), expected);
		assert_int_equal(ask_attr(QPS_RTS), expected);
	}
}

static void rtr_is_of_the_connection(void **state)
{
	static const struct {
		uint8_t type;
		bool reads;
	} rows[] = { { IB_UVERBS_QPT_RC, true },
		     { IB_UVERBS_QPT_UC, false },
		     { IB_UVERBS_QPT_XRC_INI, false },
		     { IB_UVERBS_QPT_XRC_TGT, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t mask = MASK_STATE | MASK_AV | MASK_PATH_MTU | MASK_DEST_QPN | MASK_RQ_PSN;
		struct ib_uverbs_qp_attr attr;

		rig.id.qp_type = rows[i].type;
		attr = attr_for(QPS_RTR);
		if (rows[i].reads)
			mask |= MASK_MAX_DEST_RD_ATOMIC | MASK_MIN_RNR_TIMER;
		assert_int_equal(attr.qp_attr_mask, mask);
		assert_int_equal(attr.max_dest_rd_atomic, rows[i].reads ? 5 : 0);
		assert_int_equal(attr.ah_attr.dlid, 0x4321);
		assert_int_equal(attr.path_mtu, 4);
		assert_int_equal(attr.dest_qp_num, 0x1234);
		assert_int_equal(attr.rq_psn, 0x111);
	}
}

static void rts_is_of_the_connection(void **state)
{
	enum { ASKS = MASK_RETRY_CNT | MASK_RNR_RETRY | MASK_MAX_RD_ATOMIC };
	static const struct {
		uint8_t type;
		uint32_t mask;
	} rows[] = { { IB_UVERBS_QPT_RC, ASKS | MASK_TIMEOUT },
		     { IB_UVERBS_QPT_UC, 0 },
		     { IB_UVERBS_QPT_XRC_INI, ASKS | MASK_TIMEOUT },
		     { IB_UVERBS_QPT_XRC_TGT, MASK_TIMEOUT } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct ib_uverbs_qp_attr attr;
		const bool asks = rows[i].mask & MASK_RETRY_CNT;

		rig.id.qp_type = rows[i].type;
		attr = attr_for(QPS_RTS);
		assert_int_equal(attr.qp_attr_mask, MASK_STATE | MASK_SQ_PSN | rows[i].mask);
		assert_int_equal(attr.sq_psn, 0x222);
		assert_int_equal(attr.retry_cnt, asks ? 4 : 0);
		assert_int_equal(attr.rnr_retry, asks ? 3 : 0);
		assert_int_equal(attr.max_rd_atomic, asks ? 6 : 0);
		assert_int_equal(attr.timeout, rows[i].mask & MASK_TIMEOUT ? 19 : 0);
	}
}

static void the_programs_timeout_goes_before_the_connections(void **state)
{
	(void)state;
	rig.id.ack_timeout = 7;
	assert_int_equal(attr_for(QPS_RTS).timeout, 19);
	rig.id.has_ack_timeout = true;
	assert_int_equal(attr_for(QPS_RTS).timeout, 7);
}

static void wrong_requests_are_refused(void **state)
{
	(void)state;
	assert_int_equal(ask_attr(0), EINVAL);
	assert_int_equal(ask_attr(4), EINVAL);
	rig.call.hdr.out = sizeof(struct ib_uverbs_qp_attr) - 1;
	assert_int_equal(ask_attr(QPS_INIT), ENOSPC);
	rig.call.hdr.out++;
	assert_int_equal(ask_attr(QPS_INIT), 0);
	rig.call.init_qp_attr.response = 0;
	assert_int_equal(ucma_conn_init_qp_attr(&rig.call), EFAULT);
	rig.call.init_qp_attr.id++;
	assert_int_equal(ucma_conn_init_qp_attr(&rig.call), ENOENT);
	rig.id.has_src = false;
	assert_int_equal(ask_attr(QPS_INIT), EINVAL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, attr_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_datagram_qp_gets_the_common_qkey),
		CASE(before_a_connection_nothing_remote_is_allowed),
		CASE(init_allows_what_was_agreed_on),
		CASE(the_connections_state_allows_init),
		CASE(rtr_and_rts_need_a_known_peer),
		CASE(rtr_is_of_the_connection),
		CASE(rts_is_of_the_connection),
		CASE(the_programs_timeout_goes_before_the_connections),
		CASE(wrong_requests_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
