/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mlx4_test.c - mlx4_ib's part of calls: the context, requests that are translated to mlx5_ib's,
 * sizes of queues, the place of a raw packet QP's rings, and the limits that are reported.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.c"

enum { UAR = 0x44, BUFFER = 0x7000123, RECORD = 0x7001234, NUMBER = 0x40, REFUSED = EDOM };

static struct {
	int allocate_error, reserve_error, make_error;
	unsigned int added, removed, reserved, released;
	struct eth_ring *send, *receive;
	struct raw_request *request;
	struct raw_qp raw;
} it;

static _Alignas(8) uint8_t pages[2 * UAR_PAGE_SIZE];

int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(opcode, PRM_OP_ALLOC_UAR);
	*number = UAR;
	return it.allocate_error;
}

void engine_add_page(struct adapter *adapter, struct uar_page *page)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(page, &rig.file.doorbells);
	assert_ptr_equal(page->page, pages);
	it.added++;
}

void engine_remove_page(struct adapter *adapter, struct uar_page *page)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(page, &rig.file.doorbells);
	it.removed++;
}

int frame_qpns_reserve(struct adapter *adapter, uint32_t count, bool sends, uint32_t *first)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(count, 1);
	assert_true(sends);
	*first = NUMBER;
	it.reserved += !it.reserve_error;
	return it.reserve_error;
}

void frame_qpns_release(struct adapter *adapter, uint32_t first, uint32_t count)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(first, NUMBER);
	assert_int_equal(count, 1);
	it.released++;
}

int raw_qp_make(struct adapter *adapter, const struct raw_request *request, struct raw_qp **raw)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(request, it.request);
	assert_int_equal(request->number, NUMBER);
	assert_int_equal(it.send->number, NUMBER);
	assert_int_equal(it.receive->number, NUMBER);
	*raw = &it.raw;
	return it.make_error;
}

static int mlx4_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.identity.kind = HCA_MLX4;
	rig.file.pages = pages;
	rig.file.doorbells.uar = UAR;
	return 0;
}

static void a_context_has_a_doorbell_and_a_blueflame_page(void **state)
{
	const struct mlx4_ib_alloc_ucontext_resp *resp;
	const uint64_t *support;

	(void)state;
	rig.file.doorbells.uar = 0;
	assert_int_equal(mlx4_open_context(&rig.call), 0);
	assert_int_equal(rig.file.doorbells.uar, UAR);
	assert_true(rig.file.page_used[0] && rig.file.page_used[1] && !rig.file.page_used[2]);
	assert_int_equal(it.added, 1);
	resp = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*resp));
	assert_int_equal(resp->dev_caps, MLX4_USER_DEV_CAP_LARGE_CQE);
	assert_int_equal(resp->qp_tab_size, 1 << 20);
	assert_int_equal(resp->bf_reg_size, 512);
	assert_int_equal(resp->bf_regs_per_page, 8);
	assert_int_equal(resp->cqe_size, 64);
	support = rig_out(UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, sizeof(*support));
	assert_int_equal(*support, IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS);
	assert_int_equal(*(const uint32_t *)rig_out(UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
						    sizeof(uint32_t)),
			 NUM_COMP_VECTORS);
	mlx4_close_context(&rig.file);
	mlx4_close_context(&rig.file);
	assert_int_equal(it.removed, 1);
	assert_int_equal(rig.released, 1);
	assert_int_equal(rig.last_released, UAR);
}

static void a_context_that_fails_is_closed(void **state)
{
	static const uint16_t ids[] = { UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
					UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, UVERBS_ATTR_UHW_OUT };

	(void)state;
	it.allocate_error = REFUSED;
	assert_int_equal(mlx4_open_context(&rig.call), REFUSED);
	assert_int_equal(it.added, 0);
	it.allocate_error = 0;
	for (unsigned int i = 0; i < 3; i++) {
		rig.out_refused = ids[i];
		assert_int_equal(mlx4_open_context(&rig.call), EFAULT);
		assert_int_equal(it.removed, i + 1);
		assert_int_equal(rig.released, i + 1);
	}
}

static void cqs_srqs_and_resizes_begin_at_a_page(void **state)
{
	const struct mlx4_ib_create_cq cq = { .buf_addr = BUFFER, .db_addr = RECORD };
	const struct mlx4_ib_resize_cq resize = { .buf_addr = BUFFER };
	const struct mlx4_ib_create_srq srq = { .buf_addr = BUFFER, .db_addr = RECORD };
	struct mlx5_ib_create_cq as_cq;
	struct mlx5_ib_resize_cq as_resize;
	struct mlx5_ib_create_srq as_srq;
	uint32_t uar = 0;

	(void)state;
	rig_in(UVERBS_ATTR_UHW_IN, &cq, sizeof(cq));
	assert_int_equal(mlx4_read_cq(&rig.call, &as_cq, &uar), 0);
	assert_int_equal(as_cq.buf_addr, BUFFER & ~0xfff);
	assert_int_equal(as_cq.db_addr, RECORD);
	assert_int_equal(as_cq.cqe_size, 64);
	assert_int_equal(uar, UAR);
	rig_in(UVERBS_ATTR_UHW_IN, &resize, sizeof(resize));
	assert_int_equal(mlx4_read_resize(&rig.call, &as_resize), 0);
	assert_int_equal(as_resize.buf_addr, BUFFER & ~0xfff);
	assert_int_equal(as_resize.cqe_size, 64);
	rig_in(UVERBS_ATTR_UHW_IN, &srq, sizeof(srq));
	assert_int_equal(mlx4_read_srq(&rig.call, &as_srq), 0);
	assert_int_equal(as_srq.buf_addr, BUFFER & ~0xfff);
	assert_int_equal(as_srq.db_addr, RECORD);
	assert_int_equal(as_srq.uidx, PRM_NO_USER_INDEX);
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(mlx4_read_cq(&rig.call, &as_cq, &uar), EFAULT);
	assert_int_equal(mlx4_read_resize(&rig.call, &as_resize), EFAULT);
	assert_int_equal(mlx4_read_srq(&rig.call, &as_srq), EFAULT);
}

static void a_cq_has_entries_and_at_most_timestamps(void **state)
{
	(void)state;
	assert_int_equal(mlx4_check_cq(1, 0), 0);
	assert_int_equal(mlx4_check_cq(1, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION), 0);
	assert_int_equal(mlx4_check_cq(1, IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN), EINVAL);
	assert_int_equal(mlx4_check_cq(0, 0), EINVAL);
}

/* What the tests of QPs change, one by one. */
static struct {
	struct mlx4_ib_create_qp part;
	struct qp_request req;
} ask;

static void ask_begin(void)
{
	memset(&ask, 0, sizeof(ask));
	ask.part.buf_addr = BUFFER;
	ask.part.db_addr = RECORD;
	ask.part.log_sq_stride = 6;
	ask.part.log_sq_bb_count = 5;
	ask.req.type = IB_UVERBS_QPT_RC;
	ask.req.cap.max_recv_wr = 5;
	ask.req.cap.max_recv_sge = 3;
}

static int ask_qp(void)
{
	rig_in(UVERBS_ATTR_UHW_IN, &ask.part, sizeof(ask.part));
	return mlx4_read_qp(&rig.call, &ask.req);
}

static void a_qp_is_translated(void **state)
{
	const struct mlx5_ib_create_qp *driver = &ask.req.driver;

	(void)state;
	ask_begin();
	assert_int_equal(ask_qp(), 0);
	assert_int_equal(driver->buf_addr, BUFFER & ~0xfff);
	assert_int_equal(driver->db_addr, RECORD);
	assert_int_equal(driver->flags, MLX5_QP_FLAG_UAR_PAGE_INDEX);
	assert_int_equal(driver->bfreg_index, UAR);
	assert_int_equal(driver->uidx, PRM_NO_USER_INDEX);
	assert_int_equal(driver->sq_wqe_count, 32);
	assert_int_equal(ask.req.log_block, 6);
	assert_int_equal(driver->rq_wqe_count, 8);
	assert_int_equal(driver->rq_wqe_shift, 6);
	mlx4_grant_qp(&ask.req);
	assert_int_equal(ask.req.cap.max_recv_wr, 8);
	assert_int_equal(ask.req.cap.max_recv_sge, 4);
	rig.in_refused = UVERBS_ATTR_UHW_IN;
	assert_int_equal(ask_qp(), EFAULT);
}

#define REFUSES(change, error)                     \
	do {                                       \
		ask_begin();                       \
		change;                            \
		assert_int_equal(ask_qp(), error); \
	} while (0)

static void sizes_of_queues_have_limits(void **state)
{
	(void)state;
	REFUSES(ask.part.log_sq_stride = 5, EINVAL);
	REFUSES(ask.part.log_sq_stride = 10, 0);
	REFUSES(ask.part.log_sq_stride = 11, EINVAL);
	REFUSES(ask.part.log_sq_bb_count = 31, 0);
	assert_true(ask.req.driver.sq_wqe_count == 1u << 31);
	REFUSES(ask.part.log_sq_bb_count = 32, EINVAL);
	REFUSES(ask.part.reserved = 1, EINVAL);
	REFUSES(ask.part.inl_recv_sz = 512, EOPNOTSUPP);
	REFUSES(ask.part.inl_recv_sz = 513, EINVAL);
	REFUSES(ask.req.cap.max_recv_sge = 32, 0);
	REFUSES(ask.req.cap.max_recv_sge = 33, EINVAL);
	REFUSES(ask.req.cap.max_recv_sge = 0, EINVAL);
	REFUSES(ask.req.cap.max_recv_wr = 0, EINVAL);
	REFUSES(ask.req.cap.max_recv_wr = (1 << 14) - 33, 0);
	REFUSES(ask.req.cap.max_recv_wr = (1 << 14) - 32, EINVAL);
}

static void without_a_receive_queue_nothing_is_received(void **state)
{
	struct object srq = { 0 };

	(void)state;
	REFUSES(ask.req.type = IB_UVERBS_QPT_XRC_INI, EINVAL);
	REFUSES((ask.req.type = IB_UVERBS_QPT_XRC_INI, ask.req.cap.max_recv_wr = 0), 0);
	assert_int_equal(ask.req.driver.rq_wqe_count, 0);
	mlx4_grant_qp(&ask.req);
	assert_int_equal(ask.req.cap.max_recv_wr, 0);
	assert_int_equal(ask.req.cap.max_recv_sge, 0);
	rig_in_object(UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, &srq);
	REFUSES((void)0, EINVAL);
	REFUSES(ask.req.cap.max_recv_wr = 0, 0);
	REFUSES((ask.req.cap.max_recv_wr = 0, ask.part.inl_recv_sz = 1), EINVAL);
}

static void an_xrc_target_may_name_no_queues(void **state)
{
	(void)state;
	REFUSES((ask.req.type = IB_UVERBS_QPT_XRC_TGT, ask.req.cap.max_recv_wr = 0,
		 memset(&ask.part, 0, sizeof(ask.part))),
		0);
	assert_int_equal(rig.pinned, 0);
	assert_int_equal(ask.req.driver.flags, 0);
	assert_int_equal(ask.req.driver.uidx, PRM_NO_USER_INDEX);
	REFUSES((ask.req.type = IB_UVERBS_QPT_XRC_TGT, ask.req.cap.max_recv_wr = 0), 0);
	assert_int_equal(rig.pinned, 1);
	assert_int_equal(rig.pins[0].addr, BUFFER);
	assert_int_equal(rig.pins[0].len, 32 << 6);
	assert_true(rig.pins[0].writable);
	assert_int_equal(ask.req.driver.sq_wqe_count, 0);
	rig.pin_error = REFUSED;
	REFUSES((ask.req.type = IB_UVERBS_QPT_XRC_TGT, ask.req.cap.max_recv_wr = 0), REFUSED);
}

static void a_part_of_an_xrc_targets_queue_is_checked(void **state)
{
	struct mlx4_ib_create_qp parts[3] = { { .buf_addr = BUFFER },
					      { .log_sq_stride = 6, .log_sq_bb_count = 32 },
					      { .log_sq_bb_count = 5 } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++)
		REFUSES((ask.req.type = IB_UVERBS_QPT_XRC_TGT, ask.req.cap.max_recv_wr = 0,
			 ask.part = parts[i]),
			EINVAL);
	REFUSES(ask.req.type = IB_UVERBS_QPT_XRC_TGT, EINVAL);
	assert_int_equal(rig.pinned, 0);
}

static int make_raw(unsigned int send_stride, unsigned int receive_stride)
{
	static struct eth_ring send, receive;
	static struct raw_request request;
	struct raw_qp *raw = NULL;
	int ret;

	send = (struct eth_ring){ .log_size = 4, .log_stride = send_stride, .record = RECORD };
	receive = (struct eth_ring){
		.log_size = 3, .log_stride = receive_stride, .buffer = BUFFER, .record = RECORD
	};
	it.send = &send;
	it.receive = &receive;
	it.request = &request;
	ret = mlx4_make_raw_qp(&rig.adapter, &request, &send, &receive, &raw);
	if (ret)
		return ret;
	assert_ptr_equal(raw, &it.raw);
	assert_int_equal(send.buffer, BUFFER);
	assert_int_equal(send.record, 0);
	assert_int_equal(receive.record, RECORD);
	return 0;
}

static void the_ring_with_larger_wqes_is_first(void **state)
{
	static const uint32_t rows[][4] = {
		{ 6, 5, 0, 1 << 10 }, { 6, 6, 0, 1 << 10 }, { 6, 7, 1 << 10, 0 },
		{ 6, 0, 0, 1 << 10 }, { 0, 6, 1 << 9, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(make_raw(rows[i][0], rows[i][1]), 0);
		assert_int_equal(it.send->skip, rows[i][2]);
		assert_int_equal(it.receive->skip, rows[i][3]);
	}
	assert_int_equal(make_raw(0, 0), 0);
	assert_int_equal(it.receive->skip, 0);
}

static void a_raw_qps_number_is_given_back(void **state)
{
	(void)state;
	it.reserve_error = REFUSED;
	assert_int_equal(make_raw(6, 5), REFUSED);
	assert_int_equal(it.released, 0);
	it.reserve_error = 0;
	it.make_error = REFUSED;
	assert_int_equal(make_raw(6, 5), REFUSED);
	assert_int_equal(it.reserved, 1);
	assert_int_equal(it.released, 1);
	it.make_error = 0;
	assert_int_equal(make_raw(6, 5), 0);
	assert_int_equal(it.released, 1);
}

static void limits_are_the_adapters(void **state)
{
	struct ib_uverbs_ex_query_device_resp resp = {
		.base = { .max_qp = 1000, .max_qp_wr = 16384, .device_cap_flags = 1 }
	};

	(void)state;
	mlx4_limit_device(&resp.base);
	assert_int_equal(resp.base.device_cap_flags, IB_UVERBS_DEVICE_RAW_IP_CSUM | 1);
	assert_int_equal(resp.base.max_qp_wr, 16384 - 33);
	assert_int_equal(resp.base.max_sge, 32);
	assert_int_equal(resp.base.max_sge_rd, 30);
	assert_int_equal(resp.base.max_srq_sge, 31);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_RQT_SIZE, 7);
	mlx4_limit_ethernet(&rig.call, &resp);
	assert_int_equal(resp.rss_caps.max_rwq_indirection_tables, 1000);
	assert_int_equal(resp.rss_caps.max_rwq_indirection_table_size, 128);
	assert_int_equal(resp.rss_caps.supported_qpts, 1 << 8);
	assert_int_equal(resp.max_wq_type_rq, 1000);
}

static void the_drivers_answer_tells_of_ethernet(void **state)
{
	const struct mlx4_uverbs_ex_query_device_resp *part;

	(void)state;
	fld_set(rig.adapter.eth_caps, ETH_CAP_MAX_LSO_CAP, 16);
	assert_int_equal(mlx4_answer_device(&rig.call), 0);
	part = rig_out(UVERBS_ATTR_UHW_OUT, sizeof(*part));
	assert_int_equal(part->max_inl_recv_sz, 512);
	assert_int_equal(part->response_length, sizeof(*part));
	assert_int_equal(part->tso_caps.max_tso, 0);
	assert_int_equal(part->rss_caps.rx_hash_function, 0);
	fld_set(rig.adapter.caps, HCA_CAP_ETH_NET_OFFLOADS, 1);
	assert_int_equal(mlx4_answer_device(&rig.call), 0);
	assert_int_equal(part->tso_caps.max_tso, 1 << 16);
	assert_int_equal(part->tso_caps.supported_qpts, 1 << 8);
	assert_int_equal(part->rss_caps.rx_hash_function, MLX4_IB_RX_HASH_FUNC_TOEPLITZ);
	assert_int_equal(part->rss_caps.rx_hash_fields_mask, 0xff);
	rig.out_refused = UVERBS_ATTR_UHW_OUT;
	assert_int_equal(mlx4_answer_device(&rig.call), EFAULT);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, mlx4_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(a_context_has_a_doorbell_and_a_blueflame_page),
		CASE(a_context_that_fails_is_closed),
		CASE(cqs_srqs_and_resizes_begin_at_a_page),
		CASE(a_cq_has_entries_and_at_most_timestamps),
		CASE(a_qp_is_translated),
		CASE(sizes_of_queues_have_limits),
		CASE(without_a_receive_queue_nothing_is_received),
		CASE(an_xrc_target_may_name_no_queues),
		CASE(a_part_of_an_xrc_targets_queue_is_checked),
		CASE(the_ring_with_larger_wqes_is_first),
		CASE(a_raw_qps_number_is_given_back),
		CASE(limits_are_the_adapters),
		CASE(the_drivers_answer_tells_of_ethernet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
