/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * queues.c - requests as the program posts them with ibv_post_send(), ibv_post_recv() and
 * ibv_post_srq_recv().
 *
 * A queue without a record (direct verbs made it) is passed to the provider as it is. So are a
 * request whose list is longer than the queue takes and those behind it: the provider refuses them,
 * and does not read the list.
 */
#include "check.h"

/* Maximum of requests that the checker reads in one call. A list that leads back to itself has no
 * end. */
enum { LIST_MAX = 1 << 16 };

static struct check_post post_of(const char *call, const struct ibv_qp *qp, uint64_t wr_id)
{
	return (struct check_post){ call,  "QP",       qp->qp_num, qp->pd ? qp->pd->handle : 0,
				    wr_id, qp->context };
}

static void buffers_check(const struct ibv_send_wr *wr, const struct check_post *post)
{
	switch (wr->opcode) {
	case IBV_WR_LOCAL_INV:
	case IBV_WR_BIND_MW: /* without a scatter list, so sg_list may be anything */
		break;
	case IBV_WR_RDMA_READ:
		verbs_check_sges(post, wr->sg_list, wr->num_sge, "the answer of the READ");
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		verbs_check_atomic(post, wr->sg_list, wr->num_sge);
		break;
	default:
		verbs_check_sges(post, wr->sg_list, wr->num_sge, NULL);
		break;
	}
}

void verbs_check_ah(const struct check_post *post, const struct ibv_ah *address, const char *field)
{
	const struct check_ah *ah = verbs_check_find(CHECK_AH, NULL, check_id(address));

	if (!ah)
		return;
	if (!check_lives(&ah->record))
		verbs_check_say(CHECK_AH_DEAD,
				"%s: %s 0x%x: wr_id 0x%llx: %s was destroyed: post before "
				"ibv_destroy_ah()",
				post->call, post->owner, post->number,
				(unsigned long long)post->wr_id, field);
	else if (ah->pd != post->pd)
		verbs_check_say(CHECK_AH_PD,
				"%s: %s 0x%x: wr_id 0x%llx: %s is of PD %u, but the QP is on "
				"PD %u: create the address handle on the QP's PD",
				post->call, post->owner, post->number,
				(unsigned long long)post->wr_id, field, ah->pd, post->pd);
}

static void send_check(const struct ibv_qp *qp, const struct ibv_send_wr *wr,
		       const struct check_post *post)
{
	if (!(wr->send_flags & IBV_SEND_INLINE))
		buffers_check(wr, post);
	/* Only these opcodes have an address handle: others have other fields in its place. */
	if (qp->qp_type == IBV_QPT_UD &&
	    (wr->opcode == IBV_WR_SEND || wr->opcode == IBV_WR_SEND_WITH_IMM))
		verbs_check_ah(post, wr->wr.ud.ah, "wr.ud.ah");
}

static bool is_signaled(const struct check_qp *check, const struct ibv_send_wr *wr)
{
	return check->signals_all || wr->send_flags & IBV_SEND_SIGNALED;
}

/* Returns whether the answer to a request is written to its buffers. */
static bool opcode_writes(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_RDMA_READ || opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	       opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static void send_note(struct check_qp *check, const struct ibv_send_wr *wr,
		      const struct check_post *post, struct check_places *places)
{
	const bool names_buffers = !(wr->send_flags & IBV_SEND_INLINE) &&
				   wr->opcode != IBV_WR_LOCAL_INV && wr->opcode != IBV_WR_BIND_MW;

	verbs_check_request_add(&check->sends, post, is_signaled(check, wr));
	if (names_buffers)
		verbs_check_request_buffers(&check->sends, post, wr->sg_list, wr->num_sge,
					    opcode_writes(wr->opcode));
	if (is_signaled(check, wr))
		verbs_check_promise(places, post);
}

/* Returns whether a post that returned RET took at least the first request, WR. A provider may not
 * have set BAD. */
static bool has_taken(int ret, const void *wr, const void *bad)
{
	return !ret || (bad && bad != wr);
}

/* Calls the provider. If the queue has no lock, the calling thread is recorded as its user during
 * the call. */
static int provider_send(struct check_qp *check, struct ibv_qp *qp, struct ibv_send_wr *wr,
			 struct ibv_send_wr **bad_wr)
{
	int ret;

	if (!check || !check->has_no_lock)
		return check_real(qp->context)->post_send(qp, wr, bad_wr);
	verbs_check_batch_meet(check, "ibv_post_send", qp);
	verbs_check_enter(&check->sender, "ibv_post_send", "QP", qp->qp_num);
	ret = check_real(qp->context)->post_send(qp, wr, bad_wr);
	verbs_check_leave(&check->sender);
	return ret;
}

static int provider_receive(struct check_qp *check, struct ibv_qp *qp, struct ibv_recv_wr *wr,
			    struct ibv_recv_wr **bad_wr)
{
	int ret;

	if (!check || !check->has_no_lock)
		return check_real(qp->context)->post_recv(qp, wr, bad_wr);
	verbs_check_enter(&check->receiver, "ibv_post_recv", "QP", qp->qp_num);
	ret = check_real(qp->context)->post_recv(qp, wr, bad_wr);
	verbs_check_leave(&check->receiver);
	return ret;
}

/* Returns whether the calling thread posts in turn with others. A queue without a lock has no
 * turns, and a thread in a batch has the turn already. */
static bool takes_turn(const struct check_qp *check)
{
	return check && !check->has_no_lock && !verbs_check_batch_is_ours(check);
}

int verbs_check_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct check_qp *check = verbs_check_find_live(CHECK_QP, NULL, check_id(qp));
	const struct ibv_send_wr *at = check ? wr : NULL;
	struct check_places places = { .cq = qp->send_cq };
	const bool has_turn = takes_turn(check);
	unsigned int count = 0, left = 0;
	struct ibv_send_wr *bad = NULL;
	int ret, refused = 0, cancel;

	if (!check && check_qp_is_dead(qp, "ibv_post_send")) {
		if (bad_wr)
			*bad_wr = wr;
		return EINVAL;
	}
	cancel = verbs_check_shield();
	verbs_check_is_ours(qp->context, "ibv_post_send", "QP", qp->qp_num);
	if (check && verbs_check_batch_is_ours(check))
		verbs_check_say(CHECK_BATCH,
				"ibv_post_send: QP 0x%x: wr_id 0x%llx: this thread is in a batch "
				"of the QP: end it by ibv_wr_complete() or ibv_wr_abort() first",
				qp->qp_num, (unsigned long long)wr->wr_id);
	if (has_turn)
		verbs_check_turn_take(&check->sends);
	if (check)
		verbs_check_post_begin(&check->sends);
	for (; at && count < LIST_MAX && (uint32_t)at->num_sge <= check->max_send_sge;
	     at = at->next, count++) {
		const struct check_post post = post_of("ibv_post_send", qp, at->wr_id);

		send_check(qp, at, &post);
		send_note(check, at, &post, &places);
	}
	ret = provider_send(check, qp, wr, &bad);
	if (count && has_taken(ret, wr, bad))
		verbs_check_move();
	if (bad && bad_wr)
		*bad_wr = bad;
	for (at = wr; ret && count; at = at->next, count--) {
		if (!left && bad && at != bad)
			continue;
		refused += is_signaled(check, at);
		left++;
	}
	verbs_check_settle(&places, refused);
	if (check && ret)
		verbs_check_request_refuse(&check->sends, left, ret);
	if (has_turn)
		verbs_check_turn_leave(&check->sends);
	verbs_check_unshield(cancel);
	return ret;
}

int verbs_check_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct check_qp *check = verbs_check_find_live(CHECK_QP, NULL, check_id(qp));
	const struct ibv_recv_wr *at = check ? wr : NULL;
	struct check_places places = { .cq = qp->recv_cq };
	const bool has_turn = check && !check->has_no_lock;
	struct ibv_recv_wr *bad = NULL;
	unsigned int count = 0;
	int ret, refused = 0, cancel;

	if (!check && check_qp_is_dead(qp, "ibv_post_recv")) {
		if (bad_wr)
			*bad_wr = wr;
		return EINVAL;
	}
	cancel = verbs_check_shield();
	verbs_check_is_ours(qp->context, "ibv_post_recv", "QP", qp->qp_num);
	if (has_turn)
		verbs_check_turn_take(&check->receives);
	if (check)
		verbs_check_post_begin(&check->receives);
	for (; at && count < LIST_MAX && (uint32_t)at->num_sge <= check->max_recv_sge;
	     at = at->next, count++) {
		const struct check_post post = post_of("ibv_post_recv", qp, at->wr_id);

		verbs_check_sges(&post, at->sg_list, at->num_sge, "the receive");
		verbs_check_request_add(&check->receives, &post, true);
		verbs_check_request_buffers(&check->receives, &post, at->sg_list, at->num_sge,
					    true);
		verbs_check_promise(&places, &post);
	}
	ret = provider_receive(check, qp, wr, &bad);
	if (count && has_taken(ret, wr, bad))
		verbs_check_move();
	if (bad && bad_wr)
		*bad_wr = bad;
	for (at = wr; ret && count; at = at->next, count--)
		refused += refused || !bad || at == bad;
	verbs_check_settle(&places, refused);
	if (refused)
		verbs_check_request_refuse(&check->receives, (unsigned int)refused, ret);
	if (has_turn)
		verbs_check_turn_leave(&check->receives);
	verbs_check_unshield(cancel);
	return ret;
}

int verbs_check_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			      struct ibv_recv_wr **bad_wr)
{
	const struct check_srq *check = verbs_check_find_live(CHECK_SRQ, NULL, check_id(srq));
	const struct ibv_recv_wr *at = check ? wr : NULL;
	/* A guest's SRQ has no wrapper of ours, so its number is not known. */
	const uint32_t number = to_priv(srq->context)->foreign ? 0 : to_vsrq(srq)->srq_num;
	struct ibv_recv_wr *bad = NULL;
	int count = 0, ret;
	struct check_post post = { "ibv_post_srq_recv", "SRQ", number,
				   srq->pd->handle,     0,     srq->context };

	verbs_check_is_ours(srq->context, "ibv_post_srq_recv", "SRQ", post.number);
	for (; at && count < LIST_MAX && (uint32_t)at->num_sge <= check->max_sge;
	     at = at->next, count++) {
		post.wr_id = at->wr_id;
		verbs_check_sges(&post, at->sg_list, at->num_sge, "the receive");
	}
	ret = check_real(srq->context)->post_srq_recv(srq, wr, &bad);
	if (bad && bad_wr)
		*bad_wr = bad;
	if (has_taken(ret, wr, bad))
		verbs_check_move();
	return ret;
}
