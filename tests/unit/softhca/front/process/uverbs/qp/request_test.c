/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * request_test.c - which requests to create a QP are refused, and with which error; which memory a
 * request pins.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/qp/request.c"

static struct object pd, cq, table;
static struct uverbs_srq srq;
static struct qp_request req;
static bool is_privileged;

bool client_may(pid_t tid, unsigned int capability)
{
	(void)tid;
	return is_privileged && capability == CLIENT_CAP_NET_RAW;
}

/* The rig has no such call: attributes with an object, and those that a test set. */
struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id)
{
	static struct ib_uverbs_attr attr;

	if (uc_object(uc, id))
		return &attr;
	for (unsigned int i = 0; i < RIG_ATTRS; i++) {
		if (rig.in[i].is_set && rig.in[i].id == id && rig.in[i].len)
			return &attr;
	}
	return NULL;
}

int mlx4_read_qp(struct uverbs_call *uc, struct qp_request *request)
{
	(void)uc;
	request->log_block = 7;
	return EDOM;
}

int queue_memory_describe(uint64_t addr, uint64_t len, unsigned int offsets,
			  struct queue_memory *memory)
{
	(void)len, (void)offsets;
	memory->page_offset = 5;
	return addr == 1 ? EINVAL : 0;
}

static void cap(uint32_t field, uint32_t value)
{
	fld_set(rig.adapter.caps, field, value);
}

static int request_begin(void **state)
{
	rig_begin(state);
	is_privileged = false;
	srq = (struct uverbs_srq){ .type = IB_UVERBS_SRQT_BASIC };
	cap(HCA_CAP_LOG_MAX_QP_SZ, 10);
	rig_in_object(UVERBS_ATTR_CREATE_QP_PD_HANDLE, &pd);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, &cq);
	rig_in_object(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, &cq);
	req = (struct qp_request){ .type = IB_UVERBS_QPT_RC, .log_block = 6 };
	req.driver = (struct mlx5_ib_create_qp){ .flags = MLX5_QP_FLAG_UAR_PAGE_INDEX,
						 .sq_wqe_count = 16,
						 .rq_wqe_count = 8,
						 .rq_wqe_shift = 5 };
	return 0;
}

static int check_as(uint32_t type)
{
	req.type = type;
	return qp_request_check(&rig.call, &req);
}

static void leave_out(uint16_t id)
{
	rig_in_object(id, NULL);
}

static void types_need_their_features(void **state)
{
	(void)state;
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_UC), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), 0);
	assert_int_equal(check_as(0), EINVAL);
	assert_int_equal(check_as(77), EINVAL);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_INI), EOPNOTSUPP);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), EOPNOTSUPP);
	assert_int_equal(check_as(QP_TYPE_DCI), EOPNOTSUPP);
	assert_int_equal(check_as(IB_UVERBS_QPT_DRIVER), EOPNOTSUPP);
	cap(HCA_CAP_DCT, 1);
	assert_int_equal(check_as(IB_UVERBS_QPT_DRIVER), EINVAL); /* neither DCI nor DCT */
}

static void raw_packets_are_for_the_privileged(void **state)
{
	(void)state;
	cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), EPERM);
	is_privileged = true;
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), 0);
	cap(HCA_CAP_ETH_NET_OFFLOADS, 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), EOPNOTSUPP);
}

static void an_initiator_of_dc_receives_nothing(void **state)
{
	(void)state;
	cap(HCA_CAP_DCT, 1);
	req.driver.rq_wqe_count = 0;
	assert_int_equal(check_as(QP_TYPE_DCI), 0);
	req.cap.max_recv_wr = 1;
	assert_int_equal(check_as(QP_TYPE_DCI), EINVAL);
	req.cap.max_recv_wr = 0;
	req.cap.max_recv_sge = 1;
	assert_int_equal(check_as(QP_TYPE_DCI), EINVAL);
	req.cap.max_recv_sge = 0;
	req.driver.rq_wqe_count = 8;
	assert_int_equal(check_as(QP_TYPE_DCI), EINVAL);
	req.driver.rq_wqe_count = 0;
	req.driver.flags |= MLX5_QP_FLAG_DCI_STREAM;
	assert_int_equal(check_as(QP_TYPE_DCI), EINVAL);
	cap(HCA_CAP_LOG_MAX_DCI_STREAM_CHANNELS, 1);
	assert_int_equal(check_as(QP_TYPE_DCI), 0);
}

static void a_target_of_dc_receives_through_an_srq(void **state)
{
	(void)state;
	cap(HCA_CAP_DCT, 1);
	req.driver.flags = MLX5_QP_FLAG_TYPE_DCT;
	assert_int_equal(check_as(QP_TYPE_DCT), EINVAL);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, (struct object *)&srq);
	assert_int_equal(check_as(QP_TYPE_DCT), 0); /* without queues and a UAR of its own */
	req.flags = IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	assert_int_equal(check_as(QP_TYPE_DCT), 0);
	req.flags = IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	assert_int_equal(check_as(QP_TYPE_DCT), EINVAL);
}

static void a_qp_needs_its_objects(void **state)
{
	static const struct {
		uint16_t id;
		int of_rc, of_xrc;
	} rows[] = { { UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, ENOENT, 0 },
		     { UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, ENOENT, ENOENT },
		     { UVERBS_ATTR_CREATE_QP_PD_HANDLE, ENOENT, ENOENT } };

	(void)state;
	cap(HCA_CAP_XRC, 1);
	req.driver.rq_wqe_count = 0;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		leave_out(rows[i].id);
		assert_int_equal(check_as(IB_UVERBS_QPT_RC), rows[i].of_rc);
		assert_int_equal(check_as(IB_UVERBS_QPT_XRC_INI), rows[i].of_xrc);
	}
}

static void an_srq_is_of_the_right_kind(void **state)
{
	(void)state;
	cap(HCA_CAP_XRC, 1);
	req.driver.rq_wqe_count = 0;
	rig_in_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, (struct object *)&srq);
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_INI), EINVAL);
	req.driver.rq_wqe_count = 8; /* it has no queue of its own */
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
	req.driver.rq_wqe_count = 0;
	srq.type = IB_UVERBS_SRQT_XRC;
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
}

static void a_target_of_xrc_names_its_domain_only(void **state)
{
	(void)state;
	cap(HCA_CAP_XRC, 1);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), EINVAL);
	leave_out(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), EINVAL);
	leave_out(UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), EINVAL);
	leave_out(UVERBS_ATTR_CREATE_QP_PD_HANDLE);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), ENOENT);
	rig_in_object(UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, &table);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, (struct object *)&srq);
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), EINVAL);
	srq.type = IB_UVERBS_SRQT_XRC;
	assert_int_equal(check_as(IB_UVERBS_QPT_XRC_TGT), 0);
}

static void a_qp_of_a_table_has_no_queue_itself(void **state)
{
	(void)state;
	cap(HCA_CAP_ETH_NET_OFFLOADS, 1);
	is_privileged = true;
	rig_in_object(UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, &table);
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), EINVAL); /* a CQ for receives */
	leave_out(UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE);
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), EINVAL);
	req.cap.max_recv_sge = 1;
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), EINVAL);
	req.cap = (struct ib_uverbs_qp_cap){ .max_send_wr = 1 };
	assert_int_equal(check_as(IB_UVERBS_QPT_RAW_PACKET), EOPNOTSUPP);
}

static void flags_need_their_features(void **state)
{
	(void)state;
	req.flags = 1u << 31;
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), EINVAL);
	req.flags = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), EOPNOTSUPP);
	cap(HCA_CAP_BLOCK_LB_MC, 1);
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), 0);
	req.flags = IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING;
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), EOPNOTSUPP);
	cap(HCA_CAP_END_PAD, 1);
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), 0);
	req.flags = IB_UVERBS_QP_CREATE_SCATTER_FCS;
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), EINVAL);
	req.flags = 0;
	req.is_underlay = true;
	assert_int_equal(check_as(IB_UVERBS_QPT_UD), 0);
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EOPNOTSUPP);
}

static void sizes_are_powers_of_two_within_the_limits(void **state)
{
	static const struct {
		uint32_t sends, receives, shift;
		int want;
	} rows[] = { { 0, 0, 0, 0 },         { 1024, 1024, 11, 0 }, { 3, 0, 0, EINVAL },
		     { 2048, 0, 0, EINVAL }, { 0, 3, 5, EINVAL },   { 0, 2048, 5, EINVAL },
		     { 0, 8, 3, EINVAL },    { 0, 8, 4, 0 },        { 0, 8, 12, EINVAL } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		req.driver.sq_wqe_count = rows[i].sends;
		req.driver.rq_wqe_count = rows[i].receives;
		req.driver.rq_wqe_shift = rows[i].shift;
		assert_int_equal(check_as(IB_UVERBS_QPT_RC), rows[i].want);
	}
	req.driver.flags = 0; /* a UAR of the kernel's choice */
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
	req.driver.flags = MLX5_QP_FLAG_UAR_PAGE_INDEX | MLX5_QP_FLAG_TYPE_DCI;
	assert_int_equal(check_as(IB_UVERBS_QPT_RC), EINVAL);
}

static void a_driver_type_is_read_from_its_flags(void **state)
{
	static const struct {
		uint32_t flags, want;
	} rows[] = { { MLX5_QP_FLAG_TYPE_DCI, QP_TYPE_DCI },
		     { MLX5_QP_FLAG_TYPE_DCT, QP_TYPE_DCT },
		     { 0, IB_UVERBS_QPT_DRIVER },
		     { TYPE_FLAGS, IB_UVERBS_QPT_DRIVER } };
	uint32_t type = IB_UVERBS_QPT_DRIVER;

	(void)state;
	rig_in(UVERBS_ATTR_CREATE_QP_TYPE, &type, sizeof(type));
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct mlx5_ib_create_qp driver = { .flags = rows[i].flags, .uidx = 9 };

		rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
		assert_int_equal(qp_request_read(&rig.call, &req), 0);
		assert_int_equal(req.type, rows[i].want);
		assert_int_equal(req.driver.uidx, 9);
		assert_int_equal(req.log_block, 6);
		assert_false(req.is_underlay);
	}
	rig.identity.kind = HCA_MLX4;
	assert_int_equal(qp_request_read(&rig.call, &req), EDOM);
}

static void a_target_of_xrc_has_a_user_index_only(void **state)
{
	struct mlx5_ib_create_qp driver = { .flags = 1, .uidx = 9, .sq_wqe_count = 4 };
	uint32_t type = IB_UVERBS_QPT_XRC_TGT, source = 0x77;

	(void)state;
	rig_in(UVERBS_ATTR_CREATE_QP_TYPE, &type, sizeof(type));
	rig_in(UVERBS_ATTR_CREATE_QP_SOURCE_QPN, &source, sizeof(source));
	rig_in(UVERBS_ATTR_UHW_IN, &driver, sizeof(driver));
	assert_int_equal(qp_request_read(&rig.call, &req), 0);
	assert_true(req.is_underlay);
	assert_int_equal(req.source_qpn, 0x77);
	assert_int_equal(req.driver.uidx, 9);
	assert_int_equal(req.driver.flags | req.driver.sq_wqe_count, 0);
}

static void check_pins(uint32_t type, unsigned int count, const uint64_t pins[][2])
{
	rig.pinned = 0;
	req.type = type;
	assert_int_equal(qp_request_pin_memory(&rig.call, &req), 0);
	assert_int_equal(rig.pinned, count);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(rig.pins[i].addr, pins[i][0]);
		assert_int_equal(rig.pins[i].len, pins[i][1]);
		assert_true(rig.pins[i].writable);
	}
}

static void rings_and_record_are_pinned(void **state)
{
	static const uint64_t together[][2] = { { 0x100, 8 }, { 0x1000, 8 * 32 + 16 * 64 } };
	static const uint64_t apart[][2] = { { 0x100, 8 },
					     { 0x2000, 16 * 64 },
					     { 0x1000, 8 * 32 } };

	(void)state;
	req.driver.db_addr = 0x100;
	req.driver.buf_addr = 0x1000;
	req.driver.sq_buf_addr = 0x2000;
	check_pins(IB_UVERBS_QPT_RC, 2, together);
	assert_int_equal(req.memory.page_offset, 5);
	check_pins(IB_UVERBS_QPT_RAW_PACKET, 3, apart);
	check_pins(QP_TYPE_DCT, 0, NULL);
	req.driver.sq_wqe_count = req.driver.rq_wqe_count = 0;
	check_pins(IB_UVERBS_QPT_RC, 1, together);
	check_pins(IB_UVERBS_QPT_RAW_PACKET, 1, together);
	check_pins(IB_UVERBS_QPT_XRC_TGT, 0, NULL);
	req.type = IB_UVERBS_QPT_RC;
	rig.pin_error = EFAULT;
	assert_int_equal(qp_request_pin_memory(&rig.call, &req), EFAULT);
}

static void rings_of_mlx4_are_in_one_buffer(void **state)
{
	static const uint64_t frames[][2] = { { 0x100, 4 }, { 0x1000, 8 * 32 + 16 * 128 } };

	(void)state;
	rig.identity.kind = HCA_MLX4;
	req.log_block = 7;
	req.driver.db_addr = 0x100;
	req.driver.buf_addr = 0x1000;
	req.driver.sq_buf_addr = 0x2000;
	check_pins(IB_UVERBS_QPT_RAW_PACKET, 2, frames);
	req.driver.rq_wqe_count = req.driver.sq_wqe_count = 0;
	check_pins(IB_UVERBS_QPT_RAW_PACKET, 0, NULL); /* no record without receives */
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, request_begin, rig_end)
	const struct CMUnitTest tests[] = {
		TEST(types_need_their_features),
		TEST(raw_packets_are_for_the_privileged),
		TEST(an_initiator_of_dc_receives_nothing),
		TEST(a_target_of_dc_receives_through_an_srq),
		TEST(a_qp_needs_its_objects),
		TEST(an_srq_is_of_the_right_kind),
		TEST(a_target_of_xrc_names_its_domain_only),
		TEST(a_qp_of_a_table_has_no_queue_itself),
		TEST(flags_need_their_features),
		TEST(sizes_are_powers_of_two_within_the_limits),
		TEST(a_driver_type_is_read_from_its_flags),
		TEST(a_target_of_xrc_has_a_user_index_only),
		TEST(rings_and_record_are_pinned),
		TEST(rings_of_mlx4_are_in_one_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
