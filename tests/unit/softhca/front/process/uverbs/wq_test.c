/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq_test.c - receive work queues: requests that are refused, the ring that the device gets, what
 * is given back after a failure, changes of state, and tables of queues.
 *
 * Covers: softhca/front/process/uverbs/wq.c
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/wq.c"

enum { RQN = 0x321, RQTN = 0x99, PDN = 5, CQN = 6, MOST_LOG = 10, REFUSED = EDOM };

static struct {
	struct uverbs_pd pd;
	struct uverbs_cq cq;
	struct eth_ring ring; /* of the last queue */
	unsigned int rqs;     /* made */
	int rq_error, take_error, table_error;
	unsigned int taken;
	enum prm_wq_state from, to;
	unsigned int changes;
	uint32_t table[8];
	unsigned int table_size;
} it;

static struct wqn_range *const a_range = (void *)&it;

int eth_rq_make(struct adapter *adapter, const struct eth_ring *ring, uint32_t *rqn)
{
	assert_ptr_equal(adapter, &rig.adapter);
	it.ring = *ring;
	if (it.rq_error)
		return it.rq_error;
	*rqn = RQN + it.rqs++;
	return 0;
}

int eth_rq_change(struct adapter *adapter, uint32_t rqn, enum prm_wq_state from,
		  enum prm_wq_state to)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_int_equal(rqn, RQN);
	it.changes++;
	it.from = from;
	it.to = to;
	return rig.command_error;
}

int eth_rqt_make(struct adapter *adapter, const uint32_t *rqn, unsigned int count, uint32_t *rqtn)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_true(count <= 8);
	memcpy(it.table, rqn, count * sizeof(*rqn));
	it.table_size = count;
	*rqtn = RQTN;
	return it.table_error;
}

int mlx4_read_wq(struct uverbs_call *uc, struct wq_request *req)
{
	assert_ptr_equal(uc, &rig.call);
	req->driver.rq_wqe_count = 16;
	req->driver.rq_wqe_shift = 6;
	return 0;
}

int mlx4_wqn_take(struct uverbs_call *uc, const struct wq_request *req, struct wqn_range **range,
		  uint32_t *number)
{
	assert_ptr_equal(uc, &rig.call);
	assert_non_null(req);
	if (it.take_error)
		return it.take_error;
	it.taken++;
	*range = a_range;
	*number = 0x77;
	return 0;
}

void mlx4_wqn_put(struct uverbs_file *file, struct wqn_range *range)
{
	assert_ptr_equal(file, &rig.file);
	assert_ptr_equal(range, a_range);
	it.taken--;
}

int mlx4_check_wq_change(struct uverbs_call *uc, bool has_flags, uint32_t from, uint32_t to)
{
	(void)uc;
	(void)has_flags;
	(void)from;
	(void)to;
	return 0;
}

int mlx4_check_table(const uint32_t *wqn, unsigned int count)
{
	(void)wqn;
	(void)count;
	return 0;
}

static void number_in(uint16_t id, uint64_t value)
{
	rig_in(id, &value, sizeof(value));
}

static struct mlx5_ib_create_wq whole_driver(void)
{
	return (struct mlx5_ib_create_wq){ .buf_addr = 0x10000,
					   .db_addr = 0x20000,
					   .rq_wqe_count = 64,
					   .rq_wqe_shift = 5,
					   .user_index = 7 };
}

static void request_in(uint64_t type, uint32_t flags, const struct mlx5_ib_create_wq *driver)
{
	const uint32_t four = 4;

	number_in(UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 0x1234);
	number_in(UVERBS_ATTR_CREATE_WQ_TYPE, type);
	rig_in(UVERBS_ATTR_CREATE_WQ_FLAGS, &flags, sizeof(flags));
	rig_in(UVERBS_ATTR_CREATE_WQ_MAX_WR, &four, sizeof(four));
	rig_in(UVERBS_ATTR_CREATE_WQ_MAX_SGE, &four, sizeof(four));
	rig_in(UVERBS_ATTR_UHW_IN, driver, sizeof(*driver));
}

static int wq_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	fld_set(rig.adapter.caps, HCA_CAP_ETH_NET_OFFLOADS, 1);
	fld_set(rig.adapter.caps, HCA_CAP_STRIDING_RQ, 1);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_WQ_SZ, MOST_LOG);
	fld_set(rig.adapter.caps, HCA_CAP_LOG_MAX_RQT_SIZE, 3);
	it.pd.pdn = PDN;
	it.cq.cqn = CQN;
	rig_publish(&it.pd.base, UVERBS_OBJECT_PD);
	rig_publish(&it.cq.base, UVERBS_OBJECT_CQ);
	rig_in_object(UVERBS_ATTR_CREATE_WQ_PD_HANDLE, &it.pd.base);
	rig_in_object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, &it.cq.base);
	return 0;
}

static int wq_end(void **state)
{
	int ret = rig_end(state);

	assert_int_equal(it.pd.base.users, 0);
	assert_int_equal(it.cq.base.users, 0);
	assert_int_equal(it.taken, 0);
	return ret;
}

static int wq_new(const struct mlx5_ib_create_wq *driver, struct uverbs_wq **wq)
{
	uint32_t handle;
	int ret;

	request_in(IB_UVERBS_WQT_RQ, 0, driver);
	ret = wq_create(&rig.call);
	if (ret)
		return ret;
	memcpy(&handle, rig_out(UVERBS_ATTR_CREATE_WQ_HANDLE, sizeof(handle)), sizeof(handle));
	*wq = (struct uverbs_wq *)rig.objects[handle];
	return 0;
}

static void a_queue_is_as_it_is_asked_for(void **state)
{
	struct mlx5_ib_create_wq driver = whole_driver();
	const uint32_t number = RQN;
	struct uverbs_wq *wq = NULL;

	(void)state;
	driver.flags = MLX5_WQ_FLAG_SIGNATURE;
	assert_int_equal(wq_new(&driver, &wq), 0);
	assert_true(it.ring.buffer == 0x10000 && it.ring.record == 0x20000);
	assert_int_equal(it.ring.log_size, 6);
	assert_int_equal(it.ring.log_stride, 5);
	assert_int_equal(it.ring.log_strides, 0);
	assert_int_equal(it.ring.pdn, PDN);
	assert_int_equal(it.ring.cqn, CQN);
	assert_int_equal(it.ring.user_index, 7);
	assert_true(it.ring.has_signatures && !it.ring.strip_vlan);
	assert_int_equal(rig.pinned, 2);
	assert_true(rig.pins[0].addr == 0x10000 && rig.pins[0].len == 64 << 5);
	assert_true(rig.pins[1].addr == 0x20000 && rig.pins[1].len == 8);
	assert_memory_equal(rig_out(UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4), &number, 4);
	assert_int_equal(wq->events.number, RQN);
	assert_true(wq->events.user_handle == 0x1234);
	assert_int_equal(it.pd.base.users, 1);
	assert_int_equal(it.cq.base.users, 1);
}

static void strides_are_the_devices(void **state)
{
	static const struct {
		uint32_t log_bytes, log_count;
		int error;
	} rows[] = {
		{ PRM_LOG_STRIDE_MIN, PRM_LOG_STRIDES_BASE, 0 },
		{ PRM_LOG_STRIDE_MAX, PRM_LOG_STRIDES_MAX, 0 },
		{ PRM_LOG_STRIDE_MIN - 1, PRM_LOG_STRIDES_BASE, EINVAL },
		{ PRM_LOG_STRIDE_MAX + 1, PRM_LOG_STRIDES_BASE, EINVAL },
		{ PRM_LOG_STRIDE_MIN, PRM_LOG_STRIDES_BASE - 1, EINVAL },
		{ PRM_LOG_STRIDE_MIN, PRM_LOG_STRIDES_MAX + 1, EINVAL },
	};
	struct mlx5_ib_create_wq driver = whole_driver();
	struct wq_request req = { .type = IB_UVERBS_WQT_RQ };

	(void)state;
	driver.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ;
	driver.two_byte_shift_en = 1;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		driver.single_stride_log_num_of_bytes = rows[i].log_bytes;
		driver.single_wqe_log_num_of_strides = rows[i].log_count;
		req.driver = driver;
		assert_int_equal(check_request(&rig.call, &req), rows[i].error);
	}
	req.driver.single_wqe_log_num_of_strides = PRM_LOG_STRIDES_MIN;
	fld_set(rig.adapter.caps, HCA_CAP_EXT_STRIDE_NUM_RANGE, 1);
	req.driver.single_stride_log_num_of_bytes = PRM_LOG_STRIDE_MIN;
	assert_int_equal(check_request(&rig.call, &req), 0);
	fld_set(rig.adapter.caps, HCA_CAP_STRIDING_RQ, 0);
	assert_int_equal(check_request(&rig.call, &req), EOPNOTSUPP);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct mlx5_ib_create_wq driver = whole_driver();
	struct wq_request req = { .type = IB_UVERBS_WQT_RQ, .driver = driver }, bad;

	(void)state;
	assert_int_equal(check_request(&rig.call, &req), 0);
	bad = req;
	bad.type++;
	assert_int_equal(check_request(&rig.call, &bad), EINVAL);
	bad = req;
	bad.flags = IB_UVERBS_WQ_FLAGS_SCATTER_FCS;
	assert_int_equal(check_request(&rig.call, &bad), EOPNOTSUPP);
	bad.flags = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING;
	assert_int_equal(check_request(&rig.call, &bad), 0);
	bad = req;
	bad.driver.flags = MLX5_WQ_FLAG_SIGNATURE << 1;
	assert_int_equal(check_request(&rig.call, &bad), EOPNOTSUPP);
	bad = req;
	bad.driver.comp_mask = MLX5_IB_CREATE_WQ_STRIDING_RQ << 1;
	assert_int_equal(check_request(&rig.call, &bad), EOPNOTSUPP);
	for (uint32_t count = 0; count < 9; count++) {
		bad = req;
		bad.driver.rq_wqe_count = count;
		assert_int_equal(check_request(&rig.call, &bad),
				 count == 1 || count == 2 || count == 4 || count == 8 ? 0 : EINVAL);
	}
	bad.driver.rq_wqe_count = 1u << MOST_LOG;
	assert_int_equal(check_request(&rig.call, &bad), 0);
	bad.driver.rq_wqe_count <<= 1;
	assert_int_equal(check_request(&rig.call, &bad), EINVAL);
	for (uint32_t shift = 0; shift < 12; shift++) {
		bad = req;
		bad.driver.rq_wqe_shift = shift;
		assert_int_equal(check_request(&rig.call, &bad),
				 shift >= MIN_WQE_SHIFT && shift <= MAX_WQE_SHIFT ? 0 : EINVAL);
	}
	fld_set(rig.adapter.caps, HCA_CAP_ETH_NET_OFFLOADS, 0);
	assert_int_equal(check_request(&rig.call, &req), EOPNOTSUPP);
}

static void a_queue_that_fails_leaves_nothing(void **state)
{
	const struct mlx5_ib_create_wq driver = whole_driver();
	struct uverbs_wq *wq;

	(void)state;
	it.rq_error = REFUSED;
	assert_int_equal(wq_new(&driver, &wq), REFUSED);
	it.rq_error = 0;
	rig.pin_error = EFAULT;
	assert_int_equal(wq_new(&driver, &wq), EFAULT);
	rig.pin_error = 0;
	rig_in_object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, NULL);
	assert_int_equal(wq_new(&driver, &wq), EINVAL);
	rig_in_object(UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, &it.cq.base);
	rig.out_refused = UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM;
	assert_int_equal(wq_new(&driver, &wq), EFAULT);
	assert_int_equal(rig.released, 1);
	assert_int_equal(rig.made, rig.freed);
}

static void numbers_of_mlx4_go_with_their_queues(void **state)
{
	const struct mlx5_ib_create_wq driver = whole_driver();
	struct uverbs_wq *wq = NULL;

	(void)state;
	rig.identity.kind = HCA_MLX4;
	assert_int_equal(wq_new(&driver, &wq), 0);
	assert_int_equal(it.taken, 1);
	assert_int_equal(it.ring.number, 0x77);
	assert_ptr_equal(wq->range, a_range);
	it.rq_error = REFUSED;
	assert_int_equal(wq_new(&driver, &wq), REFUSED);
	assert_int_equal(it.taken, 1);
	it.rq_error = 0;
	it.take_error = ENOSPC;
	assert_int_equal(wq_new(&driver, &wq), ENOSPC);
	assert_int_equal(it.rqs, 1);
}

static int wq_change(uint32_t handle, uint32_t mask, uint32_t from, uint32_t to)
{
	const struct ib_uverbs_ex_modify_wq cmd = {
		.attr_mask = mask, .wq_handle = handle, .wq_state = to, .curr_wq_state = from
	};

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return wq_modify(&rig.call);
}

static void states_are_changed_as_asked(void **state)
{
	const struct mlx5_ib_create_wq driver = whole_driver();
	struct uverbs_wq *wq = NULL;
	uint32_t handle;

	(void)state;
	assert_int_equal(wq_new(&driver, &wq), 0);
	handle = wq->base.handle;
	assert_int_equal(wq_change(handle, 0, 0, 0), EINVAL);
	assert_int_equal(wq_change(handle, ATTR_FLAGS << 1, 0, 0), EINVAL);
	assert_int_equal(wq_change(handle + 1, ATTR_STATE, 0, STATE_READY), ENOENT);
	assert_int_equal(wq_change(handle, ATTR_STATE, 0, STATE_ERROR + 1), EINVAL);
	assert_int_equal(wq_change(handle, ATTR_CUR_STATE, STATE_ERROR + 1, 0), EINVAL);
	assert_int_equal(it.changes, 0);
	assert_int_equal(wq_change(handle, ATTR_STATE, STATE_ERROR, STATE_READY), 0);
	assert_int_equal(it.from, STATE_RESET); /* the current one, as none is given */
	assert_int_equal(it.to, STATE_READY);
	assert_int_equal(wq->state, STATE_READY);
	assert_int_equal(wq_change(handle, ATTR_STATE | ATTR_CUR_STATE, STATE_RESET, STATE_ERROR),
			 0);
	assert_int_equal(it.from, STATE_RESET);
	assert_int_equal(it.to, PRM_WQ_STATE_ERR);
	assert_int_equal(wq->state, STATE_ERROR);
	rig.command_error = REFUSED;
	assert_int_equal(wq_change(handle, ATTR_STATE, 0, STATE_RESET), REFUSED);
	assert_int_equal(wq->state, STATE_ERROR);
	rig.command_error = 0;
}

/* Puts a request for a table of 1 << LOG_SIZE queues, with these HANDLES. */
static void table_in(uint32_t log_size, const uint32_t *handles)
{
	const struct ib_uverbs_ex_create_rwq_ind_table cmd = { .log_ind_tbl_size = log_size };
	const size_t list = sizeof(uint32_t) << log_size;
	uint8_t in[sizeof(cmd) + 16 * sizeof(uint32_t)];

	assert_true(sizeof(cmd) + list <= sizeof(in));
	memcpy(in, &cmd, sizeof(cmd));
	memcpy(in + sizeof(cmd), handles, list);
	rig_in(UVERBS_ATTR_CORE_IN, in, sizeof(cmd) + list);
}

static int table_new(uint32_t log_size, const uint32_t *handles, uint32_t *handle)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp;
	int ret;

	table_in(log_size, handles);
	ret = table_create(&rig.call);
	if (!ret) {
		memcpy(&resp, rig_out(UVERBS_ATTR_CORE_OUT, sizeof(resp)), sizeof(resp));
		assert_int_equal(resp.ind_tbl_num, RQTN);
		*handle = resp.ind_tbl_handle;
	}
	return ret;
}

static void a_table_holds_its_queues(void **state)
{
	const struct mlx5_ib_create_wq driver = whole_driver();
	uint32_t handles[8] = { 0 }, handle = 0;
	struct uverbs_wq *wq[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(wq_new(&driver, &wq[i]), 0);
		handles[i] = handles[3 - i] = wq[i]->base.handle;
	}
	assert_int_equal(table_new(2, handles, &handle), 0);
	assert_int_equal(it.table_size, 4);
	assert_int_equal(it.table[0], RQN);
	assert_int_equal(it.table[1], RQN + 1);
	assert_int_equal(it.table[2], RQN + 1);
	assert_int_equal(it.table[3], RQN);
	assert_int_equal(wq[0]->base.users, 2);
	rig_in_object(UVERBS_ATTR_DESTROY_WQ_HANDLE, &wq[0]->base);
	assert_int_equal(wq_remove(&rig.call), EBUSY);
	rig_in_object(UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, rig.objects[handle]);
	assert_int_equal(table_remove(&rig.call), 0);
	assert_int_equal(wq[0]->base.users, 0);
	handles[1] = 30; /* no such queue */
	assert_int_equal(table_new(1, handles, &handle), ENOENT);
	it.table_error = REFUSED;
	assert_int_equal(table_new(0, handles, &handle), REFUSED);
	assert_int_equal(wq[0]->base.users, 0);
	it.table_error = 0;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(table_new(0, handles, &handle), EFAULT);
	assert_int_equal(wq[0]->base.users, 0);
}

static void tables_have_their_limits(void **state)
{
	const struct ib_uverbs_ex_create_rwq_ind_table unknown = { .comp_mask = 1 },
						       huge = { .log_ind_tbl_size =
									MAX_LOG_TABLE + 1 },
						       cut = { .log_ind_tbl_size = 1 };
	const uint32_t handles[16] = { 0 };
	uint32_t handle;

	(void)state;
	rig_in(UVERBS_ATTR_CORE_IN, &unknown, sizeof(unknown));
	assert_int_equal(table_create(&rig.call), EOPNOTSUPP);
	rig_in(UVERBS_ATTR_CORE_IN, &huge, sizeof(huge));
	assert_int_equal(table_create(&rig.call), EINVAL);
	rig_in(UVERBS_ATTR_CORE_IN, &cut, sizeof(cut));
	assert_int_equal(table_create(&rig.call), ENOSPC);
	table_in(4, handles);
	assert_int_equal(table_create(&rig.call), EINVAL); /* the device has fewer */
	assert_int_equal(table_new(3, handles, &handle), ENOENT);
	assert_int_equal(rig.made, rig.freed);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, wq_begin, wq_end)
	const struct CMUnitTest tests[] = {
		CASE(a_queue_is_as_it_is_asked_for),
		CASE(strides_are_the_devices),
		CASE(what_does_not_fit_is_refused),
		CASE(a_queue_that_fails_leaves_nothing),
		CASE(numbers_of_mlx4_go_with_their_queues),
		CASE(states_are_changed_as_asked),
		CASE(a_table_holds_its_queues),
		CASE(tables_have_their_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
