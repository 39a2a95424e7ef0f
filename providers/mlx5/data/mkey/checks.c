/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * checks.c - checks requests on memory keys against limits of device and QP: see checks.h.
 */
#include "providers/common/report.h"
#include "providers/mlx5/data/mkey/checks.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "providers/mlx5/data/batch.h"
#include "providers/mlx5/data/mkey/blocks.h"

void __attribute__((cold, format(printf, 3, 4)))
mlx5_mkey_fail(struct mlx5_qp *qp, int err, const char *why, ...)
{
	char text[160];
	va_list args;

	va_start(args, why);
	vsnprintf(text, sizeof(text), why, args);
	va_end(args);
	verbs_warn("mlx5dv_wr: qp 0x%x, wr_id %#llx: %s", qp->vqp.qp.qp_num,
		   (unsigned long long)qp->vqp.qp_ex.wr_id, text);
	qp->mkey_request.progress.word = 0;
	batch_set_err(qp, err);
}

bool __attribute__((cold, noinline)) mlx5_mkey_may_begin(struct mlx5_qp *qp)
{
	if (qp->batch.err)
		return false;
	if (!(qp->vqp.qp_ex.wr_flags & IBV_SEND_INLINE))
		mlx5_mkey_fail(qp, EOPNOTSUPP,
			       "wr_flags is %#x: what a key stands for is sent inline",
			       qp->vqp.qp_ex.wr_flags);
	else if (!qp->sq.sge_limit)
		mlx5_mkey_fail(qp, EINVAL, "the QP is in state %s, must be RTS",
			       provider_qp_state_str(qp->vqp.qp.state));
	else if (wq_has_room(&qp->sq.wq, qp->sq.wq.head))
		return true;
	else
		mlx5_batch_fail_full(qp);
	return false;
}

bool mlx5_mkey_access_fits(struct mlx5_qp *qp, uint32_t access)
{
	if (access_is_known(access))
		return true;
	mlx5_mkey_fail(qp, EINVAL, "access_flags is %#x, supported are %#x", access, ACCESS_KNOWN);
	return false;
}

bool mlx5_mkey_layout_fits(struct mlx5_qp *qp, const struct mlx5_mkey *mkey, uint32_t count,
			   uint32_t header)
{
	if (entries_fit(qp, mkey, count, header))
		return true;
	if (count + header > qp->mkey_entries)
		mlx5_mkey_fail(qp, ENOMEM,
			       "%u pieces: max_inline_data %u of the QP has room for %u", count,
			       qp->sq.max_inline,
			       qp->mkey_entries - min_of((uint32_t)qp->mkey_entries, header));
	else
		mlx5_mkey_fail(qp, ENOMEM, "%u pieces: key %#x was created with max_entries %u",
			       count, mkey->dv.lkey, mkey->max_entries);
	return false;
}

/* Checks the lengths of SGES. PRM: the length of a KLM has 31 bits, and 0 stands for 2 GiB, the
 * maximum. */
bool mlx5_mkey_pieces_fit(struct mlx5_qp *qp, uint16_t count, const struct ibv_sge *sge)
{
	for (uint32_t i = 0; i < count; i++)
		if (sge[i].length > KLM_LEN_MAX) {
			mlx5_mkey_fail(qp, EOPNOTSUPP,
				       "piece %u has %u bytes: the device has 2 GiB", i,
				       sge[i].length);
			return false;
		}
	return true;
}

/* Checks the strides of a pattern. A stride is the distance from a part to the same part in the
 * next repetition. It has 16 bits in the device (PRM: repeat block), so a longer stride would lose
 * its high bits. */
bool mlx5_mkey_pattern_fits(struct mlx5_qp *qp, uint16_t count,
			    const struct mlx5dv_mr_interleaved *part)
{
	for (uint32_t i = 0; i < count; i++) {
		uint64_t stride = (uint64_t)part[i].bytes_count + part[i].bytes_skip;

		if (stride <= UINT16_MAX)
			continue;
		mlx5_mkey_fail(qp, EINVAL,
			       "part %u of the pattern has bytes_count %u and bytes_skip %u: the "
			       "device has 16 bits for their sum",
			       i, part[i].bytes_count, part[i].bytes_skip);
		return false;
	}
	return true;
}
