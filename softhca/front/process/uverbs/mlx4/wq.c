/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * wq.c - WQs, indirection tables and RSS QPs of mlx4. See mlx4/wq.h.
 *
 * The adapter finds a table's queues from the first one's number, so WQs get consecutive numbers
 * from ranges that programs ask for. Source: mlx4_ib_create_wq() and its neighbours in Linux 6.1
 * (mlx4/qp.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx4-abi.h>

#include "prm/mlx4/wqe.h"
#include "prm/mlx5/caps.h"
#include "prm/mlx5/tir.h"
#include "softhca/front/process/driver/frame_qpns.h"
#include "softhca/front/process/driver/qp_state.h"
#include "softhca/front/process/driver/raw_qp.h"
#include "softhca/front/process/uverbs/mlx4/mlx4.h"
#include "softhca/front/process/uverbs/mlx4/wq.h"
#include "softhca/front/process/uverbs/wq_request.h"
#include "util/bits.h"

enum {
	WQT_RQ = 0,
	STATE_RESET = 0,
	STATE_READY = 1,
	STATE_ERROR = 2,
	LOG_MAX_WQES = 14,
	SPARE_WQES = 33,
	MAX_SGE = 32,
};

struct wqn_range {
	uint32_t first, size, used;
	bool dirty; /* one of its WQs was destroyed, so add no more */
};

static int size_queue(const struct wq_request *req, struct mlx5_ib_create_wq *driver)
{
	if (!req->max_wr || !req->max_sge || req->max_sge > MAX_SGE ||
	    req->max_wr > (1u << LOG_MAX_WQES) - SPARE_WQES)
		return EINVAL;
	driver->rq_wqe_count = 1u << log2_ceil(req->max_wr);
	driver->rq_wqe_shift = log2_ceil((uint64_t)req->max_sge * M4_SEG);
	return 0;
}

/* Pins the ring. The driver also takes memory for one send WQE, and the adapter has the larger ring
 * first, so both count. */
static int pin_memory(struct uverbs_call *uc, const struct mlx5_ib_create_wq *driver)
{
	uint64_t bytes = ((uint64_t)driver->rq_wqe_count << driver->rq_wqe_shift) + M4_PIECE;

	return uc_pin(uc, driver->buf_addr, bytes, true);
}

int mlx4_read_wq(struct uverbs_call *uc, struct wq_request *req)
{
	struct mlx4_ib_create_wq part = { 0 };
	int ret;

	if (uc_len(uc, UVERBS_ATTR_UHW_IN) < sizeof(part))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	if (req->type != WQT_RQ || req->flags || part.comp_mask || part.reserved[0] ||
	    part.reserved[1] || part.reserved[2] ||
	    part.log_range_size > adapter_cap(uc->adapter, HCA_CAP_LOG_MAX_RQT_SIZE))
		return EOPNOTSUPP;
	req->log_range = part.log_range_size;
	req->driver = (struct mlx5_ib_create_wq){
		.buf_addr = mlx4_ring_in(part.buf_addr),
		.db_addr = part.db_addr,
		.user_index = PRM_NO_USER_INDEX,
	};
	ret = size_queue(req, &req->driver);
	req->skip = req->driver.rq_wqe_shift > M4_MIN_SLOT_LOG ? 0 : M4_PIECE;
	return ret ? ret : pin_memory(uc, &req->driver);
}

static int open_range(struct uverbs_call *uc, uint32_t size, struct wqn_range **out)
{
	struct wqn_range *range = calloc(1, sizeof(*range));
	int ret = range ? frame_qpns_reserve(uc->adapter, size, false, &range->first) : ENOMEM;

	if (ret) {
		free(range);
		return ret;
	}
	range->size = size;
	*out = range;
	return 0;
}

/* Takes a number. A new range is refused until the last one is full: an RSS QP needs consecutive
 * numbers, so a range must not have gaps. */
int mlx4_wqn_take(struct uverbs_call *uc, const struct wq_request *req, struct wqn_range **range,
		  uint32_t *number)
{
	struct wqn_range *last = uc->file->wqns;
	uint32_t size = 1u << req->log_range;
	int ret = 0;

	if (!last || last->used == last->size || last->dirty)
		ret = open_range(uc, size, &uc->file->wqns);
	else if (size != 1)
		ret = EINVAL;
	if (ret)
		return ret;
	*range = uc->file->wqns;
	*number = (*range)->first + (*range)->used++;
	return 0;
}

void mlx4_wqn_put(struct uverbs_file *file, struct wqn_range *range)
{
	range->dirty = true;
	if (--range->used)
		return;
	frame_qpns_release(file->adapter, range->first, range->size);
	if (file->wqns == range)
		file->wqns = NULL;
	free(range);
}

/* Checks that the driver's part is present, though it has no content. */
static int check_change_part(struct uverbs_call *uc)
{
	struct mlx4_ib_modify_wq part;

	if (uc_len(uc, UVERBS_ATTR_UHW_IN) < sizeof(part))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, &part, sizeof(part)))
		return EFAULT;
	return part.comp_mask || part.reserved ? EOPNOTSUPP : 0;
}

int mlx4_check_wq_change(struct uverbs_call *uc, bool has_flags, uint32_t from, uint32_t to)
{
	int ret = check_change_part(uc);

	if (ret)
		return ret;
	if (has_flags)
		return EOPNOTSUPP;
	if (to == STATE_READY && from == STATE_ERROR)
		return EINVAL;
	return to == STATE_ERROR && from == STATE_RESET ? EINVAL : 0;
}

int mlx4_check_table(const uint32_t *wqn, unsigned int count)
{
	if (wqn[0] % count)
		return EINVAL;
	for (unsigned int i = 1; i < count; i++)
		if (wqn[i] != wqn[0] + i)
			return EINVAL;
	return 0;
}

int mlx4_check_spread_change(unsigned int from, unsigned int to)
{
	bool begins = from == QP_RESET && to == QP_INIT, goes_on = from == QP_INIT && to == QP_RTR;

	return begins || goes_on ? 0 : EOPNOTSUPP;
}

enum {
	IPV4 = MLX4_IB_RX_HASH_SRC_IPV4 | MLX4_IB_RX_HASH_DST_IPV4,
	IPV6 = MLX4_IB_RX_HASH_SRC_IPV6 | MLX4_IB_RX_HASH_DST_IPV6,
	TCP = MLX4_IB_RX_HASH_SRC_PORT_TCP | MLX4_IB_RX_HASH_DST_PORT_TCP,
	UDP = MLX4_IB_RX_HASH_SRC_PORT_UDP | MLX4_IB_RX_HASH_DST_PORT_UDP,
	KNOWN_FIELDS = IPV4 | IPV6 | TCP | UDP,
};

/* Returns whether the selection is complete: both addresses or none, both ports or none, and ports
 * only with addresses. */
static bool is_whole(uint64_t mask)
{
	static const uint64_t kinds[] = { IPV4, IPV6, TCP, UDP };

	for (unsigned int i = 0; i < ARRAY_SIZE(kinds); i++)
		if (mask & kinds[i] && (mask & kinds[i]) != kinds[i])
			return false;
	return !(mask & (TCP | UDP)) || mask & (IPV4 | IPV6);
}

static int read_spread(struct uverbs_call *uc, struct mlx4_ib_create_qp_rss *part)
{
	static const uint8_t zero[sizeof(part->reserved)];

	if (uc_len(uc, UVERBS_ATTR_UHW_IN) < sizeof(*part))
		return EINVAL;
	if (uc_in(uc, UVERBS_ATTR_UHW_IN, part, sizeof(*part)))
		return EFAULT;
	if (memcmp(part->reserved, zero, sizeof(zero)) || part->comp_mask || part->reserved1)
		return EOPNOTSUPP;
	if (part->rx_hash_function != MLX4_IB_RX_HASH_FUNC_TOEPLITZ)
		return EOPNOTSUPP;
	if (part->rx_hash_fields_mask & ~(uint64_t)KNOWN_FIELDS)
		return EOPNOTSUPP; /* inner headers of tunnels */
	return is_whole(part->rx_hash_fields_mask) ? 0 : EOPNOTSUPP;
}

int mlx4_spread(struct uverbs_call *uc, const struct uverbs_rwq_table *table, struct raw_qp **raw)
{
	struct raw_request request = { .rqtn = table->rqtn };
	struct mlx4_ib_create_qp_rss part;
	struct eth_hash hash = { 0 };
	int ret = read_spread(uc, &part);

	if (ret)
		return ret;
	hash.ipv4 = part.rx_hash_fields_mask & IPV4;
	hash.ipv6 = part.rx_hash_fields_mask & IPV6;
	hash.tcp = part.rx_hash_fields_mask & TCP;
	hash.udp = part.rx_hash_fields_mask & UDP;
	hash.fields = (hash.ipv4 || hash.ipv6 ? PRM_HASH_SRC_IP | PRM_HASH_DST_IP : 0) |
		      (hash.tcp || hash.udp ? PRM_HASH_L4_SPORT | PRM_HASH_L4_DPORT : 0);
	memcpy(hash.key, part.rx_hash_key, sizeof(hash.key));
	request.hash = &hash;
	ret = frame_qpns_reserve(uc->adapter, 1, false, &request.number);
	if (ret)
		return ret;
	ret = raw_qp_make(uc->adapter, &request, raw);
	if (ret)
		frame_qpns_release(uc->adapter, request.number, 1);
	return ret;
}
