/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cq.c - completion queues.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/mini_cqe.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/driver/queue_memory.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/objects.h"
#include "softhca/log.h"
#include "util/bits.h"

enum { CQ_MODERATE = 1, CQ_MAX_PERIOD = 0xfff }; /* in microseconds */

/* What a program asks for, by the ioctl method or by the older command. */
struct cq_request {
	uint32_t cqe; /* as given: one less than the number of entries */
	uint64_t user_handle;
	uint32_t vector;
	uint32_t flags;
	struct mlx5_ib_create_cq driver;
	uint32_t uar; /* from an attribute of 32 bits, or else from 16 bits in the driver's part */
	unsigned int log_entries;
	struct queue_memory memory;
};

static int cq_destroy(struct object *object, pid_t tid)
{
	struct uverbs_cq *cq = (struct uverbs_cq *)object;
	int ret = adapter_release(object->file->adapter, PRM_OP_DESTROY_CQ, cq->cqn);

	if (ret)
		return ret;
	epitaph_remove_cq(&cq->epitaph);
	event_source_remove(&cq->events, tid);
	return 0;
}

static unsigned int cqe_size_code(uint32_t cqe_size, bool padded)
{
	return padded ? 2 : cqe_size == 128;
}

static bool is_padded(const struct mlx5_ib_create_cq *driver)
{
	return driver->flags & MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD;
}

/* Checks the doorbell page. A context whose pages are objects has no default page, so the program
 * must name one. */
static int check_uar(struct uverbs_call *uc, struct cq_request *req)
{
	if (!adapter_is_mlx4(uc->adapter) && !uc_attr(uc, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX)) {
		if (!(req->driver.flags & MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX))
			return EINVAL;
		req->uar = req->driver.uar_page_index;
	}
	return req->uar > FLD_MASK(CQC_UAR_PAGE) ? EINVAL : 0;
}

/* Returns whether CQEs are compressed. Like Linux, ignores all other values than 1. */
static bool is_compressed(const struct mlx5_ib_create_cq *driver)
{
	return driver->cqe_comp_en == 1;
}

static int check_compression(const struct uverbs_call *uc, const struct mlx5_ib_create_cq *driver)
{
	uint32_t allowed =
		driver->cqe_size == 128 ? HCA_CAP_CQE_COMPRESSION_128 : HCA_CAP_CQE_COMPRESSION;

	if (!is_compressed(driver))
		return 0;
	if (!adapter_cap(uc->adapter, allowed))
		return EOPNOTSUPP;
	switch (driver->cqe_comp_res_format) {
	case MLX5_IB_CQE_RES_FORMAT_HASH:
	case MLX5_IB_CQE_RES_FORMAT_CSUM:
		return 0;
	case MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX:
		return adapter_cap(uc->adapter, HCA_CAP_MINI_CQE_RESP_STRIDE_INDEX) ? 0
										    : EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

static unsigned int mini_cqe_format(const struct mlx5_ib_create_cq *driver)
{
	if (driver->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX)
		return PRM_MINI_CQE_CHECKSUM_STRIDE;
	return driver->cqe_comp_res_format == MLX5_IB_CQE_RES_FORMAT_CSUM ? PRM_MINI_CQE_CHECKSUM
									  : PRM_MINI_CQE_HASH;
}

static int check_request(struct uverbs_call *uc, struct cq_request *req)
{
	const struct mlx5_ib_create_cq *driver = &req->driver;
	int ret;

	if (adapter_is_mlx4(uc->adapter) && mlx4_check_cq(req->cqe, req->flags))
		return EINVAL;
	if (req->flags &
	    ~(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN))
		return EINVAL;
	if (driver->flags &
	    ~(MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX | MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD |
	      MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS)) {
		log_note("%s: create_cq: driver flags %#x are not supported", uc->adapter->name,
			 driver->flags);
		return EOPNOTSUPP;
	}
	if (driver->reserved0 || driver->reserved1)
		return EINVAL;
	if (driver->cqe_size != 64 && driver->cqe_size != 128)
		return EINVAL;
	ret = check_compression(uc, driver);
	if (ret)
		return ret;
	if (is_padded(driver) &&
	    (driver->cqe_size != 128 || !adapter_cap(uc->adapter, HCA_CAP_CQE_128_ALWAYS)))
		return EOPNOTSUPP;
	if (req->vector >= NUM_COMP_VECTORS || check_uar(uc, req))
		return EINVAL;
	req->log_entries = log2_ceil((uint64_t)req->cqe + 1);
	if (req->log_entries > adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_CQ_SZ))
		return EINVAL;
	return 0;
}

static int pin_memory(struct uverbs_call *uc, struct cq_request *req)
{
	uint64_t bytes = (uint64_t)req->driver.cqe_size << req->log_entries;
	int ret = queue_memory_describe(req->driver.buf_addr, bytes, QUEUE_MEMORY_OFFSETS,
					&req->memory);

	if (!ret)
		ret = uc_pin(uc, req->driver.buf_addr, bytes, true);
	if (!ret)
		ret = uc_pin_record(uc, req->driver.db_addr, 8);
	return ret;
}

static void fill_cqc(struct uverbs_call *uc, const struct cq_request *req, uint8_t *cqc)
{
	fld_set(cqc, CQC_CQE_SZ, cqe_size_code(req->driver.cqe_size, is_padded(&req->driver)));
	fld_set(cqc, CQC_OI, !!(req->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN));
	if (is_compressed(&req->driver)) {
		fld_set(cqc, CQC_CQE_COMP_EN, 1);
		fld_set(cqc, CQC_MINI_CQE_RES_FORMAT, mini_cqe_format(&req->driver));
	}
	fld_set(cqc, CQC_PAGE_OFFSET, req->memory.page_offset);
	fld_set(cqc, CQC_LOG_CQ_SIZE, req->log_entries);
	fld_set(cqc, CQC_UAR_PAGE, req->uar);
	fld_set(cqc, CQC_C_EQN, uc->adapter->comp_eqn[req->vector]);
	fld_set(cqc, CQC_LOG_PAGE_SIZE, req->memory.log_page_size);
	fld_set(cqc, CQC_DBR_ADDR, client_bus_addr(uc->client, req->driver.db_addr));
}

static int create_in_device(struct uverbs_call *uc, const struct cq_request *req, uint32_t *cqn)
{
	size_t in_len = PRM_CREATE_CQ_IN_SIZE + queue_memory_bytes(&req->memory);
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE];
	int ret;

	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	if (adapter_is_mlx4(uc->adapter))
		fld_set(in, CREATE_CQ_IN_HAS_TIME,
			!!(req->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION));
	fill_cqc(uc, req, fld_at(in, CREATE_CQ_IN_CQC));
	queue_memory_put(&req->memory, uc->client, fld_at(in, CREATE_CQ_IN_PAS));
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	if (!ret)
		*cqn = fld_get(out, CREATE_CQ_OUT_CQN);
	free(in);
	return ret;
}

static int read_request(struct uverbs_call *uc, struct cq_request *req)
{
	if (uc_in(uc, UVERBS_ATTR_CREATE_CQ_CQE, &req->cqe, sizeof(req->cqe)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_CQ_USER_HANDLE, &req->user_handle, 8) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, &req->vector, sizeof(req->vector)) ||
	    uc_in(uc, UVERBS_ATTR_CREATE_CQ_FLAGS, &req->flags, sizeof(req->flags)) ||
	    uc_in(uc, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, &req->uar, sizeof(req->uar)))
		return EFAULT;
	if (adapter_is_mlx4(uc->adapter))
		return mlx4_read_cq(uc, &req->driver, &req->uar);
	return uc_in(uc, UVERBS_ATTR_UHW_IN, &req->driver, sizeof(req->driver));
}

/* Finds the channels for the CQ's events, and takes references for the event source. */
static int find_channels(struct uverbs_call *uc, struct event_source *events)
{
	const struct ib_uverbs_attr *comp = uc_attr(uc, UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL);

	if (comp) {
		events->comp = event_channel_find(uc->tid, uc->file, comp->data_s64, CHANNEL_VERBS);
		if (!events->comp)
			return EBADF;
	}
	if (uc_async_channel(uc, UVERBS_ATTR_CREATE_CQ_EVENT_FD, &events->async))
		return EBADF;
	if (events->comp)
		event_channel_get(events->comp);
	return 0;
}

static int cq_make(struct uverbs_call *uc, struct cq_request *req, struct uverbs_cq *cq)
{
	int ret = read_request(uc, req);

	if (!ret)
		ret = check_request(uc, req);
	if (!ret)
		ret = pin_memory(uc, req);
	if (!ret)
		ret = find_channels(uc, &cq->events);
	if (ret)
		return ret;
	cq->events.adapter = uc->adapter;
	cq->events.kind = SOURCE_CQ;
	cq->events.user_handle = req->user_handle;
	ret = create_in_device(uc, req, &cq->cqn);
	ret = event_source_made(&cq->events, ret, cq->cqn);
	if (ret)
		return ret;
	cq->cqe = (1u << req->log_entries) - 1;
	cq->cqe_size = req->driver.cqe_size;
	cq->padded = is_padded(&req->driver);
	cq->real_time = req->driver.flags & MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS;
	return 0;
}

static int cq_respond(struct uverbs_call *uc, const struct uverbs_cq *cq)
{
	struct mlx5_ib_create_cq_resp driver = { .cqn = cq->cqn };

	if (!uc_attr(uc, UVERBS_ATTR_UHW_OUT) ||
	    uc_out(uc, UVERBS_ATTR_CREATE_CQ_RESP_CQE, &cq->cqe, sizeof(cq->cqe)) ||
	    uc_out(uc, UVERBS_ATTR_UHW_OUT, &driver, sizeof(driver)))
		return EFAULT;
	return 0;
}

static void cq_describe(const struct uverbs_call *uc, const struct cq_request *req,
			struct uverbs_cq *cq)
{
	struct epitaph_cq entry = {
		.ring = req->driver.buf_addr,
		.dbrec = req->driver.db_addr,
		.cqe_size = req->driver.cqe_size,
		.entries = 1u << req->log_entries,
	};

	if (adapter_is_mlx4(uc->adapter))
		return; /* none, as the holder process cannot write CQEs of mlx4 */
	uc_epitaph_entry(uc, &cq->base, &entry.entry);
	epitaph_add_cq(uc->call->epitaph, &entry, &cq->epitaph);
}

static int cq_create(struct uverbs_call *uc)
{
	struct cq_request req;
	struct uverbs_cq *cq;
	int ret = object_new(sizeof(*cq), uc->file, UVERBS_OBJECT_CQ, cq_destroy, &cq);

	if (ret)
		return ret;
	ret = uc_return_made(uc, cq_make(uc, &req, cq), UVERBS_ATTR_CREATE_CQ_HANDLE, &cq->base);
	if (ret)
		return ret;
	cq_describe(uc, &req, cq);
	return uc_answered(uc, cq_respond(uc, cq), &cq->base);
}

static int cq_end(struct uverbs_call *uc, struct uverbs_cq *cq, uint16_t answer)
{
	struct ib_uverbs_destroy_cq_resp resp = { 0 };
	int ret = object_take_down(&cq->base, uc->tid);

	if (ret)
		return ret;
	resp.comp_events_reported = cq->events.comp_read;
	resp.async_events_reported = cq->events.async_read;
	object_forget(&cq->base);
	return uc_out(uc, answer, &resp, sizeof(resp));
}

static int cq_remove(struct uverbs_call *uc)
{
	return cq_end(uc, uc_object(uc, UVERBS_ATTR_DESTROY_CQ_HANDLE),
		      UVERBS_ATTR_DESTROY_CQ_RESP);
}

static int cq_remove_write(struct uverbs_call *uc)
{
	struct ib_uverbs_destroy_cq cmd;
	struct uverbs_cq *cq;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	ret = object_find(uc->file, UVERBS_OBJECT_CQ, cmd.cq_handle, &cq);
	return ret ? ret : cq_end(uc, cq, UVERBS_ATTR_CORE_OUT);
}

/* Sets moderation: after how many completions, or how long, an event is raised. */
static int cq_modify(struct uverbs_call *uc)
{
	uint8_t in[PRM_CREATE_CQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	struct ib_uverbs_ex_modify_cq cmd;
	struct uverbs_cq *cq;
	int ret;

	if (uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd)))
		return EFAULT;
	if (!cmd.attr_mask || cmd.reserved)
		return EINVAL;
	if (cmd.attr_mask & ~(uint32_t)CQ_MODERATE)
		return EOPNOTSUPP;
	ret = object_find(uc->file, UVERBS_OBJECT_CQ, cmd.cq_handle, &cq);
	if (ret)
		return ret;
	if (!adapter_cap(uc->adapter, HCA_CAP_CQ_MODERATION))
		return EOPNOTSUPP;
	if (cmd.attr.cq_period > CQ_MAX_PERIOD)
		return EINVAL;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_CQ);
	fld_set(in, MODIFY_CQ_IN_CQN, cq->cqn);
	fld_set(in, MODIFY_CQ_IN_FIELD_SELECT, PRM_MODIFY_CQ_PERIOD | PRM_MODIFY_CQ_COUNT);
	fld_set(fld_at(in, MODIFY_CQ_IN_CQC), CQC_CQ_PERIOD, cmd.attr.cq_period);
	fld_set(fld_at(in, MODIFY_CQ_IN_CQC), CQC_CQ_MAX_COUNT, cmd.attr.cq_count);
	return adapter_command(uc->adapter, in, sizeof(in), out, sizeof(out));
}

static int check_resize(struct uverbs_call *uc, const struct ib_uverbs_resize_cq *cmd,
			const struct uverbs_cq *cq, struct cq_request *req)
{
	struct mlx5_ib_resize_cq driver;
	uint64_t bytes;
	int ret;

	if (adapter_is_mlx4(uc->adapter)) {
		ret = mlx4_read_resize(uc, &driver);
		if (ret)
			return ret;
	} else if (uc_in(uc, UVERBS_ATTR_UHW_IN, &driver, sizeof(driver))) {
		return EFAULT;
	}
	if (driver.reserved0 || driver.reserved1)
		return EINVAL;
	if (driver.cqe_size != 64 && driver.cqe_size != 128)
		return EINVAL;
	if (driver.cqe_size != cq->cqe_size)
		return EINVAL; /* the device cannot change the size of CQEs */
	*req = (struct cq_request){
		.cqe = cmd->cqe,
		.driver = { .buf_addr = driver.buf_addr,
			    .cqe_size = driver.cqe_size,
			    .flags = cq->padded ? MLX5_IB_CREATE_CQ_FLAGS_CQE_128B_PAD : 0 },
		.log_entries = log2_ceil((uint64_t)cmd->cqe + 1)
	};
	bytes = (uint64_t)driver.cqe_size << req->log_entries;
	ret = queue_memory_describe(driver.buf_addr, bytes, QUEUE_MEMORY_OFFSETS, &req->memory);
	return ret ? ret : uc_pin(uc, driver.buf_addr, bytes, true);
}

static int resize_in_device(struct uverbs_call *uc, const struct cq_request *req, uint32_t cqn)
{
	size_t in_len = PRM_CREATE_CQ_IN_SIZE + queue_memory_bytes(&req->memory);
	uint8_t *in = calloc(1, in_len), out[PRM_CMD_OUT_SIZE], *cqc;
	int ret;

	if (!in)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_CQ);
	fld_set(in, CMD_IN_OP_MOD, PRM_MODIFY_CQ_OP_RESIZE);
	fld_set(in, MODIFY_CQ_IN_CQN, cqn);
	fld_set(in, MODIFY_CQ_IN_FIELD_SELECT,
		PRM_RESIZE_CQ_LOG_SIZE | PRM_RESIZE_CQ_PG_OFFSET | PRM_RESIZE_CQ_PG_SIZE);
	cqc = fld_at(in, MODIFY_CQ_IN_CQC);
	fld_set(cqc, CQC_LOG_PAGE_SIZE, req->memory.log_page_size);
	fld_set(cqc, CQC_PAGE_OFFSET, req->memory.page_offset);
	fld_set(cqc, CQC_CQE_SZ, cqe_size_code(req->driver.cqe_size, is_padded(&req->driver)));
	fld_set(cqc, CQC_LOG_CQ_SIZE, req->log_entries);
	queue_memory_put(&req->memory, uc->client, fld_at(in, MODIFY_CQ_IN_PAS));
	ret = adapter_command(uc->adapter, in, in_len, out, sizeof(out));
	free(in);
	return ret;
}

static int resize_cq(struct uverbs_call *uc, const struct ib_uverbs_resize_cq *cmd,
		     struct uverbs_cq *cq)
{
	uint32_t max = 1u << adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_CQ_SZ);
	struct cq_request req;
	int ret;

	if (!adapter_cap(uc->adapter, HCA_CAP_CQ_RESIZE))
		return ENOSYS;
	if (cmd->cqe < 1 || cmd->cqe > max || 1ull << log2_ceil(cmd->cqe + 1ull) > max + 1ull)
		return EINVAL;
	if (1ull << log2_ceil(cmd->cqe + 1ull) == cq->cqe + 1ull)
		return 0;
	ret = check_resize(uc, cmd, cq, &req);
	if (!ret)
		ret = object_will_move(&cq->base);
	if (!ret)
		engine_catch_up(uc->adapter,
				/* All work first, as completions that come before the resize may
				 * not fit afterwards. */
				ENGINE_ALL_TURNS);
	if (!ret)
		ret = resize_in_device(uc, &req, cq->cqn);
	if (ret)
		return ret;
	pinned_take(uc->client, &cq->base.pinned);
	cq->cqe = (1u << req.log_entries) - 1;
	cq->cqe_size = req.driver.cqe_size;
	if (uc->client == cq->base.maker)
		epitaph_resize_cq(&cq->epitaph, req.driver.buf_addr, cq->cqe + 1, cq->cqe_size);
	else
		epitaph_hide_cq(&cq->epitaph);
	return 0;
}

static int cq_resize(struct uverbs_call *uc)
{
	struct ib_uverbs_resize_cq_resp resp = { 0 };
	struct ib_uverbs_resize_cq cmd;
	struct uverbs_cq *cq;
	int ret = uc_in(uc, UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));

	if (!ret)
		ret = object_find(uc->file, UVERBS_OBJECT_CQ, cmd.cq_handle, &cq);
	if (!ret)
		ret = resize_cq(uc, &cmd, cq);
	if (ret)
		return ret;
	resp.cqe = cq->cqe;
	return uc_out(uc, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp.cqe));
}

static const struct uverbs_attr create_attrs[] = {
	{ UVERBS_ATTR_CREATE_CQ_HANDLE, ATTR_NEW, MANDATORY, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_CREATE_CQ_CQE, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_CQ_USER_HANDLE, ATTR_IN, MANDATORY, 8, 8, 0 },
	{ UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, ATTR_FD, OPTIONAL, 0, 0, UVERBS_OBJECT_COMP_CHANNEL },
	{ UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, ATTR_IN, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_CQ_FLAGS, ATTR_IN, OPTIONAL, 4, 8, 0 },
	{ UVERBS_ATTR_CREATE_CQ_RESP_CQE, ATTR_OUT, MANDATORY, 4, 4, 0 },
	{ UVERBS_ATTR_CREATE_CQ_EVENT_FD, ATTR_FD, OPTIONAL, 0, 0, UVERBS_OBJECT_ASYNC_EVENT },
	{ MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX, ATTR_IN, OPTIONAL, 4, 4, 0 },
	UHW_ATTRS,
};

static const struct uverbs_attr destroy_attrs[] = {
	{ UVERBS_ATTR_DESTROY_CQ_HANDLE, ATTR_DESTROY, MANDATORY, 0, 0, UVERBS_OBJECT_CQ },
	{ UVERBS_ATTR_DESTROY_CQ_RESP, ATTR_OUT, MANDATORY,
	  sizeof(struct ib_uverbs_destroy_cq_resp), sizeof(struct ib_uverbs_destroy_cq_resp), 0 },
};

static const struct uverbs_method method_table[] = {
	METHOD("CREATE_CQ", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, cq_create, create_attrs),
	METHOD("DESTROY_CQ", UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY, cq_remove, destroy_attrs),
};

static const struct uverbs_write write_table[] = {
	{ "DESTROY_CQ", IB_USER_VERBS_CMD_DESTROY_CQ, sizeof(struct ib_uverbs_destroy_cq),
	  sizeof(struct ib_uverbs_destroy_cq_resp), cq_remove_write },
	{ "RESIZE_CQ", IB_USER_VERBS_CMD_RESIZE_CQ, sizeof(struct ib_uverbs_resize_cq),
	  sizeof(uint32_t), cq_resize },
	{ "MODIFY_CQ", IB_USER_VERBS_CMD_FLAG_EXTENDED | IB_USER_VERBS_EX_CMD_MODIFY_CQ,
	  sizeof(struct ib_uverbs_ex_modify_cq), 0, cq_modify },
};

const struct uverbs_methods cq_methods = METHODS(method_table);
const struct uverbs_writes cq_writes = METHODS(write_table);
