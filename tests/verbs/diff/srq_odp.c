/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * srq_odp.c - a shared receive queue with on-demand buffers: at a page fault the adapter gives the
 * request back, which programs must not notice. Every request completes once, with its message,
 * whatever the number of faults.
 *
 * Covers: softhca/device/queue/srq_fault.c, softhca/device/memory/odp.c
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "diff.h"

#define SLOTS    7 /* granted to an SRQ that requests this many */
#define SLOT     8192u
#define BYTES    5000u /* size of a message: more than fits into a CQE, and more than a page */
#define PATIENCE 1000

struct paged {
	struct rig_conf conf;
	struct rig *rig;
	struct ibv_pd *pd;
	struct ibv_cq *cq[2];    /* sender's, receiver's */
	struct ibv_cq_ex *cq_ex; /* receiver's CQ, for topics that use its readers */
	struct ibv_srq *srq;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr, *on_demand;
	uint8_t source[BYTES];
	uint8_t *slots;
	bool seen[SLOTS];
};

static struct ibv_qp *paged_qp(struct paged *p, struct ibv_cq *cq, struct ibv_srq *srq)
{
	struct ibv_qp_init_attr attr = { .send_cq = cq,
					 .recv_cq = cq,
					 .srq = srq,
					 .cap = { 16, 0, 1, 0, 0 },
					 .qp_type = IBV_QPT_RC };
	struct ibv_qp *qp = ibv_create_qp(p->pd, &attr);

	MUST(qp);
	return qp;
}

static struct ibv_cq *paged_cq_ex(struct paged *p)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = SLOTS, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };

	MUST(p->cq_ex = ibv_create_cq_ex(p->rig->ctx, &attr));
	return ibv_cq_ex_to_cq(p->cq_ex);
}

static void paged_open(struct rig *rig, struct paged *p, bool implicit, bool readers)
{
	struct ibv_srq_init_attr attr = { .attr = { SLOTS, 2, 0 } };

	p->rig = rig;
	p->conf = rig_conf_default();
	p->conf.rnr_retry = 7;
	p->conf.min_rnr_timer = 1;
	MUST(p->pd = ibv_alloc_pd(rig->ctx));
	MUST(p->srq = ibv_create_srq(p->pd, &attr));
	p->slots = mmap(NULL, SLOTS * SLOT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);
	MUST(p->slots != MAP_FAILED);
	MUST(p->mr = ibv_reg_mr(p->pd, p->source, BYTES, IBV_ACCESS_LOCAL_WRITE));
	MUST(p->on_demand = ibv_reg_mr(p->pd, implicit ? NULL : p->slots,
				       implicit ? SIZE_MAX : SLOTS * SLOT,
				       IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE));
	for (int i = 0; i < 2; i++) {
		p->cq[i] =
			i && readers ? paged_cq_ex(p) : ibv_create_cq(rig->ctx, 64, NULL, NULL, 0);
		MUST(p->cq[i]);
		p->qp[i] = paged_qp(p, p->cq[i], i ? p->srq : NULL);
	}
	for (int i = 0; i < 2; i++)
		rig_qp_to(rig, &p->conf, p->qp[i], p->qp[!i]->qp_num, IBV_QPS_RTS);
}

static void paged_close(struct paged *p)
{
	for (int i = 0; i < 2; i++) {
		MUST(!ibv_destroy_qp(p->qp[i]));
		MUST(!ibv_destroy_cq(p->cq[i]));
	}
	MUST(!ibv_destroy_srq(p->srq));
	MUST(!ibv_dereg_mr(p->on_demand) && !ibv_dereg_mr(p->mr));
	munmap(p->slots, SLOTS * SLOT);
	MUST(!ibv_dealloc_pd(p->pd));
}

/* The buffer is in two pieces. */
static void paged_post(struct paged *p, uint64_t slot)
{
	uint8_t *buf = p->slots + slot * SLOT;
	struct ibv_sge sges[2] = { { (uintptr_t)buf, 3000, p->on_demand->lkey },
				   { (uintptr_t)buf + 3000, SLOT - 3000, p->on_demand->lkey } };
	struct ibv_recv_wr wr = { .wr_id = slot, .sg_list = sges, .num_sge = 2 }, *bad;

	MUST(!ibv_post_srq_recv(p->srq, &wr, &bad));
	p->seen[slot] = false;
}

static bool receive_is_read(struct paged *p, struct ibv_wc *wc)
{
	struct ibv_poll_cq_attr attr = { 0 };

	if (ibv_start_poll(p->cq_ex, &attr))
		return false;
	wc->wr_id = p->cq_ex->wr_id;
	wc->status = p->cq_ex->status;
	wc->byte_len = ibv_wc_read_byte_len(p->cq_ex);
	ibv_end_poll(p->cq_ex);
	return true;
}

static bool receive_is_there(struct paged *p, struct ibv_wc *wc)
{
	if (!p->cq_ex)
		return rig_poll(p->cq[1], 1, wc) == 1;
	for (int i = 0; i < PATIENCE; i++) {
		if (receive_is_read(p, wc))
			return true;
		rig_settle();
	}
	return false;
}

static void paged_send(struct paged *p, uint8_t value)
{
	struct ibv_sge sge = { (uintptr_t)p->source, BYTES, p->mr->lkey };
	struct ibv_send_wr wr = { .sg_list = &sge,
				  .num_sge = 1,
				  .opcode = IBV_WR_SEND,
				  .send_flags = IBV_SEND_SIGNALED },
			   *bad;
	struct ibv_wc wc;
	const uint8_t *buf;

	memset(p->source, value, BYTES);
	MUST(!ibv_post_send(p->qp[0], &wr, &bad));
	MUST(receive_is_there(p, &wc));
	say("message %d: %s, %u bytes", value, ibv_wc_status_str(wc.status), wc.byte_len);
	MUST(say_check(!wc.status && wc.wr_id < SLOTS && !p->seen[wc.wr_id], "a request, once"));
	p->seen[wc.wr_id] = true;
	buf = p->slots + wc.wr_id * SLOT;
	say_check(buf[0] == value && !memcmp(buf, buf + 1, BYTES - 1), "the message is there");
	MUST(rig_poll(p->cq[0], 1, &wc) == 1);
	say("sent: %s", ibv_wc_status_str(wc.status));
}

static void paged_run(struct rig *rig, bool implicit, bool readers)
{
	struct paged p = { 0 };

	paged_open(rig, &p, implicit, readers);
	for (int round = 0; round < 3; round++) {
		for (uint64_t slot = 0; slot < SLOTS; slot++)
			paged_post(&p, slot);
		for (int i = 0; i < SLOTS; i++)
			paged_send(&p, (uint8_t)(round * SLOTS + i));
		/* drops the pages, so that the next message faults */
		MUST(!madvise(p.slots, SLOTS * SLOT, MADV_DONTNEED));
	}
	paged_close(&p);
}

void diff_srq_odp(struct rig *rig)
{
	struct ibv_device_attr_ex device;

	MUST(!ibv_query_device_ex(rig->ctx, NULL, &device));
	if (!(device.odp_caps.per_transport_caps.rc_odp_caps & IBV_ODP_SUPPORT_SRQ_RECV))
		return;
	paged_run(rig, false, false);
	paged_run(rig, true, false);
	paged_run(rig, false, true);
}
