/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ring.c - writes table entries into the adapter's memory. See ring.h.
 *
 * The QP is one of verbs, so that its requests are those of the data path. Its states come from
 * DevX commands: the path of verbs needs a GID and a link that is up, and forced loopback needs
 * neither. PRM: ADS fl
 */
#include "providers/mlx5/dv/dr/ring.h"

#include <time.h>

#include "prm/mlx5/av.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/qpc.h"
#include "providers/mlx5/devx_cmd.h"
#include "providers/mlx5/dv/dv.h"
#include "providers/mlx5/qp/qp.h"

enum {
	SIGNAL_EACH = DR_RING_WRITES / 4,
	WRS_OF_WRITE = 2, /* requests for each write: the WRITE and its READ */
	STAGED_SIZE = DR_RING_STAGED * PRM_STE_SIZE,
	BUFFER_SIZE = 2 * STAGED_SIZE,
	WAIT_S = 5,           /* limit of a wait for a CQE, far longer than the QP's retries */
	POLLS_OF_LOOK = 1024, /* empty polls for each look at the clock */
};

static int qp_change(struct ibv_qp *qp, uint16_t op, uint8_t in[PRM_MODIFY_QP_IN_SIZE])
{
	fld_set(in, CMD_IN_OPCODE, op);
	fld_set(in, MODIFY_QP_IN_QPN, qp->qp_num);
	return mlx5_devx_qp_modify(qp, in, PRM_MODIFY_QP_IN_SIZE);
}

static int qp_to_init(struct ibv_qp *qp)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, *qpc = fld_at(in, MODIFY_QP_IN_QPC);

	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	fld_set(qpc, QPC_RRE, 1);
	fld_set(qpc, QPC_RWE, 1);
	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_VHCA_PORT_NUM, 1);
	return qp_change(qp, PRM_OP_RST2INIT_QP, in);
}

static int qp_to_rtr(struct ibv_qp *qp)
{
	enum { LOG_MSG_MAX = 24, MIN_RNR_NAK = 1 };
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, *qpc = fld_at(in, MODIFY_QP_IN_QPC);
	uint8_t *path = fld_at(qpc, QPC_PRIMARY_PATH);

	fld_set(qpc, QPC_MTU, IBV_MTU_1024);
	fld_set(qpc, QPC_LOG_MSG_MAX, LOG_MSG_MAX);
	fld_set(qpc, QPC_REMOTE_QPN, qp->qp_num);
	fld_set(qpc, QPC_MIN_RNR_NAK, MIN_RNR_NAK);
	fld_set(path, ADS_FL, 1);
	fld_set(path, ADS_VHCA_PORT_NUM, 1);
	return qp_change(qp, PRM_OP_INIT2RTR_QP, in);
}

static int qp_to_rts(struct ibv_qp *qp)
{
	enum { ACK_TIMEOUT = 8, RETRIES = 7 };
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, *qpc = fld_at(in, MODIFY_QP_IN_QPC);

	fld_set(fld_at(qpc, QPC_PRIMARY_PATH), ADS_ACK_TIMEOUT, ACK_TIMEOUT);
	fld_set(qpc, QPC_RETRY_COUNT, RETRIES);
	fld_set(qpc, QPC_RNR_RETRY, RETRIES);
	return qp_change(qp, PRM_OP_RTR2RTS_QP, in);
}

static int qp_connect(struct ibv_qp *qp)
{
	int ret = qp_to_init(qp);

	if (!ret)
		ret = qp_to_rtr(qp);
	if (!ret)
		ret = qp_to_rts(qp);
	if (!ret)
		mlx5_qp_note_rts(qp);
	return ret;
}

static int qp_make(struct dr_ring *ring)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = ring->cq,
		.recv_cq = ring->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = WRS_OF_WRITE * DR_RING_WRITES,
			.max_send_sge = 1,
			.max_inline_data = PRM_STE_SIZE,
		},
	};

	ring->qp = ibv_create_qp(ring->memory->pd, &attr);
	return ring->qp ? qp_connect(ring->qp) : errno;
}

static int ring_make(struct dr_ring *ring)
{
	struct ibv_pd *pd = ring->memory->pd;

	int ret = provider_hwbuf_alloc(BUFFER_SIZE, &ring->buffer);

	if (ret)
		return ret;
	ring->staged = ring->buffer.addr;
	ring->mr = ibv_reg_mr(pd, ring->staged, BUFFER_SIZE, IBV_ACCESS_LOCAL_WRITE);
	if (!ring->mr)
		return errno;
	ring->cq = ibv_create_cq(ring->memory->context, DR_RING_WRITES, NULL, NULL, 0);
	return ring->cq ? qp_make(ring) : errno;
}

int mlx5_dr_ring_open(struct dr_ring *ring, const struct dr_memory *memory)
{
	int ret;

	*ring = (struct dr_ring){ .memory = memory };
	ret = ring_make(ring);
	if (!ret)
		return 0;
	verbs_warn("direct rules: no queue pair for writing entries: errno %d", ret);
	mlx5_dr_ring_close(ring);
	return ret;
}

void mlx5_dr_ring_close(struct dr_ring *ring)
{
	if (ring->qp)
		ibv_destroy_qp(ring->qp);
	if (ring->cq)
		ibv_destroy_cq(ring->cq);
	if (ring->mr)
		ibv_dereg_mr(ring->mr);
	provider_hwbuf_free(&ring->buffer);
	*ring = (struct dr_ring){ .memory = NULL };
}

static int ring_fail(struct dr_ring *ring, int error, int status)
{
	verbs_warn("direct rules: the adapter's memory is not written: errno %d, status %d", error,
		   status);
	dr_ring_set_error(ring, error);
	return error;
}

static time_t now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* Waits for the next CQE. Fails after about WAIT_S seconds, because a lost adapter writes none. */
static int cqe_wait(struct dr_ring *ring, struct ibv_wc *wc)
{
	time_t end = 0;

	for (unsigned int polls = 1;; polls++) {
		const int count = ibv_poll_cq(ring->cq, 1, wc);

		if (count < 0 || (count && wc->status != IBV_WC_SUCCESS))
			return ring_fail(ring, EIO, count < 0 ? count : (int)wc->status);
		if (count)
			return 0;
		if (polls % POLLS_OF_LOOK)
			continue;
		if (end && now_s() > end)
			return ring_fail(ring, ETIMEDOUT, 0);
		end = end ? end : now_s() + WAIT_S;
	}
}

/* Waits until at most MAX writes are in flight. MAX is at least ring->unsignaled, because those
 * writes complete only with a later signaled READ. */
static int ring_wait(struct dr_ring *ring, unsigned int max)
{
	struct ibv_wc wc;

	while (!ring->error && ring->in_flight > max)
		if (!cqe_wait(ring, &wc))
			ring->in_flight -= (unsigned int)wc.wr_id;
	return ring->error;
}

/* Posts a WRITE of DATA and a READ of the same bytes. A signaled READ's wr_id is the number of
 * writes that it completes. */
static int ring_post(struct dr_ring *ring, uint32_t place, struct ibv_sge *data, bool is_inline,
		     bool is_last)
{
	const uint32_t rkey = ring->memory->pools[place >> DR_POOL_LOG].mr->rkey;
	const bool signals = is_last || ring->unsignaled + 1 >= SIGNAL_EACH;
	struct ibv_sge back = {
		.addr = (uintptr_t)(ring->staged + STAGED_SIZE),
		.length = data->length,
		.lkey = ring->mr->lkey,
	};
	struct ibv_send_wr read = {
		.wr_id = ring->unsignaled + 1,
		.sg_list = &back,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = signals ? IBV_SEND_SIGNALED : 0,
		.wr.rdma = { .remote_addr = dr_place_offset(place), .rkey = rkey },
	};
	struct ibv_send_wr write = {
		.next = &read,
		.sg_list = data,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = is_inline ? IBV_SEND_INLINE : 0,
		.wr.rdma = read.wr.rdma,
	};
	struct ibv_send_wr *bad;
	int ret = ring_wait(ring, DR_RING_WRITES - 1);

	if (!ret)
		ret = ibv_post_send(ring->qp, &write, &bad);
	if (ret)
		return ring->error ? ret : ring_fail(ring, ret, 0);
	ring->unsignaled = signals ? 0 : ring->unsignaled + 1;
	ring->in_flight++;
	return 0;
}

int mlx5_dr_ring_write(struct dr_ring *ring, uint32_t place, const uint8_t entry[PRM_STE_SIZE])
{
	struct ibv_sge data = { .addr = (uintptr_t)entry, .length = PRM_STE_SIZE };

	return ring_post(ring, place, &data, true, false);
}

/* Writes COUNT entries from the staging buffer. Waits for the end, because the caller reuses the
 * buffer. */
static int staged_write(struct dr_ring *ring, uint32_t place, uint32_t count)
{
	struct ibv_sge data = {
		.addr = (uintptr_t)ring->staged,
		.length = count * PRM_STE_SIZE,
		.lkey = ring->mr->lkey,
	};
	int ret = ring_post(ring, place, &data, false, true);

	return ret ? ret : ring_wait(ring, 0);
}

/* Writes COUNT entries that FILL composes. After a failed write, stages nothing, because the
 * adapter may still read the bytes of that write. */
int mlx5_dr_ring_fill(struct dr_ring *ring, uint32_t place, uint32_t count,
		      void (*fill)(const void *arg, uint32_t i, uint8_t *entry), const void *arg)
{
	int ret = ring->error;

	for (uint32_t done = 0; !ret && done < count;) {
		const uint32_t part = count - done < DR_RING_STAGED ? count - done : DR_RING_STAGED;

		for (uint32_t i = 0; i < part; i++)
			(*fill)(arg, done + i, ring->staged + (size_t)i * PRM_STE_SIZE);
		ret = staged_write(ring, place + done, part);
		done += part;
	}
	return ret;
}

/* Waits for the writes in flight. If the last ones are unsignaled, posts a signaled READ of the
 * first entry, whose CQE completes them. */
static __attribute__((noinline)) int writes_drain(struct dr_ring *ring)
{
	struct ibv_sge back = {
		.addr = (uintptr_t)(ring->staged + STAGED_SIZE),
		.length = PRM_STE_SIZE,
		.lkey = ring->mr->lkey,
	};
	struct ibv_send_wr *bad, read = {
		.wr_id = ring->unsignaled,
		.sg_list = &back,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.rkey = ring->memory->pools[0].mr->rkey,
	};
	int ret = ring_wait(ring, ring->unsignaled);

	if (ret || !ring->unsignaled)
		return ret;
	ret = ibv_post_send(ring->qp, &read, &bad);
	if (ret)
		return ring_fail(ring, ret, 0);
	ring->unsignaled = 0;
	return ring_wait(ring, 0);
}

int mlx5_dr_ring_drain(struct dr_ring *ring)
{
	return ring->in_flight ? writes_drain(ring) : ring->error;
}
