/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flat.c - see flat.h. Builds mailboxes and WQEs with code of its own, as an independent check of
 * the core's decoding.
 */
#include <errno.h>
#include <unistd.h>

#include "flat.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqc.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/mkc.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/srqc.h"
#include "prm/mlx5/vport.h"
#include "prm/mlx5/wq.h"
#include "prm/mlx5/wqe.h"

struct flat flat;

static int access_seg(const struct hca_bus_seg *seg)
{
	if (seg->addr + seg->len > FLAT_MEM || seg->addr + seg->len < seg->addr)
		return EFAULT;
	if (flat.hole_len && seg->addr < flat.hole + flat.hole_len &&
	    seg->addr + seg->len > flat.hole)
		return flat.hole_error ? flat.hole_error : EFAULT;
	return 0;
}

static int bus_read(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf)
{
	uint8_t *to = buf;

	(void)bus;
	flat.reads++;
	for (; nsegs; segs++, nsegs--) {
		int ret = access_seg(segs);

		if (ret)
			return ret;
		memcpy(to, flat.mem + segs->addr, segs->len);
		to += segs->len;
	}
	return 0;
}

static void note_written(const struct hca_bus_seg *seg)
{
	unsigned int slot = flat.pieces++ % FLAT_WRITTEN;

	flat.written[slot].addr = seg->addr;
	flat.written[slot].len = seg->len;
}

unsigned int flat_when_written(uint64_t addr)
{
	for (unsigned int age = 0; age < FLAT_WRITTEN && age < flat.pieces; age++) {
		unsigned int slot = (flat.pieces - 1 - age) % FLAT_WRITTEN;

		if (addr - flat.written[slot].addr < flat.written[slot].len)
			return flat.pieces - age;
	}
	return 0;
}

static int bus_write(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, const void *buf)
{
	const uint8_t *from = buf;

	(void)bus;
	flat.writes++;
	for (; nsegs; segs++, nsegs--) {
		int ret = access_seg(segs);

		if (ret)
			return ret;
		memcpy(flat.mem + segs->addr, from, segs->len);
		note_written(segs);
		from += segs->len;
	}
	return 0;
}

/* Identifies the page behind a bus address; a moved range has other pages. */
static uint64_t bus_page(void *bus, uint64_t addr)
{
	bool moved = addr - flat.moved < flat.moved_len;

	(void)bus;
	return (addr >> 12) + 1 + (moved ? 1ull << 32 : 0);
}

static bool bus_page_may_move(void *bus, uint64_t addr)
{
	(void)bus;
	(void)addr;
	return flat.may_move;
}

static const struct hca_bus_ops bus_ops = { bus_read, bus_write, bus_page, bus_page_may_move };

static void on_event(void *front, uint32_t eqn, const uint8_t eqe[64])
{
	(void)front;
	assert_in_range(flat.events, 0, FLAT_EVENTS - 1);
	flat.event_eqn[flat.events] = eqn;
	flat.event_after[flat.events] = flat.pieces;
	memcpy(flat.event[flat.events++], eqe, 64);
}

static void on_interrupt(void *front, uint32_t vector)
{
	(void)front;
	flat.interrupts++;
	flat.vector = vector;
}

unsigned int flat_count_events(uint8_t type)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < flat.events; i++)
		count += flat.event[i][1] == type;
	return count;
}

/* ---- commands ---- */

void flat_cmd_expect(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len,
		     enum prm_status expect)
{
	hca_exec(hca, in, in_len, out, out_len);
	assert_int_equal(fld_get(out, CMD_OUT_STATUS), expect);
}

void flat_cmd(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len)
{
	flat_cmd_expect(hca, in, in_len, out, out_len, PRM_STAT_OK);
}

uint32_t flat_simple(struct hca *hca, uint32_t opcode, uint32_t number, enum prm_status expect)
{
	uint8_t in[16] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, FLD(0x8, 23, 0), number);
	flat_cmd_expect(hca, in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, FLD(0x8, 23, 0));
}

static uint32_t create_eq(struct hca *hca)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	fld_set64(in, FLD_BYTE(CREATE_EQ_IN_EVENT_BITMASK), ~1ull);
	flat_cmd(hca, in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
}

uint64_t flat_alloc(uint64_t size, uint64_t align)
{
	uint64_t at = (flat.used + align - 1) & ~(align - 1);

	flat.used = at + size;
	assert_in_range(flat.used, 0, FLAT_MEM);
	return at;
}

static void pas_reverse(uint8_t *pas, size_t count)
{
	uint64_t page;

	for (uint64_t i = 0; i < count / 2; i++) {
		page = fld_get64(pas, 8 * i);
		fld_set64(pas, 8 * i, fld_get64(pas, 8 * (count - 1 - i)));
		fld_set64(pas, 8 * (count - 1 - i), page);
	}
}

static size_t put_pas(uint8_t *pas, uint64_t addr, uint64_t len)
{
	uint64_t page = addr & ~0xfffull;
	size_t count = 0;

	for (; page < addr + len; page += 4096)
		fld_set64(pas, 8 * count++, page);
	if (flat.backwards)
		pas_reverse(pas, count);
	return count;
}

uint32_t flat_mr_iova(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, uint64_t iova,
		      int access)
{
	size_t room = PRM_CREATE_MKEY_IN_SIZE + 8 * (len / 4096 + 3);
	uint8_t *in = calloc(1, room), out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);
	size_t pages = put_pas(fld_at(in, CREATE_MKEY_IN_PAS), addr, len);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, PRM_MKEY_MODE_MTT);
	fld_set(mkc, MKC_LR, 1);
	fld_set(mkc, MKC_LW, !!(access & LOCAL_WRITE));
	fld_set(mkc, MKC_RW, !!(access & REMOTE_WRITE));
	fld_set(mkc, MKC_RR, !!(access & REMOTE_READ));
	fld_set(mkc, MKC_A, !!(access & REMOTE_ATOMIC));
	fld_set(in, CREATE_MKEY_IN_PG_ACCESS, !!(access & ON_DEMAND));
	fld_set(mkc, MKC_EN_RINVAL, !!(access & REMOTE_INVALIDATE));
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_MKEY_7_0, 0x5a);
	fld_set(mkc, MKC_PD, pd);
	fld_set(mkc, MKC_START_ADDR, iova);
	fld_set(mkc, MKC_LEN, len);
	fld_set(mkc, MKC_LOG_PAGE_SIZE, 12);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, (pages + 1) / 2);
	flat_cmd(hca, in, room, out, sizeof(out));
	free(in);
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8 | 0x5a;
}

uint32_t flat_mr(struct hca *hca, uint32_t pd, uint64_t addr, uint64_t len, int access)
{
	return flat_mr_iova(hca, pd, addr, len, addr, access);
}

uint32_t flat_free_mkey(struct hca *hca, uint32_t pd, uint32_t mode, uint32_t octowords)
{
	uint8_t in[PRM_CREATE_MKEY_IN_SIZE] = { 0 }, out[16];
	uint8_t *mkc = fld_at(in, CREATE_MKEY_IN_MKC);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_MKEY);
	fld_set(mkc, MKC_FREE, 1);
	fld_set(mkc, MKC_UMR_EN, 1);
	fld_set(mkc, MKC_ACCESS_MODE_1_0, mode);
	fld_set(mkc, MKC_EN_RINVAL, 1);
	fld_set(mkc, MKC_QPN, 0xffffff);
	fld_set(mkc, MKC_MKEY_7_0, 0x11);
	fld_set(mkc, MKC_PD, pd);
	fld_set(mkc, MKC_TRANSLATIONS_OCTWORD_SIZE, octowords);
	flat_cmd(hca, in, sizeof(in), out, sizeof(out));
	return fld_get(out, CREATE_MKEY_OUT_MKEY_INDEX) << 8 | 0x11;
}

static int index_of(const struct hca *hca)
{
	return hca == flat.hca[1];
}

struct flat_cq *flat_cq(struct hca *hca, uint32_t log_size, uint32_t cqe_size)
{
	struct flat_cq *cq = test_calloc(1, sizeof(*cq));
	uint32_t flags = cqe_size & ~(FLAT_PADDED - 1u);
	bool padded = flags & FLAT_PADDED;
	uint64_t len = (uint64_t)(cqe_size -= flags) << log_size;
	uint8_t *in = calloc(1, PRM_CREATE_CQ_IN_SIZE + 8 * (len / 4096 + 2)), out[16];
	uint8_t *cqc = fld_at(in, CREATE_CQ_IN_CQC);

	cq->hca = hca;
	cq->log_size = log_size;
	cq->cqe_size = cqe_size;
	cq->stride = padded ? 2 : cqe_size == 128;
	cq->ring = flat_alloc(len, 4096);
	cq->dbr = flat_alloc(8, 64);
	for (uint64_t i = 0; i < 1ull << log_size; i++)
		flat.mem[cq->ring + (i + 1) * cqe_size - 1] = 0xf1;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_CQ);
	fld_set(cqc, CQC_CQE_SZ, cq->stride);
	fld_set(cqc, CQC_CQE_COMP_EN, !!(flags & FLAT_COMPRESSED));
	fld_set(cqc, CQC_MINI_CQE_RES_FORMAT, flags >> FLAT_FORMAT_SHIFT & 3);
	fld_set(cqc, CQC_CQE_COMPRESSION_LAYOUT, !!(flags & FLAT_BLOCKS));
	fld_set(cqc, CQC_LOG_CQ_SIZE, log_size);
	fld_set(cqc, CQC_UAR_PAGE, flat.uar[index_of(hca)]);
	fld_set(cqc, CQC_C_EQN, flat.eqn[index_of(hca)]);
	fld_set(cqc, CQC_DBR_ADDR, cq->dbr);
	put_pas(fld_at(in, CREATE_CQ_IN_PAS), cq->ring, len);
	flat_cmd(hca, in, PRM_CREATE_CQ_IN_SIZE + 8 * (len / 4096 + 1), out, sizeof(out));
	free(in);
	cq->n = fld_get(out, CREATE_CQ_OUT_CQN);
	return cq;
}

static uint32_t or_default(uint32_t value, uint32_t otherwise)
{
	return value ? value : otherwise;
}

static void put_qpc(const struct flat_qp *qp, const struct flat_qp_attr *attr, uint8_t *qpc)
{
	fld_set(qpc, QPC_ST, attr->st);
	fld_set(qpc, QPC_BLOCK_LB_MC, attr->block_lb_mc);
	fld_set(qpc, QPC_PM_STATE, PRM_QP_PM_STATE_MIGRATED);
	fld_set(qpc, QPC_PD, qp->pd);
	fld_set(qpc, QPC_RQ_TYPE, attr->rq_type);
	fld_set(qpc, QPC_SRQN_RMPN_XRQN, attr->srqn);
	fld_set(qpc, QPC_XRCD, attr->xrcd);
	fld_set(qpc, QPC_LOG_RQ_SIZE, qp->rq_log);
	fld_set(qpc, QPC_LOG_RQ_STRIDE, qp->rq_stride == 128 ? 3 : 1);
	fld_set(qpc, QPC_LOG_SQ_SIZE, qp->sq_log);
	fld_set(qpc, QPC_UAR_PAGE, flat.uar[index_of(qp->hca)]);
	fld_set(qpc, QPC_USER_INDEX, 0xabc);
	fld_set(qpc, QPC_CQN_SND, qp->send_cq->n);
	fld_set(qpc, QPC_CQN_RCV, attr->no_recv_cq ? 0 : qp->recv_cq->n);
	fld_set(qpc, QPC_DBR_ADDR, qp->dbr);
	fld_set(qpc, QPC_CS_REQ, attr->cs_req);
	fld_set(qpc, QPC_CS_RES, attr->cs_res);
	fld_set(qpc, QPC_PAGE_OFFSET, attr->rq_offset / 64);
	fld_set(qpc, QPC_WQ_SIGNATURE, attr->signatures);
	fld_set(qpc, QPC_FRE, attr->fast_reg);
	fld_set(qpc, QPC_NO_SQ, attr->offloaded);
	fld_set(qpc, QPC_OFFLOAD_TYPE, attr->offloaded ? PRM_QPC_OFFLOAD_TYPE_RNDV : 0);
}

struct flat_qp *flat_qp(int hca, const struct flat_qp_attr *attr)
{
	static const struct flat_qp_attr none;
	struct flat_qp *qp = test_calloc(1, sizeof(*qp));
	uint8_t in[PRM_CREATE_QP_IN_SIZE + 8 * 64] = { 0 }, out[16];
	uint64_t len;

	attr = attr ? attr : &none;
	qp->hca = flat.hca[hca];
	qp->pd = flat.pd[hca];
	qp->rq_log = or_default(attr->rq_log, 4);
	qp->sq_log = or_default(attr->sq_log, 6);
	qp->rq_stride = attr->rq_type ? 0 : or_default(attr->rq_stride, 32);
	len = ((uint64_t)qp->rq_stride << qp->rq_log) + (64ull << qp->sq_log);
	qp->rq = flat_alloc(attr->rq_offset + len, 4096) + attr->rq_offset;
	qp->sq = qp->rq + ((uint64_t)qp->rq_stride << qp->rq_log);
	qp->dbr = flat_alloc(8, 64);
	qp->send_cq = flat_cq(qp->hca, or_default(attr->cq_log, 6), or_default(attr->cqe_size, 64));
	qp->recv_cq = flat_cq(qp->hca, or_default(attr->cq_log, 6), or_default(attr->cqe_size, 64));
	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_QP);
	put_qpc(qp, attr, fld_at(in, CREATE_QP_IN_QPC));
	put_pas(fld_at(in, CREATE_QP_IN_PAS), qp->rq, len);
	flat_cmd_expect(qp->hca, in, sizeof(in), out, sizeof(out), attr->create_status);
	qp->n = fld_get(out, CREATE_QP_OUT_QPN);
	return qp;
}

static uint32_t lid_of(struct hca *hca)
{
	uint8_t in[16] = { 0 }, out[16 + PRM_HCA_VPORT_CONTEXT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_VPORT_CONTEXT);
	flat_cmd(hca, in, sizeof(in), out, sizeof(out));
	return fld_get(fld_at(out, QUERY_HCA_VPORT_CONTEXT_OUT_HCA_VPORT_CONTEXT),
		       HCA_VPORT_CONTEXT_LID);
}

static void put_path(const struct flat_qp *peer, const struct flat_qp_attr *attr, uint8_t *ads)
{
	fld_set(ads, ADS_VHCA_PORT_NUM, 1);
	fld_set(ads, ADS_FL, attr->comes_back);
	if (attr->to_nowhere)
		return;
	fld_set(ads, ADS_RLID, lid_of(peer->hca));
	/* GIDs of flat_setup_roce() */
	memset(fld_at(ads, ADS_RGID_RIP), 0x20 + index_of(peer->hca), 16);
}

static void transition(struct flat_qp *qp, const struct flat_qp *peer,
		       const struct flat_qp_attr *attr, uint32_t opcode)
{
	uint8_t in[PRM_MODIFY_QP_IN_SIZE] = { 0 }, out[16];
	uint8_t *qpc = fld_at(in, MODIFY_QP_IN_QPC);

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	put_path(peer, attr, fld_at(qpc, QPC_PRIMARY_PATH));
	fld_set(qpc, FLD_IN(QPC_PRIMARY_PATH, ADS_ACK_TIMEOUT), or_default(attr->timeout, 8));
	fld_set(qpc, QPC_Q_KEY, attr->qkey);
	fld_set(qpc, QPC_COUNTER_SET_ID, attr->counter_set);
	fld_set(qpc, QPC_RRE, !attr->no_remote);
	fld_set(qpc, QPC_RWE, !attr->no_remote);
	fld_set(qpc, QPC_RAE, !attr->no_remote);
	fld_set(qpc, QPC_ATOMIC_MODE, or_default(attr->atomic_mode, PRM_ATOMIC_MODE_UP_TO_8B));
	fld_set(qpc, QPC_MTU, or_default(attr->mtu, 3));
	fld_set(qpc, QPC_LOG_MSG_MAX, 30);
	fld_set(qpc, QPC_REMOTE_QPN, peer->n);
	fld_set(qpc, QPC_DP_ORDERING_1, attr->out_of_order);
	fld_set(qpc, QPC_NEXT_RCV_PSN, attr->first_psn);
	fld_set(qpc, QPC_NEXT_SEND_PSN, attr->first_psn);
	fld_set(qpc, QPC_LOG_SRA_MAX, attr->rd_atomic_log);
	fld_set(qpc, QPC_LOG_RRA_MAX, attr->rd_atomic_log);
	fld_set(qpc, QPC_MIN_RNR_NAK, or_default(attr->min_rnr, 1));
	fld_set(qpc, QPC_RETRY_COUNT, or_default(attr->retry, 3));
	fld_set(qpc, QPC_RNR_RETRY, attr->rnr_retry);
	flat_cmd_expect(qp->hca, in, sizeof(in), out, sizeof(out),
			opcode == PRM_OP_INIT2RTR_QP ? attr->rtr_status : PRM_STAT_OK);
}

void flat_to(struct flat_qp *qp, const struct flat_qp *peer, const struct flat_qp_attr *attr,
	     enum prm_qp_state state)
{
	static const uint32_t steps[] = { PRM_OP_RST2INIT_QP, PRM_OP_INIT2RTR_QP,
					  PRM_OP_RTR2RTS_QP };
	static const struct flat_qp_attr none;

	for (int i = 0; i < (int)state; i++)
		transition(qp, peer, attr ? attr : &none, steps[i]);
}

void flat_connect(struct flat_qp *a, struct flat_qp *b, const struct flat_qp_attr *attr)
{
	flat_to(a, b, attr, PRM_QP_STATE_RTS);
	flat_to(b, a, attr, PRM_QP_STATE_RTS);
}

enum prm_qp_state flat_state(struct flat_qp *qp)
{
	uint8_t in[16] = { 0 }, out[PRM_QUERY_QP_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_QP);
	fld_set(in, QUERY_QP_IN_QPN, qp->n);
	flat_cmd(qp->hca, in, sizeof(in), out, sizeof(out));
	return fld_get(fld_at(out, QUERY_QP_OUT_QPC), QPC_STATE);
}

static void create_xrc_srq(struct flat_srq *srq, uint32_t pd, uint32_t xrcd,
			   const struct flat_cq *cq, uint8_t *in)
{
	uint8_t *srqc = fld_at(in, CREATE_XRC_SRQ_IN_XRC_SRQ_CONTEXT_ENTRY);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_XRC_SRQ);
	fld_set(srqc, XRC_SRQC_LOG_XRC_SRQ_SIZE, srq->log_size);
	fld_set(srqc, XRC_SRQC_LOG_RQ_STRIDE, 2);
	fld_set(srqc, XRC_SRQC_XRCD, xrcd);
	fld_set(srqc, XRC_SRQC_CQN, cq->n);
	fld_set(srqc, XRC_SRQC_PD, pd);
	fld_set(srqc, XRC_SRQC_USER_INDEX, FLAT_SRQ_UIDX);
	fld_set(srqc, XRC_SRQC_DBR_ADDR, srq->dbr);
}

static void create_rmp(struct flat_srq *srq, uint32_t pd, uint8_t *in)
{
	uint8_t *rmpc = fld_at(in, CREATE_RMP_IN_CTX), *wq = fld_at(rmpc, RMPC_WQ);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_RMP);
	fld_set(rmpc, RMPC_STATE, PRM_RMPC_STATE_RDY);
	fld_set(wq, WQ_PD, pd);
	fld_set(wq, WQ_DBR_ADDR, srq->dbr);
	fld_set(wq, WQ_LOG_WQ_STRIDE, 6);
	fld_set(wq, WQ_LOG_WQ_SZ, srq->log_size);
}

struct flat_srq *flat_srq(int hca, uint32_t log_size, uint32_t xrcd, const struct flat_cq *cq)
{
	struct flat_srq *srq = test_calloc(1, sizeof(*srq));
	uint8_t in[PRM_CREATE_RMP_IN_SIZE + 8 * 64] = { 0 }, out[16];
	uint64_t len = (uint64_t)FLAT_SRQ_STRIDE << log_size;

	srq->hca = flat.hca[hca];
	srq->log_size = log_size;
	srq->ring = flat_alloc(len, 4096);
	srq->dbr = flat_alloc(8, 64);
	srq->xrc = xrcd;
	srq->tail = (1u << log_size) - 1;
	for (uint64_t i = 0; i + 1 < 1u << log_size; i++)
		fld_set(flat.mem + srq->ring + i * FLAT_SRQ_STRIDE, FLD(0x0, 15, 0), i + 1);
	if (xrcd)
		create_xrc_srq(srq, flat.pd[hca], xrcd, cq, in);
	else
		create_rmp(srq, flat.pd[hca], in);
	put_pas(fld_at(in, CREATE_SRQ_IN_PAS), srq->ring, len);
	flat_cmd(srq->hca, in, sizeof(in), out, sizeof(out));
	srq->n = fld_get(out, CREATE_SRQ_OUT_SRQN);
	return srq;
}

void flat_srq_free(struct flat_srq *srq, uint16_t index)
{
	fld_set(flat.mem + srq->ring + srq->tail * FLAT_SRQ_STRIDE, FLD(0x0, 15, 0), index);
	srq->tail = index;
}

void flat_srq_arm(struct flat_srq *srq, uint16_t limit)
{
	uint8_t in[PRM_MODIFY_RMP_IN_SIZE] = { 0 }, out[16];

	fld_set(in, FLD(0x8, 23, 0), srq->n);
	if (srq->xrc) {
		fld_set(in, CMD_IN_OPCODE, PRM_OP_ARM_XRC_SRQ);
		fld_set(in, CMD_IN_OP_MOD, 1);
		fld_set(in, ARM_XRC_SRQ_IN_LWM, limit);
	} else {
		fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_RMP);
		fld_set(in, MODIFY_RMP_IN_RMP_STATE, PRM_RMPC_STATE_RDY);
		fld_set(in, MODIFY_RMP_IN_BITMASK_LWM, 1);
		fld_set(fld_at(in, MODIFY_RMP_IN_CTX), FLD_IN(RMPC_WQ, WQ_LWM), limit);
	}
	flat_cmd(srq->hca, in, sizeof(in), out, sizeof(out));
}

uint16_t flat_srq_limit(struct flat_srq *srq)
{
	uint8_t in[16] = { 0 }, out[PRM_QUERY_RMP_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, srq->xrc ? PRM_OP_QUERY_XRC_SRQ : PRM_OP_QUERY_RMP);
	fld_set(in, FLD(0x8, 23, 0), srq->n);
	flat_cmd(srq->hca, in, sizeof(in), out, sizeof(out));
	if (srq->xrc)
		return fld_get(fld_at(out, QUERY_XRC_SRQ_OUT_XRC_SRQ_CONTEXT_ENTRY), XRC_SRQC_LWM);
	return fld_get(fld_at(out, QUERY_RMP_OUT_RMP_CONTEXT), FLD_IN(RMPC_WQ, WQ_LWM));
}

/* ---- work requests ---- */

static uint8_t wqe[1024];
static size_t wqe_len;

static void put_be(uint64_t value, int bytes)
{
	while (bytes--)
		wqe[wqe_len++] = value >> (8 * bytes);
}

void flat_ctrl(struct flat_qp *qp, uint8_t opcode, uint8_t fm_ce_se, uint32_t imm)
{
	wqe_len = 0;
	put_be((uint32_t)qp->sq_pi << 8 | opcode, 4);
	put_be((uint64_t)qp->n << 8, 4);
	put_be(fm_ce_se, 4);
	put_be(imm, 4);
}

void flat_raddr(struct flat_qp *qp, uint64_t addr, uint32_t rkey)
{
	(void)qp;
	put_be(addr, 8);
	put_be(rkey, 4);
	put_be(0, 4);
}

void flat_av(struct flat_qp *qp, const struct flat_qp *peer, uint32_t dest_qpn, uint32_t qkey,
	     const uint8_t *dgid)
{
	enum { FLOW = 0x12345, GRH = 1 << 30, TCLASS = 0x21, HOPS = 9, SL = 3, SPORT = 0xc123 };

	(void)qp;
	put_be(qkey, 4);
	put_be(0, 4);
	put_be((dgid ? 1u << 31 : 0) | dest_qpn, 4);
	put_be(flat.roce ? SL << 1 : SL, 1);
	put_be(0, 1);
	put_be(flat.roce ? SPORT : lid_of(peer->hca), 2);
	if (!dgid)
		return;
	put_be(0, 4);
	put_be(0x020000000000 | index_of(peer->hca), 6);
	put_be(TCLASS, 1);
	put_be(HOPS, 1);
	put_be(GRH | FLOW, 4);
	memcpy(wqe + wqe_len, dgid, 16);
	wqe_len += 16;
}

void flat_av_lid(uint16_t lid, uint32_t dest_qpn, uint32_t qkey)
{
	put_be(qkey, 4);
	put_be(0, 4);
	put_be(dest_qpn, 4);
	put_be(0, 2);
	put_be(lid, 2);
}

void flat_mcg(struct flat_qp *qp, uint32_t opcode, const uint8_t gid[16])
{
	uint8_t in[32] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, FLD(0x8, 23, 0), qp->n);
	memcpy(in + 16, gid, 16);
	flat_cmd(qp->hca, in, sizeof(in), out, sizeof(out));
}

void flat_atomic(struct flat_qp *qp, uint64_t swap_add, uint64_t compare)
{
	(void)qp;
	put_be(swap_add, 8);
	put_be(compare, 8);
}

void flat_modifier(uint8_t modifier)
{
	wqe[0] = modifier;
}

void flat_masked(const struct flat_masked *operands, bool compares)
{
	uint8_t bytes = operands->bytes;

	flat_modifier(bytes == 4 ? WQE_MASKED_4 : WQE_MASKED_8);
	put_be(operands->swap_add, bytes);
	put_be(operands->compare, bytes);
	if (!compares && bytes == 8)
		return;
	put_be(operands->swap_mask, bytes);
	put_be(operands->compare_mask, bytes);
}

void flat_data(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey)
{
	(void)qp;
	put_be(len, 4);
	put_be(lkey, 4);
	put_be(addr, 8);
}

void flat_umr(struct flat_qp *qp, const struct flat_umr *umr)
{
	(void)qp;
	memcpy(wqe + wqe_len, umr, sizeof(*umr));
	wqe_len += sizeof(*umr);
}

void flat_segment(struct flat_qp *qp, const void *bytes, size_t len)
{
	(void)qp;
	memcpy(wqe + wqe_len, bytes, len);
	wqe_len += len;
}

void flat_klm(struct flat_qp *qp, uint32_t len, uint32_t key, uint64_t addr)
{
	flat_data(qp, addr, len, key);
}

void flat_inline(struct flat_qp *qp, const void *data, uint32_t len)
{
	(void)qp;
	put_be(0x80000000u | len, 4);
	memcpy(wqe + wqe_len, data, len);
	wqe_len += len;
	while (wqe_len % 16)
		wqe[wqe_len++] = 0;
}

void flat_post(struct flat_qp *qp)
{
	uint32_t mask = (64u << qp->sq_log) - 1;

	wqe[7] = wqe_len / 16;
	for (size_t i = 0; i < wqe_len; i++)
		flat.mem[qp->sq + ((qp->sq_pi * 64u + i) & mask)] = wqe[i];
	qp->newest = qp->sq_pi;
	qp->sq_pi += (wqe_len + 63) / 64;
}

void flat_write_uar(int hca, uint32_t offset, uint64_t value_be)
{
	hca_uar_write(flat.hca[hca], flat.uar[hca], offset, &value_be, sizeof(value_be));
}

void flat_ring(struct flat_qp *qp)
{
	uint32_t slot = qp->newest & ((1u << qp->sq_log) - 1), offset = qp->odd ? 0x900 : 0x800;
	int hca = index_of(qp->hca);
	uint64_t value;

	memcpy(&value, flat.mem + qp->sq + slot * 64u, sizeof(value));
	fld_set(flat.mem + qp->dbr, FLD(0x4, 31, 0), qp->sq_pi);
	qp->odd = !qp->odd;
	if (!flat.scans) {
		flat_write_uar(hca, offset, value);
		return;
	}
	hca_uar_found(qp->hca, flat.uar[hca], offset, value);
	hca_uar_scan_sq(qp->hca, flat.uar[hca], NULL, 0);
}

void flat_expect_report(const char *rule)
{
	const char *text = strict_newest(flat.strict);

	assert_int_equal(strict_count(flat.strict), ++flat.reports);
	assert_memory_equal(text, rule, strlen(rule));
}

void flat_recv(struct flat_qp *qp, uint64_t addr, uint32_t len, uint32_t lkey)
{
	uint32_t slot = qp->rq_pi & ((1u << qp->rq_log) - 1);

	wqe_len = 0;
	flat_data(qp, addr, len, lkey);
	flat_data(qp, 0, 0, 0x100);
	memcpy(flat.mem + qp->rq + slot * qp->rq_stride, wqe, 32);
	qp->rq_pi++;
	fld_set(flat.mem + qp->dbr, FLD(0x0, 31, 0), qp->rq_pi);
}

void flat_srq_recv(struct flat_srq *srq, uint64_t addr, uint32_t len, uint32_t lkey)
{
	uint8_t *slot = flat.mem + srq->ring + (uint32_t)srq->head * FLAT_SRQ_STRIDE;

	wqe_len = 0;
	flat_data(NULL, addr, len, lkey);
	flat_data(NULL, 0, 0, 0x100);
	memcpy(slot + 16, wqe, 32);
	srq->head = fld_get(slot, FLD(0x0, 15, 0));
	srq->posted++;
	fld_set(flat.mem + srq->dbr, FLD(0x0, 31, 0), srq->posted);
}

void flat_xrc(struct flat_qp *qp, uint32_t srqn)
{
	(void)qp;
	put_be(srqn, 4);
	put_be(0, 8);
	put_be(0, 4);
}

void flat_send(struct flat_qp *qp, uint8_t opcode, uint64_t addr, uint32_t len, uint32_t lkey)
{
	flat_ctrl(qp, opcode, SIGNALED, 0);
	flat_data(qp, addr, len, lkey);
	flat_post(qp);
	flat_ring(qp);
}

static bool run_network(void)
{
	bool worked = fabric_progress(flat.fabric, flat.now);

	return (flat.far_fabric && fabric_progress(flat.far_fabric, flat.now)) || worked;
}

void flat_run(uint64_t limit_ns)
{
	uint64_t end = flat.now + limit_ns, next = 0, due;

	while (next != HCA_IDLE && flat.now <= end) {
		next = HCA_IDLE;
		for (int i = 0; i < 2; i++) {
			due = hca_progress(flat.hca[i], flat.now);
			next = due < next ? due : next;
		}
		if (run_network())
			next = 0;
		if (next != HCA_IDLE && next > flat.now)
			flat.now = next;
	}
}

const uint8_t *flat_poll(struct flat_cq *cq)
{
	uint32_t slot = cq->ci & ((1u << cq->log_size) - 1);
	const uint8_t *cqe = flat.mem + cq->ring + (uint64_t)(slot + 1) * cq->cqe_size - 64;

	if (cqe[63] >> 4 == 15 || (cqe[63] & 1) != (cq->ci >> cq->log_size & 1))
		return NULL;
	cq->ci++;
	fld_set(flat.mem + cq->dbr, FLD(0x0, 31, 0), cq->ci & 0xffffff);
	return cqe;
}

unsigned int flat_when_completed(const struct flat_cq *cq)
{
	uint32_t slot = (cq->ci - 1) & ((1u << cq->log_size) - 1);

	return flat_when_written(cq->ring + (uint64_t)(slot + 1) * cq->cqe_size - 1);
}

static uint8_t *slot_at(uint64_t ring, const struct flat_cq *cq, uint32_t log_size, uint32_t index)
{
	uint32_t slot = index & ((1u << log_size) - 1);

	return flat.mem + ring + (uint64_t)slot * cq->cqe_size;
}

/* Copies the CQEs up to the resize CQE to the new ring, each one index later, and consumes the
 * resize CQE. */
static void move_cqes(struct flat_cq *cq, uint64_t ring, uint32_t log_size)
{
	enum { RESIZED = 5 };
	uint32_t last = cq->cqe_size - 1;

	for (uint32_t i = cq->ci; slot_at(cq->ring, cq, cq->log_size, i)[last] >> 4 != RESIZED;
	     i++) {
		uint8_t *to = slot_at(ring, cq, log_size, i + 1);

		assert_in_range(i - cq->ci, 0, 1u << cq->log_size);
		memcpy(to, slot_at(cq->ring, cq, cq->log_size, i), cq->cqe_size);
		to[last] = (to[last] & ~1u) | ((i + 1) >> log_size & 1);
	}
	cq->ci++;
}

enum prm_status flat_resize(struct flat_cq *cq, uint32_t log_size)
{
	uint64_t len = (uint64_t)cq->cqe_size << log_size, ring = flat_alloc(len, 4096);
	uint8_t *in = calloc(1, FLD_BYTE(MODIFY_CQ_IN_PAS) + 8 * (len / 4096 + 1)), out[16];
	uint8_t *cqc = fld_at(in, MODIFY_CQ_IN_CQC);

	for (uint64_t i = 0; i < 1ull << log_size; i++)
		flat.mem[ring + (i + 1) * cq->cqe_size - 1] = 0xf1;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_CQ);
	fld_set(in, CMD_IN_OP_MOD, PRM_MODIFY_CQ_OP_RESIZE);
	fld_set(in, MODIFY_CQ_IN_CQN, cq->n);
	fld_set(in, MODIFY_CQ_IN_FIELD_SELECT, 7);
	fld_set(cqc, CQC_LOG_CQ_SIZE, log_size);
	fld_set(cqc, CQC_CQE_SZ, cq->stride);
	put_pas(fld_at(in, MODIFY_CQ_IN_PAS), ring, len);
	hca_exec(cq->hca, in, FLD_BYTE(MODIFY_CQ_IN_PAS) + 8 * (len / 4096 + 1), out, sizeof(out));
	free(in);
	if (fld_get(out, CMD_OUT_STATUS))
		return fld_get(out, CMD_OUT_STATUS);
	move_cqes(cq, ring, log_size);
	cq->ring = ring;
	cq->log_size = log_size;
	return PRM_STAT_OK;
}

void flat_expect_done(struct flat_cq *cq, uint8_t opcode, uint16_t counter)
{
	const uint8_t *cqe = flat_poll(cq);

	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, opcode);
	assert_int_equal(cqe[60] << 8 | cqe[61], counter);
	assert_int_equal(fld_get(cqe, FLD(0x20, 23, 0)), 0xabc);
}

void flat_expect_error(struct flat_cq *cq, uint8_t opcode, uint16_t counter, uint8_t syndrome)
{
	const uint8_t *cqe = flat_poll(cq);

	assert_non_null(cqe);
	assert_int_equal(cqe[63] >> 4, opcode);
	assert_int_equal(cqe[55], syndrome);
	assert_int_equal(cqe[60] << 8 | cqe[61], counter);
}

void flat_expect_empty(struct flat_cq *cq)
{
	assert_null(flat_poll(cq));
}

/* ---- setup ---- */

static void set_gid(int i)
{
	uint8_t in[16 + PRM_ROCE_ADDR_SIZE] = { 0 }, out[16];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_ROCE_ADDRESS);
	memset(fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS), 0x20 + i, 16);
	fld_set(fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS), ROCE_ADDR_ROCE_VERSION,
		flat.far_fabric ? FABRIC_ROCE_V2 : FABRIC_ROCE_V1);
	fld_set(fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS), ROCE_ADDR_ROCE_L3_TYPE, 1);
	flat_cmd(flat.hca[i], in, sizeof(in), out, sizeof(out));
}

static void open_adapter(int i, enum hca_link_layer link)
{
	struct hca_config config = {
		.link_layer = link,
		.num_ports = 1,
		.node_guid = 0x0002c90300001000ull * (i + 1),
		.fabric = i && flat.far_fabric ? flat.far_fabric : flat.fabric,
		.fault = flat.fault,
		.strict = flat.strict,
		.bus_ops = &bus_ops,
		.event = on_event,
		.interrupt = on_interrupt,
		.memic_size = FLAT_MEMIC_SIZE,
		.memic_bar = FLAT_MEMIC_BAR,
		.memic_bar_size = FLAT_MEMIC_BAR_SIZE,
		.memic_windows = FLAT_MEMIC_WINDOWS,
		.pages_on_demand = true,
	};

	assert_int_equal(hca_create(&config, &mlx5_format, &flat.hca[i]), 0);
	flat.uar[i] = flat_simple(flat.hca[i], PRM_OP_ALLOC_UAR, 0, PRM_STAT_OK);
	flat.pd[i] = flat_simple(flat.hca[i], PRM_OP_ALLOC_PD, 0, PRM_STAT_OK);
	flat.eqn[i] = create_eq(flat.hca[i]);
	if (link == HCA_LINK_ETHERNET)
		set_gid(i);
}

static void join_network(enum hca_link_layer link)
{
	bool ethernet = link == HCA_LINK_ETHERNET;

	strcpy(flat.network, "/tmp/flat-network.XXXXXX");
	assert_non_null(mkdtemp(flat.network));
	assert_int_equal(fabric_create(&flat.far_fabric), 0);
	assert_int_equal(fabric_connect(flat.fabric, ethernet, flat.network, NULL), 0);
	assert_int_equal(fabric_connect(flat.far_fabric, ethernet, flat.network, NULL), 0);
	while (run_network())
		; /* until the hosts know each other */
}

static void leave_network(void)
{
	char lock[64];

	fabric_destroy(flat.far_fabric);
	snprintf(lock, sizeof(lock), "%s/lock", flat.network);
	unlink(lock);
	assert_int_equal(rmdir(flat.network), 0);
}

static int flat_create(enum hca_link_layer link, bool network, bool lenient)
{
	memset(&flat, 0, sizeof(flat));
	flat.scans = lenient;
	if (!lenient)
		assert_int_equal(strict_open(NULL, "unit test", &flat.strict), 0);
	flat.mem = calloc(1, FLAT_MEM);
	flat.used = 4096;
	flat.now = 1000000;
	flat.roce = link == HCA_LINK_ETHERNET;
	assert_int_equal(fabric_create(&flat.fabric), 0);
	assert_int_equal(fault_create(1, &flat.fault), 0);
	if (network)
		join_network(link);
	open_adapter(0, link);
	open_adapter(1, link);
	return 0;
}

int flat_setup(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_INFINIBAND, false, false);
}

int flat_setup_roce(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_ETHERNET, false, false);
}

int flat_setup_lenient(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_INFINIBAND, false, true);
}

int flat_setup_lenient_roce(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_ETHERNET, false, true);
}

int flat_setup_network(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_INFINIBAND, true, false);
}

int flat_setup_network_roce(void **state)
{
	(void)state;
	return flat_create(HCA_LINK_ETHERNET, true, false);
}

int flat_teardown(void **state)
{
	(void)state;
	hca_destroy(flat.hca[0]);
	hca_destroy(flat.hca[1]);
	fabric_destroy(flat.fabric);
	if (flat.far_fabric)
		leave_network();
	fault_destroy(flat.fault);
	free(flat.mem);
	assert_int_equal(strict_count(flat.strict), flat.reports);
	strict_close(flat.strict);
	return 0;
}
