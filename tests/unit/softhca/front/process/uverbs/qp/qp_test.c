/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - QPs of programs: the context that the device gets for each kind, what a failure gives
 * back, which objects keep a QP of the device, and which queues the holder process learns of.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/qp/qp.c"

enum {
	QPN = 0x345,
	PDN = 5,
	SEND_CQN = 6,
	RECV_CQN = 7,
	SRQN = 8,
	XRCDN = 9,
	UAR = 10,
	OWN = 0x100, /* the driver's objects */
	RING = 0x10000,
	RECORD = 0x20040,
	REFUSED = EDOM
};

static struct {
	struct uverbs_pd pd;
	struct uverbs_cq send, recv;
	struct uverbs_srq srq;
	struct uverbs_xrcd xrcd;
	struct uverbs_uar uar;
	struct call call;
	struct raw_qp raw;
	struct qp_request asked;
	int read_error, check_error, memory_error, raw_error;
	bool has_no_uar;
	struct raw_request raw_request;
	struct eth_ring send_ring, receive_ring;
	unsigned int raws, targets, listed, sources;
	struct epitaph_qp epitaph;
	int epitaphs;
} it;

int qp_request_read(struct uverbs_call *uc, struct qp_request *req)
{
	assert_ptr_equal(uc, &rig.call);
	*req = it.asked;
	return it.read_error;
}

int qp_request_check(struct uverbs_call *uc, const struct qp_request *req)
{
	(void)uc, (void)req;
	return it.check_error;
}

int qp_request_pin_memory(struct uverbs_call *uc, struct qp_request *req)
{
	(void)uc, (void)req;
	return it.memory_error;
}

int qp_dct_prepare(const struct uverbs_call *uc, const struct qp_request *req, struct uverbs_qp *qp)
{
	(void)uc, (void)req;
	qp->real->target = (void *)&it;
	it.targets++;
	return 0;
}

int qp_dct_destroy(struct adapter *adapter, struct real_qp *real)
{
	(void)adapter;
	assert_ptr_equal(real->target, (void *)&it);
	it.targets--;
	return 0;
}

int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **raw)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.raw_request = *request;
	if (request->send)
		it.send_ring = *request->send;
	if (request->receive)
		it.receive_ring = *request->receive;
	*raw = &it.raw;
	it.raws += !it.raw_error;
	return it.raw_error;
}

int raw_qp_destroy(struct adapter *adapter, struct raw_qp *raw)
{
	(void)adapter;
	assert_ptr_equal(raw, &it.raw);
	it.raws -= !it.raw_error;
	return it.raw_error;
}

int mlx4_make_raw_qp(struct adapter *adapter, struct raw_request *request, struct eth_ring *send,
		     struct eth_ring *receive, struct raw_qp **raw)
{
	(void)send, (void)receive;
	return raw_qp_make(adapter, request, raw);
}

void mlx4_grant_qp(struct qp_request *req)
{
	req->cap.max_send_wr = 77;
}

int mlx4_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw)
{
	return qp_spread(uc, table, raw);
}

int qp_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw)
{
	(void)uc, (void)table;
	*raw = &it.raw;
	it.raws++;
	return 0;
}

int driver_objects_get(struct adapter *adapter, struct driver_objects *objects)
{
	assert_ptr_equal(adapter, &rig.adapter);
	*objects = (struct driver_objects){
		.pdn = OWN, .uar = OWN + 1, .cqn = OWN + 2, .srqn = OWN + 3
	};
	return 0;
}

uint32_t xrc_domain_number(const struct xrc_domain *domain)
{
	assert_ptr_equal(domain, (void *)&it);
	return XRCDN;
}

static LIST_HEAD(, real_qp) targets;

void xrc_domain_add_qp(struct xrc_domain *domain, struct real_qp *real)
{
	assert_ptr_equal(domain, (void *)&it);
	LIST_INSERT_HEAD(&targets, real, in_domain);
	it.listed++;
}

void mcast_detach_all(struct uverbs_qp *qp)
{
	assert_non_null(qp);
}

void queue_memory_put(const struct queue_memory *memory, const struct client *client, void *pas)
{
	(void)memory, (void)client, (void)pas;
}

void event_source_add(struct event_source *source)
{
	assert_non_null(source);
	it.sources++;
}

void event_channel_get(struct event_channel *channel)
{
	(void)channel;
}

struct uverbs_uar *uverbs_uar_by_number(const struct uverbs_file *file, uint32_t uar)
{
	assert_ptr_equal(file, &rig.file);
	return uar == UAR && !it.has_no_uar ? &it.uar : NULL;
}

void uc_epitaph_entry(const struct uverbs_call *uc, const struct object *object,
		      struct epitaph_entry *entry)
{
	(void)uc, (void)object, (void)entry;
}

void epitaph_add_qp(struct epitaph *epitaph, const struct epitaph_qp *qp,
		    const struct epitaph_place *send_cq, const struct epitaph_place *recv_cq,
		    struct epitaph_place *at)
{
	(void)epitaph, (void)at;
	assert_ptr_equal(send_cq, &it.send.epitaph);
	assert_non_null(recv_cq);
	it.epitaph = *qp;
	it.epitaphs++;
}

void epitaph_remove_qp(struct epitaph_place *at)
{
	(void)at;
}

static void ask_for(uint32_t type)
{
	it.asked = (struct qp_request){ .type = type, .user_handle = 0xfeed, .log_block = 6 };
	it.asked.driver = (struct mlx5_ib_create_qp){ .buf_addr = RING,
						      .db_addr = RECORD,
						      .sq_wqe_count = 16,
						      .rq_wqe_count = 8,
						      .rq_wqe_shift = 5,
						      .uidx = 0x77,
						      .bfreg_index = UAR };
}

static int qp_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	LIST_INIT(&targets);
	rig.number = QPN;
	rig.call.call = &it.call;
	it.pd.pdn = PDN;
	it.send = (struct uverbs_cq){ .cqn = SEND_CQN, .cqe_size = 64 };
	it.recv = (struct uverbs_cq){ .cqn = RECV_CQN, .cqe_size = 128 };
	it.srq = (struct uverbs_srq){ .srqn = SRQN, .type = IB_UVERBS_SRQT_BASIC };
	it.xrcd.domain = (void *)&it;
	it.raw = (struct raw_qp){ .has_sq = true, .sqn = QPN };
	rig_in_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, &it.pd.base);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, &it.send.base);
	rig_in_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, &it.recv.base);
	ask_for(IB_UVERBS_QPT_RC);
	return 0;
}

static unsigned int users(void)
{
	return it.pd.base.users + it.send.base.users + it.recv.base.users + it.srq.base.users +
	       it.xrcd.base.users;
}

static int qp_end_all(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(users() + it.raws + it.targets, 0);
	return ret;
}

static struct uverbs_qp *qp_made(void)
{
	uint32_t handle;

	assert_int_equal(qp_create(&rig.call), 0);
	memcpy(&handle, rig_out(UVERBS_ATTR_CREATE_QP_HANDLE, sizeof(handle)), sizeof(handle));
	return (struct uverbs_qp *)rig.objects[handle];
}

static void expect_refused(int error)
{
	assert_int_equal(qp_create(&rig.call), error);
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(users(), 0);
}

static const uint8_t *context(void)
{
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_QP);
	return fld_at(rig.command, CREATE_QP_IN_QPC);
}

static void a_connected_qp_has_both_rings(void **state)
{
	const struct uverbs_qp *qp = qp_made();
	const uint8_t *qpc = context();

	(void)state;
	assert_int_equal(fld_get(qpc, QPC_ST), PRM_QP_ST_RC);
	assert_int_equal(fld_get(qpc, QPC_PD), PDN);
	assert_int_equal(fld_get(qpc, QPC_CQN_SND), SEND_CQN);
	assert_int_equal(fld_get(qpc, QPC_CQN_RCV), RECV_CQN);
	assert_int_equal(fld_get(qpc, QPC_USER_INDEX), 0x77);
	assert_int_equal(fld_get(qpc, QPC_UAR_PAGE), UAR);
	assert_int_equal(fld_get(qpc, QPC_LOG_SQ_SIZE), 4);
	assert_int_equal(fld_get(qpc, QPC_NO_SQ), 0);
	assert_int_equal(fld_get(qpc, QPC_RQ_TYPE), PRM_RQ_TYPE_RQ);
	assert_int_equal(fld_get(qpc, QPC_LOG_RQ_SIZE), 3);
	assert_int_equal(fld_get(qpc, QPC_LOG_RQ_STRIDE), 1);
	assert_true(fld_get(qpc, QPC_DBR_ADDR) == client_bus_addr(&rig.client, RECORD));
	assert_int_equal(fld_get(qpc, QPC_CS_RES) + fld_get(qpc, QPC_CS_REQ), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4), QPN);
	assert_true(qp->rq_sges == 2 && qp->rq_wqe_count == 8);
	assert_true(qp->events.kind == SOURCE_QP && qp->events.user_handle == 0xfeed);
	assert_int_equal(users(), 3);
}

static void a_side_without_a_ring_is_told(void **state)
{
	(void)state;
	it.asked.driver.sq_wqe_count = it.asked.driver.rq_wqe_count = 0;
	qp_made();
	assert_int_equal(fld_get(context(), QPC_NO_SQ), 1);
	assert_int_equal(fld_get(context(), QPC_OFFLOAD_TYPE), 0);
	assert_int_equal(fld_get(context(), QPC_RQ_TYPE), PRM_RQ_TYPE_ZERO_SIZE);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, &it.srq.base);
	it.srq.type = IB_UVERBS_SRQT_TM;
	qp_made();
	assert_int_equal(fld_get(context(), QPC_OFFLOAD_TYPE), PRM_QPC_OFFLOAD_TYPE_RNDV);
	assert_int_equal(fld_get(context(), QPC_RQ_TYPE), PRM_RQ_TYPE_SRQ);
	assert_int_equal(fld_get(context(), QPC_SRQN_RMPN_XRQN), SRQN);
}

static void small_payloads_fit_the_cqes(void **state)
{
	static const struct {
		uint32_t type, flags;
		bool signals;
		unsigned int res, req;
	} rows[] = {
		{ IB_UVERBS_QPT_RC, 0, false, PRM_CS_RES_64B, 0 },
		{ IB_UVERBS_QPT_RC, 0, true, PRM_CS_RES_64B, PRM_CS_REQ_32B },
		{ IB_UVERBS_QPT_RC, MLX5_QP_FLAG_ALLOW_SCATTER_CQE, false, PRM_CS_RES_64B,
		  PRM_CS_REQ_32B },
		{ IB_UVERBS_QPT_UC, 0, true, PRM_CS_RES_64B, 0 },
		{ IB_UVERBS_QPT_UD, 0, true, 0, 0 },
		{ QP_TYPE_DCI, 0, true, 0, PRM_CS_REQ_32B },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		ask_for(rows[i].type);
		it.asked.driver.flags = rows[i].flags | MLX5_QP_FLAG_SCATTER_CQE;
		it.asked.flags = rows[i].signals ? IB_UVERBS_QP_CREATE_SQ_SIG_ALL : 0;
		qp_made();
		assert_int_equal(fld_get(context(), QPC_CS_RES), rows[i].res);
		assert_int_equal(fld_get(context(), QPC_CS_REQ), rows[i].req);
	}
}

static void what_xrc_lacks_is_the_drivers(void **state)
{
	const uint8_t *qpc;

	(void)state;
	ask_for(IB_UVERBS_QPT_XRC_INI);
	assert_null(qp_made()->recv_cq);
	qpc = context();
	assert_int_equal(fld_get(qpc, QPC_CQN_SND), SEND_CQN);
	assert_int_equal(fld_get(qpc, QPC_CQN_RCV), OWN + 2);
	assert_int_equal(fld_get(qpc, QPC_SRQN_RMPN_XRQN), OWN + 3);
	ask_for(IB_UVERBS_QPT_XRC_TGT);
	rig_in_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, NULL);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, NULL);
	rig_in_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, NULL);
	rig_in_object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &it.xrcd.base);
	qp_made();
	qpc = context();
	assert_int_equal(fld_get(qpc, QPC_PD), OWN);
	assert_int_equal(fld_get(qpc, QPC_CQN_SND), OWN + 2);
	assert_int_equal(fld_get(qpc, QPC_UAR_PAGE), OWN + 1);
	assert_int_equal(fld_get(qpc, QPC_XRCD), XRCDN);
	assert_int_equal(it.listed, 1);
	assert_int_equal(it.epitaphs, 1); /* a target has no queues */
}

static void the_last_handle_destroys_a_target(void **state)
{
	struct uverbs_qp *first, *second;

	(void)state;
	ask_for(IB_UVERBS_QPT_XRC_TGT);
	rig_in_object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &it.xrcd.base);
	first = qp_made();
	assert_int_equal(qp_reopen(&rig.call, &it.xrcd, first->real, 0xbeef, &second), 0);
	assert_true(second->real == first->real && second->events.number == QPN);
	assert_true(second->events.user_handle == 0xbeef && it.sources == 1);
	assert_int_equal(it.xrcd.base.users, 2);
	assert_int_equal(object_destroy(&first->base, 0), 0);
	assert_int_equal(rig.released, 0);
	assert_false(LIST_EMPTY(&targets));
	assert_int_equal(object_destroy(&second->base, 0), 0);
	assert_int_equal(rig.released, 2); /* to RESET, and destroyed */
	assert_int_equal(rig.last_released, QPN);
	assert_true(LIST_EMPTY(&targets));
}

static void a_raw_qp_has_rings_apart(void **state)
{
	(void)state;
	ask_for(IB_UVERBS_QPT_RAW_PACKET);
	it.asked.driver.sq_buf_addr = 2 * RING;
	qp_made();
	assert_int_equal(rig.commands, 0);
	assert_true(it.send_ring.buffer == 2 * RING && it.receive_ring.buffer == RING);
	assert_true(it.send_ring.cqn == SEND_CQN && it.receive_ring.cqn == RECV_CQN);
	assert_true(it.send_ring.log_size == 4 && it.send_ring.log_stride == 6);
	assert_true(it.receive_ring.log_size == 3 && it.receive_ring.log_stride == 5);
	assert_true(it.send_ring.pdn == PDN && it.send_ring.record == RECORD);
	assert_true(it.epitaph.by_index && it.epitaph.sq == 2 * RING);
	it.asked.driver.sq_wqe_count = 0;
	qp_made();
	assert_null(it.raw_request.send);
	it.asked.driver.rq_wqe_count = 0;
	assert_int_equal(qp_create(&rig.call), EINVAL);
	it.asked.driver.rq_wqe_count = 8;
	it.raw_error = REFUSED;
	assert_int_equal(qp_create(&rig.call), REFUSED);
	it.raw_error = 0;
	assert_int_equal(it.raws, 2);
}

static void a_target_of_dc_waits(void **state)
{
	(void)state;
	ask_for(QP_TYPE_DCT);
	it.has_no_uar = true;
	qp_made();
	assert_int_equal(it.targets, 1);
	assert_int_equal(rig.commands + (unsigned int)it.epitaphs, 0);
}

static void timestamps_agree(void **state)
{
	(void)state;
	it.send.real_time = true;
	expect_refused(EOPNOTSUPP);
	it.recv.real_time = true;
	expect_refused(EOPNOTSUPP);
	rig.adapter.link_layer = HCA_LINK_ETHERNET;
	fld_set(rig.adapter.caps, HCA_CAP_SQ_TS_FORMAT, PRM_TS_CAP_BOTH);
	fld_set(rig.adapter.caps, HCA_CAP_RQ_TS_FORMAT, PRM_TS_CAP_BOTH);
	qp_made();
	assert_int_equal(fld_get(context(), QPC_TS_FORMAT), PRM_TS_REAL_TIME);
}

static void a_qp_that_fails_leaves_nothing(void **state)
{
	static const uint16_t answers[] = { UVERBS_ATTR_CREATE_QP_RESP_CAP,
					    UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
					    UVERBS_ATTR_UHW_OUT };
	int *const errors[] = { &it.read_error, &it.check_error, &it.memory_error,
				&rig.command_error };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		*errors[i] = REFUSED;
		expect_refused(REFUSED);
		*errors[i] = 0;
	}
	it.has_no_uar = true;
	expect_refused(EINVAL);
	it.has_no_uar = false;
	for (unsigned int i = 0; i < ARRAY_SIZE(answers); i++) {
		rig.out_refused = answers[i];
		expect_refused(EFAULT);
		assert_int_equal(rig.released, 2 * (i + 1));
	}
}

static void the_holder_finds_both_rings(void **state)
{
	(void)state;
	qp_made();
	assert_true(it.epitaph.sq == RING + (8 << 5) && it.epitaph.dbrec == RECORD);
	assert_true(it.epitaph.qpn == QPN && it.epitaph.user_index == 0x77);
	assert_true(it.epitaph.sq_blocks == 16 && it.epitaph.rq_wqes == 8);
	assert_false(it.epitaph.by_index);
	rig.identity.kind = HCA_MLX4;
	qp_made();
	assert_int_equal(it.epitaphs, 1); /* it cannot write CQEs of mlx4 */
}

static void a_destroyed_qp_tells_its_events(void **state)
{
	struct uverbs_qp *qp = qp_made();
	struct ib_uverbs_destroy_qp cmd = { .qp_handle = qp->base.handle + 1 };

	(void)state;
	qp->events.async_read = 6;
	qp->groups.lh_first = (void *)&it;
	rig_in_object(UVERBS_ATTR_DESTROY_QP_HANDLE, &qp->base);
	assert_int_equal(qp_remove(&rig.call), EBUSY);
	LIST_INIT(&qp->groups);
	rig.command_error = REFUSED;
	assert_int_equal(qp_remove(&rig.call), REFUSED);
	rig.command_error = 0;
	assert_int_equal(users(), 3);
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(qp_remove_write(&rig.call), ENOENT);
	cmd.qp_handle--;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(qp_remove_write(&rig.call), 0);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_CORE_OUT, 4), 6);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, qp_begin, qp_end_all)
	const struct CMUnitTest tests[] = {
		CASE(a_connected_qp_has_both_rings),
		CASE(a_side_without_a_ring_is_told),
		CASE(small_payloads_fit_the_cqes),
		CASE(what_xrc_lacks_is_the_drivers),
		CASE(the_last_handle_destroys_a_target),
		CASE(a_raw_qp_has_rings_apart),
		CASE(a_target_of_dc_waits),
		CASE(timestamps_agree),
		CASE(a_qp_that_fails_leaves_nothing),
		CASE(the_holder_finds_both_rings),
		CASE(a_destroyed_qp_tells_its_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
