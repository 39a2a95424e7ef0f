/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rdma_verbs.h - verbs on the QP of a struct rdma_cm_id: register memory, post one work request,
 * wait for one completion. Calls return 0 (calls that wait return the number of completions), or -1
 * with errno set. The context of a post is returned as wr_id.
 */
#ifndef RDMA_VERBS_H
#define RDMA_VERBS_H

#include <assert.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Converts a verb's result, 0 or an errno, to 0, or -1 with errno set. */
static inline int rdma_seterrno(int ret)
{
	if (!ret)
		return 0;
	errno = ret;
	return -1;
}

/* Creates id->srq, from which the id's QP receives. PD and CQs are as in rdma_create_qp(). */
int rdma_create_srq(struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
int rdma_create_srq_ex(struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *attr);
void rdma_destroy_srq(struct rdma_cm_id *id);

/* ---- memory ---- */

/* Registers memory for sends and receives. */
static inline struct ibv_mr *rdma_reg_msgs(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE);
}

/* Registers memory that the peer may read. */
static inline struct ibv_mr *rdma_reg_read(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

/* Registers memory that the peer may write. */
static inline struct ibv_mr *rdma_reg_write(struct rdma_cm_id *id, void *addr, size_t length)
{
	return ibv_reg_mr(id->pd, addr, length, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}

static inline int rdma_dereg_mr(struct ibv_mr *mr)
{
	return rdma_seterrno(ibv_dereg_mr(mr));
}

/* ---- posting a list of buffers ---- */

static inline int rdma_post_recvv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge)
{
	struct ibv_recv_wr *refused, wr;

	wr.next = NULL;
	wr.wr_id = (uintptr_t)context;
	wr.num_sge = nsge;
	wr.sg_list = sgl;
	return rdma_seterrno(id->srq ? ibv_post_srq_recv(id->srq, &wr, &refused)
				     : ibv_post_recv(id->qp, &wr, &refused));
}

static inline int rdma_post_sendv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags)
{
	struct ibv_send_wr *refused, wr;

	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	wr.next = NULL;
	wr.wr_id = (uintptr_t)context;
	wr.num_sge = nsge;
	wr.sg_list = sgl;
	return rdma_seterrno(ibv_post_send(id->qp, &wr, &refused));
}

static inline int rdma_post_readv(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				  int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr *refused, wr;

	wr.opcode = IBV_WR_RDMA_READ;
	wr.send_flags = flags;
	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.next = NULL;
	wr.wr_id = (uintptr_t)context;
	wr.num_sge = nsge;
	wr.sg_list = sgl;
	return rdma_seterrno(ibv_post_send(id->qp, &wr, &refused));
}

static inline int rdma_post_writev(struct rdma_cm_id *id, void *context, struct ibv_sge *sgl,
				   int nsge, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_send_wr *refused, wr;

	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = flags;
	wr.wr.rdma.rkey = rkey;
	wr.wr.rdma.remote_addr = remote_addr;
	wr.next = NULL;
	wr.wr_id = (uintptr_t)context;
	wr.num_sge = nsge;
	wr.sg_list = sgl;
	return rdma_seterrno(ibv_post_send(id->qp, &wr, &refused));
}

/* ---- posting one buffer: MR may be NULL for inline data ---- */

static inline int rdma_post_recv(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr)
{
	struct ibv_sge sge;

	assert((char *)addr >= (char *)mr->addr &&
	       (char *)addr + length <= (char *)mr->addr + mr->length);
	sge.lkey = mr->lkey;
	sge.length = (uint32_t)length;
	sge.addr = (uintptr_t)addr;
	return rdma_post_recvv(id, context, &sge, 1);
}

static inline int rdma_post_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags)
{
	struct ibv_sge sge;

	sge.lkey = mr ? mr->lkey : 0;
	sge.length = (uint32_t)length;
	sge.addr = (uintptr_t)addr;
	return rdma_post_sendv(id, context, &sge, 1, flags);
}

static inline int rdma_post_read(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				 struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge;

	sge.lkey = mr->lkey;
	sge.length = (uint32_t)length;
	sge.addr = (uintptr_t)addr;
	return rdma_post_readv(id, context, &sge, 1, flags, remote_addr, rkey);
}

static inline int rdma_post_write(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				  struct ibv_mr *mr, int flags, uint64_t remote_addr, uint32_t rkey)
{
	struct ibv_sge sge;

	sge.lkey = mr ? mr->lkey : 0;
	sge.length = (uint32_t)length;
	sge.addr = (uintptr_t)addr;
	return rdma_post_writev(id, context, &sge, 1, flags, remote_addr, rkey);
}

/* Sends a datagram to the QP of another datagram id. */
static inline int rdma_post_ud_send(struct rdma_cm_id *id, void *context, void *addr, size_t length,
				    struct ibv_mr *mr, int flags, struct ibv_ah *ah,
				    uint32_t remote_qpn)
{
	struct ibv_send_wr *refused, wr;
	struct ibv_sge sge;

	sge.lkey = mr ? mr->lkey : 0;
	sge.length = (uint32_t)length;
	sge.addr = (uintptr_t)addr;
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = flags;
	wr.wr.ud.remote_qkey = RDMA_UDP_QKEY;
	wr.wr.ud.remote_qpn = remote_qpn;
	wr.wr.ud.ah = ah;
	wr.next = NULL;
	wr.wr_id = (uintptr_t)context;
	wr.num_sge = 1;
	wr.sg_list = &sge;
	return rdma_seterrno(ibv_post_send(id->qp, &wr, &refused));
}

/* ---- waiting for a completion: returns 1 and fills in *WC, or returns -1 ---- */

/* Waits for a completion of CQ, which belongs to ID and reports to CHANNEL. */
static inline int rdma_await_comp(struct rdma_cm_id *id, struct ibv_cq *cq,
				  struct ibv_comp_channel *channel, struct ibv_wc *wc)
{
	struct ibv_cq *event_cq;
	void *context;
	int found, ret;

	for (;;) {
		found = ibv_poll_cq(cq, 1, wc);
		if (found)
			break;
		/* a completion between polling and arming causes no event, and waiting would sleep
		 * forever: poll again */
		ret = ibv_req_notify_cq(cq, 0);
		if (ret)
			return rdma_seterrno(ret);
		found = ibv_poll_cq(cq, 1, wc);
		if (found)
			break;
		ret = ibv_get_cq_event(channel, &event_cq, &context);
		if (ret)
			return ret;
		assert(context == id && event_cq == cq);
		(void)id; /* unused with NDEBUG */
		ibv_ack_cq_events(cq, 1);
	}
	return found < 0 ? rdma_seterrno(found) : found;
}

static inline int rdma_get_send_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rdma_await_comp(id, id->send_cq, id->send_cq_channel, wc);
}

static inline int rdma_get_recv_comp(struct rdma_cm_id *id, struct ibv_wc *wc)
{
	return rdma_await_comp(id, id->recv_cq, id->recv_cq_channel, wc);
}

#ifdef __cplusplus
}
#endif

#endif
