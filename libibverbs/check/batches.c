/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * batches.c - requests as the program posts them with ibv_wr_*(), and the order of these calls:
 *
 *	ibv_wr_start()   (an operation   its setters, each once)...   ibv_wr_complete() or _abort()
 *
 * A new QP gets the functions of this file, which call the provider's. The thread that has begun a
 * batch owns the state of the batch until it ends it. A call of another thread says nothing: the
 * provider may make it wait.
 */
#include "check.h"

#include <pthread.h>

enum { DATA = 1, UD_ADDR = 2, XRC_SRQN = 4 };

static const void *self(void)
{
	return (const void *)(uintptr_t)pthread_self();
}

static const void *owner_of(const struct check_batch *batch)
{
	return __atomic_load_n(&batch->owner, __ATOMIC_ACQUIRE);
}

static void owner_set(struct check_batch *batch, const void *owner)
{
	__atomic_store_n(&batch->owner, owner, __ATOMIC_RELEASE);
}

bool verbs_check_batch_is_ours(const struct check_qp *check)
{
	return owner_of(&check->batch) == self();
}

void verbs_check_batch_meet(const struct check_qp *check, const char *call, const struct ibv_qp *qp)
{
	const void *owner = owner_of(&check->batch);

	if (owner && owner != self())
		verbs_check_meet(call, "QP", qp->qp_num);
}

static struct check_qp *qp_of(const struct ibv_qp_ex *qp)
{
	return verbs_check_find(CHECK_QP, NULL, check_id(qp));
}

#define SAY(qp, call, format, ...)                                               \
	verbs_check_say(CHECK_BATCH, "%s: QP 0x%x: wr_id 0x%llx: " format, call, \
			(qp)->qp_base.qp_num, (unsigned long long)(qp)->wr_id, __VA_ARGS__)

static const char *setters_of(unsigned int lacks)
{
	if (lacks & DATA)
		return "ibv_wr_set_sge(), or another setter of data,";
	return lacks & UD_ADDR ? "ibv_wr_set_ud_addr()" : "ibv_wr_set_xrc_srqn()";
}

static void request_end(const struct ibv_qp_ex *qp, struct check_batch *batch, const char *call)
{
	if (batch->lacks)
		SAY(qp, call, "%s() before it lacks a setter: call %s for each such request",
		    batch->operation, setters_of(batch->lacks));
	batch->lacks = 0;
	batch->operation = NULL;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct check_qp *check = qp_of(qp);
	struct check_batch *batch = &check->batch;
	const int cancel = verbs_check_shield();

	if (owner_of(batch) == self())
		SAY(qp, "ibv_wr_start", "%s",
		    "this thread has begun a batch already: end it by ibv_wr_complete() or "
		    "ibv_wr_abort() first");
	verbs_check_is_ours(qp->qp_base.context, "ibv_wr_start", "QP", qp->qp_base.qp_num);
	if (check->has_no_lock)
		verbs_check_batch_meet(check, "ibv_wr_start", &qp->qp_base);
	else
		verbs_check_turn_take(&check->sends);
	batch->real.wr_start(qp);
	verbs_check_post_begin(&check->sends);
	batch->lacks = 0;
	batch->count = 0;
	batch->operation = NULL;
	batch->places = (struct check_places){ .cq = qp->qp_base.send_cq };
	owner_set(batch, self());
	verbs_check_unshield(cancel);
}

/* Ends the turn when the provider has unlocked the queue, and the requests are settled. Another
 * thread than the batch's may end the batch: the provider has unlocked the queue then, too. */
static void batch_turn_end(struct check_qp *check, const void *owner)
{
	if (owner && !check->has_no_lock)
		verbs_check_turn_end(&check->sends, owner);
}

/* Returns the thread that has begun the batch, or NULL. */
static const void *batch_leave(struct ibv_qp_ex *qp, struct check_batch *batch, const char *call)
{
	const void *owner = owner_of(batch);

	if (!owner)
		SAY(qp, call, "%s", "no batch was begun: call ibv_wr_start() first");
	if (owner == self())
		owner_set(batch, NULL);
	return owner;
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct check_qp *check = qp_of(qp);
	struct check_batch *batch = &check->batch;
	struct check_places places = { .count = 0 };
	const int cancel = verbs_check_shield();
	unsigned int count = 0;
	const void *owner;
	int err;

	if (owner_of(batch) == self()) {
		request_end(qp, batch, "ibv_wr_complete");
		places = batch->places;
		count = batch->count;
	}
	owner = batch_leave(qp, batch, "ibv_wr_complete");
	err = batch->real.wr_complete(qp);
	verbs_check_settle(&places, err ? places.count : 0);
	if (err)
		verbs_check_request_refuse(&check->sends, count, err);
	else if (count)
		verbs_check_move();
	batch_turn_end(check, owner);
	verbs_check_unshield(cancel);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	struct check_qp *check = qp_of(qp);
	struct check_batch *batch = &check->batch;
	struct check_places places = { .count = 0 };
	const int cancel = verbs_check_shield();
	unsigned int count = 0;
	const void *owner;

	if (owner_of(batch) == self()) {
		places = batch->places;
		count = batch->count;
	}
	owner = batch_leave(qp, batch, "ibv_wr_abort");
	batch->real.wr_abort(qp);
	verbs_check_settle(&places, places.count);
	verbs_check_request_drop(&check->sends, count);
	batch_turn_end(check, owner);
	verbs_check_unshield(cancel);
}

struct operation {
	const char *call, *flag;
	uint64_t op;
	bool has_data;
	const char *writer; /* log text for the writer of the buffers; NULL: they are only read */
};

#define OPERATION(name, bit, data, by) \
	static const struct operation name##_op = { "ibv_wr_" #name, #bit, bit, data, by }

OPERATION(send, IBV_QP_EX_WITH_SEND, true, NULL);
OPERATION(send_imm, IBV_QP_EX_WITH_SEND_WITH_IMM, true, NULL);
OPERATION(send_inv, IBV_QP_EX_WITH_SEND_WITH_INV, true, NULL);
OPERATION(send_tso, IBV_QP_EX_WITH_TSO, true, NULL);
OPERATION(rdma_write, IBV_QP_EX_WITH_RDMA_WRITE, true, NULL);
OPERATION(rdma_write_imm, IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM, true, NULL);
OPERATION(rdma_read, IBV_QP_EX_WITH_RDMA_READ, true, "the answer of the READ");
OPERATION(atomic_cmp_swp, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP, true, "the answer of the atomic");
OPERATION(atomic_fetch_add, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD, true, "the answer of the atomic");
OPERATION(local_inv, IBV_QP_EX_WITH_LOCAL_INV, false, NULL);
OPERATION(bind_mw, IBV_QP_EX_WITH_BIND_MW, false, NULL);

static unsigned int lacks_of(const struct ibv_qp *qp, const struct operation *operation)
{
	if (!operation->has_data)
		return 0;
	if (qp->qp_type == IBV_QPT_UD)
		return DATA | UD_ADDR;
	return qp->qp_type == IBV_QPT_XRC_SEND ? DATA | XRC_SRQN : DATA;
}

static struct check_post post_of(const struct ibv_qp_ex *qp, const char *call)
{
	const struct ibv_qp *base = &qp->qp_base;

	return (struct check_post){ call,         "QP",
				    base->qp_num, base->pd ? base->pd->handle : 0,
				    qp->wr_id,    base->context };
}

static const struct ibv_qp_ex *request_begin(struct ibv_qp_ex *qp,
					     const struct operation *operation)
{
	struct check_qp *check = qp_of(qp);
	struct check_batch *batch = &check->batch;
	const struct check_post post = post_of(qp, operation->call);
	const void *owner = owner_of(batch);
	bool is_signaled;

	if (!owner)
		SAY(qp, operation->call, "%s",
		    "no batch was begun: call ibv_wr_start() before the first request");
	if (!(batch->ops & operation->op))
		SAY(qp, operation->call, "the QP was created without %s: add it to send_ops_flags",
		    operation->flag);
	if (owner != self())
		return &batch->real;
	request_end(qp, batch, operation->call);
	batch->operation = operation->call;
	batch->writer = operation->writer;
	batch->lacks = lacks_of(&qp->qp_base, operation);
	is_signaled = check->signals_all || qp->wr_flags & IBV_SEND_SIGNALED;
	verbs_check_request_add(&check->sends, &post, is_signaled);
	batch->count++;
	if (is_signaled)
		verbs_check_promise(&batch->places, &post);
	return &batch->real;
}

static void wr_send(struct ibv_qp_ex *qp)
{
	request_begin(qp, &send_op)->wr_send(qp);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	request_begin(qp, &send_imm_op)->wr_send_imm(qp, imm_data);
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	request_begin(qp, &send_inv_op)->wr_send_inv(qp, rkey);
}

static void wr_send_tso(struct ibv_qp_ex *qp, void *hdr, uint16_t hdr_sz, uint16_t mss)
{
	request_begin(qp, &send_tso_op)->wr_send_tso(qp, hdr, hdr_sz, mss);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	request_begin(qp, &rdma_write_op)->wr_rdma_write(qp, rkey, addr);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, __be32 imm_data)
{
	request_begin(qp, &rdma_write_imm_op)->wr_rdma_write_imm(qp, rkey, addr, imm_data);
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr)
{
	request_begin(qp, &rdma_read_op)->wr_rdma_read(qp, rkey, addr);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t compare,
			      uint64_t swap)
{
	request_begin(qp, &atomic_cmp_swp_op)->wr_atomic_cmp_swp(qp, rkey, addr, compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	request_begin(qp, &atomic_fetch_add_op)->wr_atomic_fetch_add(qp, rkey, addr, add);
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	request_begin(qp, &local_inv_op)->wr_local_inv(qp, rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	request_begin(qp, &bind_mw_op)->wr_bind_mw(qp, mw, rkey, info);
}

static struct check_batch *setter_note(struct ibv_qp_ex *qp, const char *call, unsigned int what)
{
	struct check_batch *batch = &qp_of(qp)->batch;

	if (owner_of(batch) != self())
		return batch;
	if (!batch->operation)
		SAY(qp, call, "%s",
		    "no request was begun: call an operation, as ibv_wr_send(), before it");
	else if (!(batch->lacks & what))
		SAY(qp, call, "%s() takes no such setter, or has it already: call each setter once",
		    batch->operation);
	batch->lacks &= ~what;
	return batch;
}

static void sges_check(const struct ibv_qp_ex *qp, const struct check_batch *batch,
		       const char *call, const struct ibv_sge *sges, size_t count)
{
	const struct check_post post = post_of(qp, call);

	if (owner_of(batch) != self())
		return;
	verbs_check_sges(&post, sges, (int)count, batch->writer);
	if (batch->operation)
		verbs_check_request_buffers(&qp_of(qp)->sends, &post, sges, (int)count,
					    batch->writer);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct check_batch *batch = setter_note(qp, "ibv_wr_set_sge", DATA);
	const struct ibv_sge sge = { addr, length, lkey };

	sges_check(qp, batch, "ibv_wr_set_sge", &sge, 1);
	batch->real.wr_set_sge(qp, lkey, addr, length);
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge, const struct ibv_sge *sges)
{
	const struct check_batch *batch = setter_note(qp, "ibv_wr_set_sge_list", DATA);

	sges_check(qp, batch, "ibv_wr_set_sge_list", sges,
		   num_sge <= qp_of(qp)->max_send_sge ? num_sge : 0);
	batch->real.wr_set_sge_list(qp, num_sge, sges);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	setter_note(qp, "ibv_wr_set_inline_data", DATA)->real.wr_set_inline_data(qp, addr, length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
				    const struct ibv_data_buf *bufs)
{
	setter_note(qp, "ibv_wr_set_inline_data_list", DATA)
		->real.wr_set_inline_data_list(qp, num_buf, bufs);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	const struct check_batch *batch = setter_note(qp, "ibv_wr_set_ud_addr", UD_ADDR);
	const struct check_post post = post_of(qp, "ibv_wr_set_ud_addr");

	verbs_check_ah(&post, ah, "ah");
	batch->real.wr_set_ud_addr(qp, ah, remote_qpn, remote_qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t srqn)
{
	setter_note(qp, "ibv_wr_set_xrc_srqn", XRC_SRQN)->real.wr_set_xrc_srqn(qp, srqn);
}

/* Replaces the functions that the provider has. The provider's NULL members stay NULL, because
 * programs test for NULL. */
#define REPLACE(name)                              \
	do {                                       \
		if (qp->wr_##name)                 \
			qp->wr_##name = wr_##name; \
	} while (0)

void verbs_check_watch_batches(struct check_qp *check, struct ibv_qp_ex *qp, uint64_t ops)
{
	check->batch.real = *qp;
	check->batch.ops = ops;
	REPLACE(start);
	REPLACE(complete);
	REPLACE(abort);
	REPLACE(send);
	REPLACE(send_imm);
	REPLACE(send_inv);
	REPLACE(send_tso);
	REPLACE(rdma_write);
	REPLACE(rdma_write_imm);
	REPLACE(rdma_read);
	REPLACE(atomic_cmp_swp);
	REPLACE(atomic_fetch_add);
	REPLACE(local_inv);
	REPLACE(bind_mw);
	REPLACE(set_sge);
	REPLACE(set_sge_list);
	REPLACE(set_inline_data);
	REPLACE(set_inline_data_list);
	REPLACE(set_ud_addr);
	REPLACE(set_xrc_srqn);
}
