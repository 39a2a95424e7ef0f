/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_test.c - shared receive queues: requests that are refused, the context that the device gets
 * for each kind, limits, and what is given back after a failure.
 *
 * Covers: softhca/front/process/uverbs/srq.c, softhca/front/process/uverbs/publish.c
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/srq.c"

enum {
	SRQN = 0x345,
	PDN = 5,
	CQN = 6,
	XRCDN = 7,
	RING = 0x10000,
	RECORD = 0x20040,
	MOST_LOG = 10,
	MOST_SGE = 31,
	MOST_TAGS_LOG = 6,
	REFUSED = EDOM
};

static struct {
	struct uverbs_pd pd;
	struct uverbs_cq cq;
	struct uverbs_xrcd xrcd;
	struct ib_uverbs_attr tags;
	bool has_tags, has_tail;
	struct mlx5_ib_create_srq mlx4;
} it;

struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(id, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS);
	return it.has_tags ? &it.tags : NULL;
}

bool uc_has_tail(struct uverbs_call *uc, uint16_t id, size_t known)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(id, UVERBS_ATTR_UHW_IN);
	assert_int_equal(known, sizeof(struct mlx5_ib_create_srq));
	return it.has_tail;
}

uint32_t xrc_domain_number(const struct xrc_domain *domain)
{
	assert_ptr_equal(domain, (void *)&it);
	return XRCDN;
}

int mlx4_read_srq(struct uverbs_call *uc, struct mlx5_ib_create_srq *driver)
{
	assert_ptr_equal(uc, &rig.call);
	*driver = it.mlx4;
	return 0;
}

static int srq_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.number = SRQN;
	rig.client.slot = 3;
	it.pd.pdn = PDN;
	it.cq.cqn = CQN;
	it.xrcd.domain = (void *)&it;
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_SRQ, 8);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_SRQ_SZ, MOST_LOG);
	fld_set(rig.adapter.caps, HCA_CAP_MAX_WQE_SZ_RQ, MOST_SGE * 16);
	fld_set(rig.adapter.caps, HCA_CAP_TAG_MATCHING, 1);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_TAG_MATCHING_LIST_SZ, MOST_TAGS_LOG);
	rig_in_object(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, &it.pd.base);
	return 0;
}

static int srq_end(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(it.pd.base.users + it.cq.base.users + it.xrcd.base.users, 0);
	return ret;
}

struct asked {
	uint32_t type, max_wr, max_sge, tags;
	struct mlx5_ib_create_srq driver;
	bool is_short; /* a program that knows no user index */
};

static struct asked usual_srq(uint32_t type)
{
	return (struct asked){ .type = type,
			       .max_wr = 15,
			       .max_sge = 2,
			       .tags = 20,
			       .driver = { .buf_addr = RING, .db_addr = RECORD, .uidx = 0x77 } };
}

static void have_objects(void)
{
	it.has_tags = true;
	rig_in_object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, &it.cq.base);
	rig_in_object(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, &it.xrcd.base);
}

static int asked_create(struct asked asked)
{
	const uint64_t user = 0xfeed, type = asked.type;

	rig_in(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, &user, sizeof(user));
	rig_in(UVERBS_ATTR_CREATE_SRQ_TYPE, &type, sizeof(type));
	rig_in(UVERBS_ATTR_CREATE_SRQ_MAX_WR, &asked.max_wr, sizeof(asked.max_wr));
	rig_in(UVERBS_ATTR_CREATE_SRQ_MAX_SGE, &asked.max_sge, sizeof(asked.max_sge));
	rig_in(UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS, &asked.tags, sizeof(asked.tags));
	rig_in(UVERBS_ATTR_UHW_IN, &asked.driver,
	       asked.is_short ? offsetof(struct mlx5_ib_create_srq, uidx) : sizeof(asked.driver));
	return srq_create(&rig.call);
}

static struct uverbs_srq *srq_made(struct asked asked)
{
	uint32_t handle;

	assert_int_equal(asked_create(asked), 0);
	memcpy(&handle, rig_out(UVERBS_ATTR_CREATE_SRQ_HANDLE, sizeof(handle)), sizeof(handle));
	return (struct uverbs_srq *)rig.objects[handle];
}

static void expect_refused(struct asked asked, int error)
{
	assert_int_equal(asked_create(asked), error);
	assert_int_equal(rig.commands, 0);
	assert_int_equal(rig.made, rig.freed);
}

static uint32_t out32(uint16_t id)
{
	return *(const uint32_t *)rig_out(id, sizeof(uint32_t));
}

static void check_wq(const uint8_t *wq)
{
	assert_int_equal(fld_get(wq, WQ_LOG_WQ_SZ), 4);
	assert_int_equal(fld_get(wq, WQ_LOG_WQ_STRIDE), 6);
	assert_int_equal(fld_get(wq, WQ_LOG_WQ_PG_SZ), 0);
	assert_int_equal(fld_get(wq, WQ_PAGE_OFFSET), 0);
	assert_int_equal(fld_get(wq, WQ_WQ_SIGNATURE), 0);
	assert_int_equal(fld_get(wq, WQ_PD), PDN);
	assert_true(fld_get(wq, WQ_DBR_ADDR) == client_bus_addr(&rig.client, RECORD));
}

static void check_page(uint32_t pas)
{
	assert_true(fld_get64(fld_at(rig.command, pas), 0) == client_bus_addr(&rig.client, RING));
	assert_true(fld_get64(fld_at(rig.command, pas), 8) == 0);
}

static void a_basic_srq_is_an_rmp(void **state)
{
	struct uverbs_srq *srq = srq_made(usual_srq(IB_UVERBS_SRQT_BASIC));
	const uint8_t *context = fld_at(rig.command, CREATE_RMP_IN_CTX);
	const struct mlx5_ib_create_srq_resp *resp;

	(void)state;
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_RMP);
	assert_int_equal(fld_get(context, RMPC_STATE), PRM_RMPC_STATE_RDY);
	check_wq(fld_at(context, RMPC_WQ));
	check_page(CREATE_SRQ_IN_PAS);
	assert_int_equal(rig.pinned, 2);
	assert_true(rig.pins[0].addr == RING && rig.pins[0].len == 16 * 64);
	assert_true(rig.pins[0].writable);
	assert_true(rig.pins[1].addr == RECORD && rig.pins[1].len == 8);
	assert_int_equal(out32(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR), 15);
	assert_int_equal(out32(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE), 2);
	assert_false(rig_has_out(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM));
	resp = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*resp));
	assert_int_equal(resp->srqn, SRQN);
	assert_true(srq->srqn == SRQN && srq->wqes == 16 && srq->sges == 2);
	assert_true(srq->events.kind == SOURCE_SRQ && srq->events.user_handle == 0xfeed);
	assert_ptr_equal(srq->events.adapter, &rig.adapter);
	assert_true(!srq->cq && !srq->xrcd && it.pd.base.users == 1);
}

static void an_xrc_srq_has_domain_and_cq(void **state)
{
	struct asked asked = usual_srq(IB_UVERBS_SRQT_XRC);
	const uint8_t *context = fld_at(rig.command, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);

	(void)state;
	expect_refused(asked, ENOENT);
	rig_in_object(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, &it.cq.base);
	expect_refused(asked, ENOENT);
	have_objects();
	srq_made(asked);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_XRC_SRQ);
	assert_int_equal(fld_get(context, XRC_SRQC_WQ_SIGNATURE), 0);
	assert_int_equal(fld_get(context, XRC_SRQC_LOG_XRC_SRQ_SIZE), 4);
	assert_int_equal(fld_get(context, XRC_SRQC_LOG_RQ_STRIDE), 2);
	assert_int_equal(fld_get(context, XRC_SRQC_LOG_PAGE_SIZE), 0);
	assert_int_equal(fld_get(context, XRC_SRQC_XRCD), XRCDN);
	assert_int_equal(fld_get(context, XRC_SRQC_CQN), CQN);
	assert_int_equal(fld_get(context, XRC_SRQC_PD), PDN);
	assert_int_equal(fld_get(context, XRC_SRQC_USER_INDEX), 0x77);
	assert_true(fld_get(context, XRC_SRQC_DBR_ADDR) == client_bus_addr(&rig.client, RECORD));
	check_page(CREATE_SRQ_IN_PAS);
	assert_int_equal(out32(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM), SRQN);
	assert_true(it.cq.base.users == 1 && it.xrcd.base.users == 1);
	asked.is_short = true;
	asked.driver.flags = MLX5_SRQ_FLAG_SIGNATURE;
	asked.driver.buf_addr += 32 * 64; /* the last half of a page, which an RMP cannot name */
	srq_made(asked);
	assert_int_equal(fld_get(context, XRC_SRQC_USER_INDEX), PRM_NO_USER_INDEX);
	assert_int_equal(fld_get(context, XRC_SRQC_WQ_SIGNATURE), 1);
	assert_int_equal(fld_get(context, XRC_SRQC_PAGE_OFFSET), 32);
}

static void an_srq_for_tags_is_an_xrq(void **state)
{
	static const struct {
		uint32_t tags, log;
	} rows[] = { { 0, 0 }, { 1, 1 }, { 2, 2 }, { 20, 5 }, { 31, 5 }, { 32, 6 }, { 63, 6 } };
	struct asked asked = usual_srq(IB_UVERBS_SRQT_TM);
	const uint8_t *context = fld_at(rig.command, CREATE_XRQ_IN_XRQ_CONTEXT);

	(void)state;
	expect_refused(asked, ENOENT);
	have_objects();
	it.has_tags = false;
	expect_refused(asked, ENOENT);
	it.has_tags = true;
	asked.tags = 64;
	expect_refused(asked, EINVAL);
	fld_set(rig.adapter.caps, HCA_CAP_TAG_MATCHING, 0);
	expect_refused(asked, EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_TAG_MATCHING, 1);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		asked.tags = rows[i].tags;
		rig.pinned = 0;
		assert_null(srq_made(asked)->xrcd);
		assert_int_equal(fld_get(context, XRQC_LOG_MATCHING_LIST_SZ), rows[i].log);
	}
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_CREATE_XRQ);
	assert_int_equal(fld_get(context, XRQC_TOPOLOGY), PRM_XRQC_TOPOLOGY_TAG_MATCHING);
	assert_int_equal(fld_get(context, XRQC_OFFLOAD), PRM_XRQC_OFFLOAD_RNDV);
	assert_int_equal(fld_get(context, XRQC_CQN), CQN);
	assert_int_equal(fld_get(context, XRQC_USER_INDEX), 0x77);
	check_wq(fld_at(context, XRQC_WQ));
	check_page(CREATE_XRQ_IN_PAS);
	assert_int_equal(it.xrcd.base.users, 0);
}

static void a_ring_fits_what_is_asked_for(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge, log, stride;
	} rows[] = { { 0, 0, 0, 5 }, { 1, 1, 1, 5 }, { 2, 2, 2, 6 },
		     { 3, 3, 2, 6 }, { 4, 4, 3, 7 }, { 1023, MOST_SGE, 10, 9 } };
	struct asked asked = usual_srq(IB_UVERBS_SRQT_BASIC);
	const uint8_t *wq = fld_at(fld_at(rig.command, CREATE_RMP_IN_CTX), RMPC_WQ);

	(void)state;
	asked.max_wr = 1024;
	expect_refused(asked, EINVAL);
	asked.max_wr = 1;
	asked.max_sge = MOST_SGE + 1;
	expect_refused(asked, EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct uverbs_srq *srq;

		asked.max_wr = rows[i].max_wr;
		asked.max_sge = rows[i].max_sge;
		srq = srq_made(asked);
		assert_int_equal(srq->wqes, 1u << rows[i].log);
		assert_int_equal(out32(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR), srq->wqes - 1);
		assert_int_equal(fld_get(wq, WQ_LOG_WQ_SZ), rows[i].log);
		assert_int_equal(fld_get(wq, WQ_LOG_WQ_STRIDE), rows[i].stride);
	}
}

static void what_the_device_lacks_is_refused(void **state)
{
	struct asked asked = usual_srq(IB_UVERBS_SRQT_BASIC);

	(void)state;
	asked.type = IB_UVERBS_SRQT_TM + 1;
	expect_refused(asked, EINVAL);
	asked = usual_srq(IB_UVERBS_SRQT_BASIC);
	asked.driver.reserved0 = 1;
	expect_refused(asked, EINVAL);
	asked.driver.reserved0 = 0;
	asked.driver.reserved1 = 1;
	expect_refused(asked, EINVAL);
	asked.driver.reserved1 = 0;
	it.has_tail = true;
	expect_refused(asked, EINVAL);
	it.has_tail = false;
	asked.driver.buf_addr += 32;
	expect_refused(asked, EINVAL);
	asked.driver.buf_addr = RING + 33 * 64; /* an RMP has 32 offsets */
	expect_refused(asked, EINVAL);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_SRQ, 0);
	expect_refused(usual_srq(IB_UVERBS_SRQT_BASIC), EOPNOTSUPP);
}

static void an_srq_that_fails_leaves_nothing(void **state)
{
	static const uint16_t answers[] = { UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR,
					    UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
					    UVERBS_ATTR_UHW_OUT,
					    UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM };

	(void)state;
	have_objects();
	rig.pin_error = ENOMEM;
	expect_refused(usual_srq(IB_UVERBS_SRQT_BASIC), ENOMEM);
	rig.pin_error = 0;
	rig.command_error = REFUSED;
	assert_int_equal(asked_create(usual_srq(IB_UVERBS_SRQT_XRC)), REFUSED);
	assert_int_equal(it.pd.base.users, 0);
	rig.command_error = 0;
	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		rig.out_refused = answers[i];
		assert_int_equal(asked_create(usual_srq(IB_UVERBS_SRQT_XRC)), EFAULT);
		assert_int_equal(rig.released, i + 1);
		assert_int_equal(rig.last_released, SRQN);
		assert_int_equal(rig.made, rig.freed);
	}
}

static void mlx4_has_a_record_of_4_bytes(void **state)
{
	(void)state;
	rig.identity.kind = HCA_MLX4;
	it.mlx4 = (struct mlx5_ib_create_srq){ .buf_addr = RING, .db_addr = RECORD };
	srq_made(usual_srq(IB_UVERBS_SRQT_BASIC));
	assert_true(rig.pins[1].addr == RECORD && rig.pins[1].len == 4);
}

static void a_destroyed_srq_tells_its_events(void **state)
{
	struct uverbs_srq *srq = srq_made(usual_srq(IB_UVERBS_SRQT_BASIC));
	struct ib_uverbs_destroy_srq cmd;

	(void)state;
	srq->events.async_read = 6;
	srq->base.users = 1;
	rig_in_object(UVERBS_ATTR_DESTROY_SRQ_HANDLE, &srq->base);
	assert_int_equal(srq_remove(&rig.call), EBUSY);
	srq->base.users = 0;
	rig.command_error = REFUSED;
	assert_int_equal(srq_remove(&rig.call), REFUSED);
	rig.command_error = 0;
	assert_int_equal(it.pd.base.users, 1);
	assert_int_equal(srq_remove(&rig.call), 0);
	assert_int_equal(out32(UVERBS_ATTR_DESTROY_SRQ_RESP), 6);
	srq = srq_made(usual_srq(IB_UVERBS_SRQT_BASIC));
	srq->events.async_read = 8;
	cmd.srq_handle = srq->base.handle + 1;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(srq_remove_write(&rig.call), ENOENT);
	cmd.srq_handle--;
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(srq_remove_write(&rig.call), 0);
	assert_int_equal(out32(UVERBS_ATTR_CORE_OUT), 8);
}

static int limit_set(const struct uverbs_srq *srq, uint32_t mask, uint32_t limit)
{
	const struct ib_uverbs_modify_srq cmd = {
		.srq_handle = srq->base.handle, .attr_mask = mask, .max_wr = 1, .srq_limit = limit
	};

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	rig.commands = 0;
	return srq_modify(&rig.call);
}

static void a_limit_is_below_the_size(void **state)
{
	struct uverbs_srq *srq = srq_made(usual_srq(IB_UVERBS_SRQT_BASIC)),
			  none = { .base.handle = 30 };

	(void)state;
	assert_int_equal(limit_set(srq, LIMIT, 16), EINVAL);
	assert_int_equal(limit_set(srq, LIMIT | MAX_WR, 1), EINVAL);
	assert_int_equal(limit_set(srq, 0, 99), 0);
	assert_int_equal(limit_set(&none, LIMIT, 1), ENOENT);
	assert_int_equal(rig.commands, 0);
	assert_int_equal(limit_set(srq, LIMIT, 15), 0);
	assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), PRM_OP_MODIFY_RMP);
	assert_int_equal(fld_get(rig.command, MODIFY_RMP_IN_RMP_STATE), PRM_RMPC_STATE_RDY);
	assert_int_equal(fld_get(rig.command, MODIFY_RMP_IN_RMPN), SRQN);
	assert_int_equal(fld_get(rig.command, MODIFY_RMP_IN_BITMASK_LWM), 1);
	assert_int_equal(fld_get(fld_at(rig.command, MODIFY_RMP_IN_CTX), RMPC_STATE),
			 PRM_RMPC_STATE_RDY);
	assert_int_equal(fld_get(fld_at(fld_at(rig.command, MODIFY_RMP_IN_CTX), RMPC_WQ), WQ_LWM),
			 15);
	rig.command_error = REFUSED;
	assert_int_equal(limit_set(srq, LIMIT, 15), REFUSED);
	rig.command_error = 0;
}

static void other_kinds_are_armed_by_their_numbers(void **state)
{
	(void)state;
	have_objects();
	for (int tm = 0; tm < 2; tm++) {
		struct uverbs_srq *srq =
			srq_made(usual_srq(tm ? IB_UVERBS_SRQT_TM : IB_UVERBS_SRQT_XRC));

		assert_int_equal(limit_set(srq, LIMIT, 3), 0);
		assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE),
				 tm ? PRM_OP_ARM_RQ : PRM_OP_ARM_XRC_SRQ);
		assert_int_equal(fld_get(rig.command, CMD_IN_OP_MOD),
				 tm ? PRM_ARM_RQ_XRQ : PRM_ARM_XRC_SRQ);
		assert_int_equal(fld_get(rig.command, ARM_XRC_SRQ_IN_XRC_SRQN), SRQN);
		assert_int_equal(fld_get(rig.command, ARM_XRC_SRQ_IN_LWM), 3);
	}
}

static void a_query_asks_the_device_for_the_limit(void **state)
{
	static const struct {
		uint32_t type, opcode;
	} rows[] = { { IB_UVERBS_SRQT_BASIC, PRM_OP_QUERY_RMP },
		     { IB_UVERBS_SRQT_XRC, PRM_OP_QUERY_XRC_SRQ },
		     { IB_UVERBS_SRQT_TM, PRM_OP_QUERY_XRQ } };
	const struct ib_uverbs_query_srq_resp *resp;
	struct ib_uverbs_query_srq cmd = { .srq_handle = 30 };

	(void)state;
	have_objects();
	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	assert_int_equal(srq_query(&rig.call), ENOENT);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cmd.srq_handle = srq_made(usual_srq(rows[i].type))->base.handle;
		rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
		assert_int_equal(srq_query(&rig.call), 0);
		assert_int_equal(fld_get(rig.command, CMD_IN_OPCODE), rows[i].opcode);
		assert_int_equal(fld_get(rig.command, QUERY_RMP_IN_RMPN), SRQN);
		resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
		assert_true(resp->max_wr == 15 && resp->max_sge == 2 && resp->srq_limit == 0);
	}
	rig.command_error = REFUSED;
	assert_int_equal(srq_query(&rig.call), REFUSED);
	rig.command_error = 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, srq_begin, srq_end)
	const struct CMUnitTest tests[] = {
		CASE(a_basic_srq_is_an_rmp),
		CASE(an_xrc_srq_has_domain_and_cq),
		CASE(an_srq_for_tags_is_an_xrq),
		CASE(a_ring_fits_what_is_asked_for),
		CASE(what_the_device_lacks_is_refused),
		CASE(an_srq_that_fails_leaves_nothing),
		CASE(mlx4_has_a_record_of_4_bytes),
		CASE(a_destroyed_srq_tells_its_events),
		CASE(a_limit_is_below_the_size),
		CASE(other_kinds_are_armed_by_their_numbers),
		CASE(a_query_asks_the_device_for_the_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
