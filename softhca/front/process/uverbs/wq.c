/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - receive work queues without QP, and indirection tables of them for RSS.
 */
#include <errno.h>
#include <stdlib.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/wq.h"
#include "softhca/front/process/driver/eth_queues.h"
#include "softhca/front/process/uverbs/mlx4/wq.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/front/process/uverbs/wq_request.h"
#include "softhca/log.h"
#include "util/bits.h"

enum {
	MIN_WQE_SHIFT = 4,
	MAX_WQE_SHIFT = 9,
	MAX_LOG_TABLE = 13, /* limit of the driver, whatever the device */
	ATTR_STATE = 1 << 0,
	ATTR_CUR_STATE = 1 << 1,
	ATTR_FLAGS = 1 << 2,
	STATE_RESET = 0,
	STATE_READY = 1,
	STATE_ERROR = 2,
};

static int wq_destroy(struct object *object, pid_t tid)
{
	struct uverbs_wq *wq = (struct uverbs_wq *)object;
	int ret =
		adapter_release(object->file->adapter, (enum prm_opcode)PRM_OP_DESTROY_RQ, wq->rqn);

	if (ret)
		return ret;
	event_source_remove(&wq->events, tid);
	wq->pd->base.users--;
	wq->cq->base.users--;
	if (wq->range)
		mlx4_wqn_put(object->file, wq->range);
	return 0;
}

static int read_request(struct uverbs_call *uc, struct wq_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_CREATE_WQ_USER_HANDLE, &req->user_handle, 8) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_WQ_TYPE, &req->type, sizeof(req->type)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_WQ_FLAGS, &req->flags, sizeof(req->flags)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_WQ_MAX_WR, &req->max_wr, sizeof(req->max_wr)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_WQ_MAX_SGE, &req->max_sge, sizeof(req->max_sge)))
		return EFAULT;
	if (adapter_is_mlx4(uc->adapter))
		return mlx4_read_wq(uc, req);
	return uc_in(uc, UVERBS_ATTR_UHW_IN, &req->driver, sizeof(req->driver)) ? EFAULT : 0;
}

static bool is_striding(const struct mlx5_ib_create_wq *driver)
{
	return driver->comp_mask & MLX5_IB_CREATE_WQ_STRIDING_RQ;
}

static int check_strides(const struct uverbs_call *uc, const struct mlx5_ib_create_wq *driver)
{
	uint32_t bytes = driver->single_stride_log_num_of_bytes;
	uint32_t count = driver->single_wqe_log_num_of_strides;
	uint32_t least = adapter_cap(uc->adapter, HCA_CAP_EXT_STRIDE_NUM_RANGE)
				 ? PRM_LOG_STRIDES_MIN
				 : PRM_LOG_STRIDES_BASE;

	if (driver->comp_mask & ~(uint32_t)MLX5_IB_CREATE_WQ_STRIDING_RQ)
		return EOPNOTSUPP;
	if (!is_striding(driver))
		return 0;
	if (!adapter_cap(uc->adapter, HCA_CAP_STRIDING_RQ))
		return EOPNOTSUPP;
	if (bytes < PRM_LOG_STRIDE_MIN || bytes > PRM_LOG_STRIDE_MAX)
		return EINVAL;
	return count < least || count > PRM_LOG_STRIDES_MAX ? EINVAL : 0;
}

static int check_request(struct uverbs_call *uc, const struct wq_request *req)
{
	const struct mlx5_ib_create_wq *driver = &req->driver;
	int ret;

	if (req->type != IB_UVERBS_WQT_RQ)
		return EINVAL;
	if (!adapter_cap(uc->adapter, HCA_CAP_ETH_NET_OFFLOADS))
		return EOPNOTSUPP;
	ret = check_strides(uc, driver);
	if (ret)
		return ret;
	if (driver->flags & ~(uint32_t)MLX5_WQ_FLAG_SIGNATURE)
		return EOPNOTSUPP;
	if (req->flags & ~(uint32_t)IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING)
		return EOPNOTSUPP;
	if (!is_pow2(driver->rq_wqe_count) ||
	    driver->rq_wqe_count > 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_WQ_SZ))
		return EINVAL;
	return driver->rq_wqe_shift < MIN_WQE_SHIFT || driver->rq_wqe_shift > MAX_WQE_SHIFT ? EINVAL
											    : 0;
}

static int make_rq(struct uverbs_call *uc, const struct wq_request *req, struct eth_ring *ring,
		   struct uverbs_wq *wq)
{
	int ret = 0;

	if (adapter_is_mlx4(uc->adapter))
		ret = mlx4_wqn_take(uc, req, &wq->range, &ring->number);
	if (!ret)
		ret = eth_rq_make(uc->adapter, ring, &wq->rqn);
	if (ret && wq->range)
		mlx4_wqn_put(uc->file, wq->range);
	return ret;
}

/* Pins the ring of an mlx5 queue; mlx4_read_wq() has already pinned an mlx4 queue's ring. */
static int pin_memory(struct uverbs_call *uc, const struct mlx5_ib_create_wq *driver)
{
	uint64_t bytes = (uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift;
	bool is_mlx4 = adapter_is_mlx4(uc->adapter);
	int ret = is_mlx4 ? 0 : uc_pin(uc, driver->buf_addr, bytes, true);

	return ret ? ret : uc_pin_record(uc, driver->db_addr, is_mlx4 ? 4 : 8);
}

static int create_rq(struct uverbs_call *uc, const struct wq_request *req, struct uverbs_wq *wq)
{
	struct eth_ring ring = {
		.client = uc->client,
		.buffer = req->driver.buf_addr,
		.skip = req->skip,
		.record = req->driver.db_addr,
		.log_size = __builtin_ctz(req->driver.rq_wqe_count),
		.log_stride = req->driver.rq_wqe_shift,
		.pdn = wq->pd->pdn,
		.cqn = wq->cq->cqn,
		.real_time = wq->cq->real_time,
		.user_index = req->driver.user_index,
		.has_signatures = req->driver.flags & MLX5_WQ_FLAG_SIGNATURE,
		.strip_vlan = req->flags & IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING,
	};

	if (is_striding(&req->driver)) {
		ring.log_strides = req->driver.single_wqe_log_num_of_strides;
		ring.log_stride_bytes = req->driver.single_stride_log_num_of_bytes;
		ring.shifts = req->driver.two_byte_shift_en;
	}
	return make_rq(uc, req, &ring, wq);
}

static int wq_make(struct uverbs_call *uc, struct wq_request *req, struct uverbs_wq *wq)
{
	int ret = read_request(uc, req);

	if (!ret)
		ret = check_request(uc, req);
	if (!ret)
		ret = pin_memory(uc, &req->driver);
	if (ret)
		return ret;
	wq->pd = uc_object(uc, UVERBS_ATTR_CREATE_WQ_PD_HANDLE);
	wq->cq = uc_object(uc, UVERBS_ATTR_CREATE_WQ_CQ_HANDLE);
	if (!wq->cq)
		return EINVAL; /* refused, as Linux declares it optional but needs it */
	wq->events = (struct event_source){ .adapter = uc->adapter,
					    .kind = SOURCE_WQ,
					    .user_handle = req->user_handle };
	ret = uc_async_channel(uc, UVERBS_ATTR_CREATE_WQ_EVENT_FD, &wq->events.async);
	if (ret)
		return ret;
	ret = create_rq(uc, req, wq);
	ret = event_source_made(&wq->events, ret, wq->rqn);
	if (ret)
		return ret;
	wq->pd->base.users++;
	wq->cq->base.users++;
	return 0;
}

static int wq_respond(struct uverbs_call *uc, const struct wq_request *req,
		      const struct uverbs_wq *wq)
{
	struct mlx5_ib_create_wq_resp driver = {
		.response_length = uc_response_length(uc, UVERBS_ATTR_UHW_OUT, sizeof(driver)),
	};

	if (uc_out(uc, UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, &req->max_wr, sizeof(req->max_wr)) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, &req->max_sge, sizeof(req->max_sge)) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, &wq->rqn, sizeof(wq->rqn)))
		return EFAULT;
	if (adapter_is_mlx4(uc->adapter))
		return 0;
	return uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)) ? EFAULT : 0;
}

static int wq_create(struct uverbs_call *uc)
{
	struct wq_request req = { .skip = 0 };
	struct uverbs_wq *wq;
	int ret = object_new(sizeof(*wq), uc->file, UVERBS_OBJECT_WQ, wq_destroy, &wq);

	if (ret)
		return ret;
	ret = uc_return_made(uc, wq_make(uc, &req, wq), UVERBS_ATTR_CREATE_WQ_HANDLE, &wq->base);
	return ret ? ret : uc_answered(uc, wq_respond(uc, &req, wq), &wq->base);
}

static int wq_remove(struct uverbs_call *uc)
{
	struct uverbs_wq *wq = uc_object(uc, UVERBS_ATTR_DESTROY_WQ_HANDLE);

	return uc_destroy_reporting(uc, &wq->base, &wq->events, UVERBS_ATTR_DESTROY_WQ_RESP);
}

static enum prm_wq_state device_state(uint32_t state)
{
	return state == STATE_ERROR ? PRM_WQ_STATE_ERR : (enum prm_wq_state)state;
}

static int wq_modify(struct uverbs_call *uc)
{
	struct ib_uverbs_ex_modify_wq cmd;
	struct uverbs_wq *wq;
	uint32_t from, to;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (!cmd.attr_mask || cmd.attr_mask & ~(uint32_t)(ATTR_STATE | ATTR_CUR_STATE | ATTR_FLAGS))
		return EINVAL;
	ret = object_find(uc->file, UVERBS_OBJECT_WQ, cmd.wq_handle, &wq);
	if (ret)
		return ret;
	from = cmd.attr_mask & ATTR_CUR_STATE ? cmd.curr_wq_state : wq->state;
	to = cmd.attr_mask & ATTR_STATE ? cmd.wq_state : from;
	if (from > STATE_ERROR || to > STATE_ERROR)
		return EINVAL;
	if (cmd.attr_mask & ATTR_FLAGS && cmd.flags_mask)
		return EOPNOTSUPP; /* refused, as this device cannot change a queue's flags */
	if (adapter_is_mlx4(uc->adapter))
		ret = mlx4_check_wq_change(uc, cmd.attr_mask & ATTR_FLAGS, from, to);
	if (!ret)
		ret = eth_rq_change(uc->adapter, wq->rqn, device_state(from), device_state(to));
	if (!ret)
		wq->state = to;
	return ret;
}

static int table_destroy(struct object *object, pid_t tid)
{
	struct uverbs_rwq_table *table = (struct uverbs_rwq_table *)object;
	int ret = adapter_release(object->file->adapter, (enum prm_opcode)PRM_OP_DESTROY_RQT,
				  table->rqtn);

	(void)tid;
	if (ret)
		return ret;
	for (unsigned int i = 0; i < table->size; i++)
		table->wq[i]->base.users--;
	free(table->wq);
	return 0;
}

static int find_queues(struct uverbs_call *uc, const uint32_t *handles,
		       struct uverbs_rwq_table *table, uint32_t *rqn)
{
	for (unsigned int i = 0; i < table->size; i++) {
		int ret = object_find(uc->file, UVERBS_OBJECT_WQ, handles[i], &table->wq[i]);

		if (ret)
			return ret;
		rqn[i] = table->wq[i]->rqn;
	}
	return 0;
}

static int table_make(struct uverbs_call *uc, unsigned int log_size, struct uverbs_rwq_table *table)
{
	const size_t header = sizeof(struct ib_uverbs_ex_create_rwq_ind_table);
	size_t bytes = header + (sizeof(uint32_t) << log_size);
	uint32_t *command = calloc(1, bytes), *rqn = calloc(1u << log_size, sizeof(*rqn));
	int ret = ENOMEM;

	table->size = 1u << log_size;
	table->wq = calloc(table->size, sizeof(struct uverbs_wq *));
	if (command && rqn && table->wq)
		ret = uc_in(uc, UVERBS_ATTR_CORE_IN, command, bytes);
	if (!ret)
		ret = find_queues(uc, command + header / sizeof(uint32_t), table, rqn);
	if (!ret && adapter_is_mlx4(uc->adapter))
		ret = mlx4_check_table(rqn, table->size);
	if (!ret)
		ret = eth_rqt_make(uc->adapter, rqn, table->size, &table->rqtn);
	for (unsigned int i = 0; !ret && i < table->size; i++)
		table->wq[i]->base.users++;
	if (ret)
		free(table->wq);
	free(rqn);
	free(command);
	return ret;
}

static int check_table(struct uverbs_call *uc, const struct ib_uverbs_ex_create_rwq_ind_table *cmd)
{
	if (cmd->comp_mask)
		return EOPNOTSUPP;
	if (cmd->log_ind_tbl_size > MAX_LOG_TABLE)
		return EINVAL;
	if (uc_len(uc, UVERBS_ATTR_CORE_IN) < sizeof(*cmd) + (4ul << cmd->log_ind_tbl_size))
		return ENOSPC;
	return cmd->log_ind_tbl_size > adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RQT_SIZE) ? EINVAL
											  : 0;
}

static int table_respond(struct uverbs_call *uc, const struct uverbs_rwq_table *table)
{
	struct ib_uverbs_ex_create_rwq_ind_table_resp resp = {
		.response_length = uc_response_length(uc, UVERBS_ATTR_CORE_OUT, sizeof(resp)),
		.ind_tbl_handle = table->base.handle,
		.ind_tbl_num = table->rqtn,
	};

	return uc_out_padded(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
}

static int table_create(struct uverbs_call *uc)
{
	struct ib_uverbs_ex_create_rwq_ind_table cmd;
	struct uverbs_rwq_table *table;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = check_table(uc, &cmd);
	if (!ret)
		ret = object_new(sizeof(*table), uc->file, UVERBS_OBJECT_RWQ_IND_TBL, table_destroy,
				 &table);
	if (ret)
		return ret;
	ret = table_make(uc, cmd.log_ind_tbl_size, table);
	if (ret) {
		object_free(&table->base);
		return ret;
	}
	ret = uc_publish(uc, &table->base);
	if (ret)
		return ret;
	ret = table_respond(uc, table);
	if (ret)
		object_destroy(&table->base, uc->tid);
	return ret;
}

static int table_remove(struct uverbs_call *uc)
{
	return object_destroy(uc_object(uc, UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE), uc->tid);
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_WQ_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_WQ },
	{ UVERBS_ATTR_CREATE_WQ_PD_HANDLE, ATTR_HANDLE, MANDATORY, 0, 0, UVERBS_OBJECT_PD },
	{ UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, ATTR_HANDLE, OPTIONAL, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_CREATE_WQ_USER_HANDLE, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_WQ_TYPE, ATTR_CONST, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_WQ_EVENT_FD, ATTR_FD, OPTIONAL, 0, 0, UVERBS_OBJECT_ASYNC_EVENT },
	{ UVERBS_ATTR_CREATE_WQ_MAX_WR, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_WQ_MAX_SGE, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_WQ_FLAGS, ATTR_IN, MANDATORY, 4, 8, 0 },
	{ UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, ATTR_OUT, OPTIONAL, 4, 4, 0 },
	UHW_ATTRS,
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_WQ_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_WQ },
	{ UVERBS_ATTR_DESTROY_WQ_RESP, ATTR_OUT, MANDATORY, 4, 4, 0 },
};

static const struct uverbs_attr destroy_table_attrs[] = {
	{ UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0,
	  UVERBS_OBJECT_RWQ_IND_TBL },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_WQ", UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_CREATE, wq_create, create_attrs),
	METHOD("DESTROY_WQ", UVERBS_OBJECT_WQ, UVERBS_METHOD_WQ_DESTROY, wq_remove, destroy_attrs),
	METHOD("DESTROY_RWQ_IND_TBL", UVERBS_OBJECT_RWQ_IND_TBL, UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
	       table_remove, destroy_table_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "MODIFY_WQ", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_WQ,
	  sizeof(struct ib_uverbs_ex_modify_wq), 0, wq_modify },
	{ "CREATE_RWQ_IND_TBL",
	  IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
	  sizeof(struct ib_uverbs_ex_create_rwq_ind_table),
	  sizeof(struct ib_uverbs_ex_create_rwq_ind_table_resp), table_create },
};

const struct uverbs_methods wq_methods = METHODS(method_table);
const struct uverbs_writes wq_writes = METHODS(write_table);
