/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cqe_error.c - completions with an error. The first one of each QP is logged.
 */
#include "prm/mlx5/cqe.h"
#include "providers/mlx4/data/cq/cqe.h"

static const struct {
	uint8_t status;
	const char *text;
} syndromes[] = {
	[SYND_LOCAL_LENGTH] = { IBV_WC_LOC_LEN_ERR, "a message longer than the receive's buffers, "
						    "or than the port's limit" },
	[SYND_LOCAL_QP_OP] = { IBV_WC_LOC_QP_OP_ERR, "the QP does not allow the request" },
	[SYND_LOCAL_PROT] = { IBV_WC_LOC_PROT_ERR, "an lkey does not cover its buffer, or is of "
						   "another PD" },
	[SYND_FLUSH] = { IBV_WC_WR_FLUSH_ERR, "flushed: the QP was in, or went to, state ERR" },
	[SYND_MW_BIND] = { IBV_WC_MW_BIND_ERR, "the window cannot be bound so" },
	[SYND_BAD_RESPONSE] = { IBV_WC_BAD_RESP_ERR, "an unexpected answer came" },
	[SYND_LOCAL_ACCESS] = { IBV_WC_LOC_ACCESS_ERR, "a buffer could not be written for the "
						       "peer" },
	[SYND_REMOTE_INVAL_REQ] = { IBV_WC_REM_INV_REQ_ERR, "the peer does not take the request" },
	[SYND_REMOTE_ACCESS] = { IBV_WC_REM_ACCESS_ERR, "the rkey, its range or its rights do not "
							"allow it" },
	[SYND_REMOTE_OP] = { IBV_WC_REM_OP_ERR, "the peer failed for a reason of its own" },
	[SYND_RETRY_EXCEEDED] = { IBV_WC_RETRY_EXC_ERR, "no answer from the peer: its state, its "
							"QP number, the path" },
	[SYND_RNR_EXCEEDED] = { IBV_WC_RNR_RETRY_EXC_ERR, "the peer had no receive posted" },
	[SYND_REMOTE_ABORTED] = { IBV_WC_REM_ABORT_ERR, "the peer gave up" },
};

static bool is_first(const struct completion *comp)
{
	bool *reported = comp->qp ? &comp->qp->error_reported : &comp->srq->error_reported;

	return !__atomic_exchange_n(reported, true, __ATOMIC_RELAXED);
}

/* Returns whether to log the error. Exceeded retries mean that a peer has ended or is slow, which
 * is no mistake of the program, so they are logged only if warnings are on. */
static bool is_logged(uint32_t syndrome)
{
	if (syndrome == SYND_RETRY_EXCEEDED || syndrome == SYND_RNR_EXCEEDED)
		return verbs_log_on(VERBS_LOG_WARN);
	return verbs_log_mistake();
}

void mlx4_cqe_fail(struct completion *comp)
{
	uint32_t syndrome = (uint32_t)fld_get(comp->cqe, M4_CQE_SYNDROME);
	bool known = syndrome < ARRAY_SIZE(syndromes) && syndromes[syndrome].text;

	comp->status = known ? syndromes[syndrome].status : IBV_WC_GENERAL_ERR;
	if (syndrome == SYND_FLUSH || !is_first(comp) || !is_logged(syndrome))
		return;
	verbs_warn("poll_cq: qp 0x%x: %s failed: %s (syndrome 0x%02x, vendor 0x%02x)",
		   cqe_qpn(comp->cqe), cqe_is_request(comp->cqe) ? "a request" : "a receive",
		   known ? syndromes[syndrome].text : "for a reason without a name", syndrome,
		   (unsigned int)fld_get(comp->cqe, M4_CQE_VENDOR));
}
