/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * suspect_qp.c - logs values that ibv_modify_qp() accepts although they cannot work or hide a
 * failure: a QP number in the wrong byte order, for example. ops.c puts modify_suspecting() into
 * the table of operations of contexts that are opened with the log at level warn, info or debug.
 * Other contexts pay nothing.
 */
#include "libibverbs/private.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SUSPECT(qp, format, ...) \
	verbs_warn("ibv_modify_qp: QP 0x%x: " format, (qp)->qp_num, __VA_ARGS__)

enum { NUMBER_MAX = 0xffffff }; /* QP numbers and PSNs have 24 bits (IBTA vol 1, 9.2) */

static void suspect_number(const struct ibv_qp *qp, const char *name, uint32_t number)
{
	if (number > NUMBER_MAX)
		SUSPECT(qp, "%s 0x%x: has more than 24 bits, the adapter takes 0x%x", name, number,
			number & NUMBER_MAX);
}

static void suspect_qpn(const struct ibv_qp *qp, uint32_t qpn)
{
	const uint32_t swapped = __builtin_bswap32(qpn);

	if (qpn > NUMBER_MAX && swapped <= NUMBER_MAX)
		SUSPECT(qp,
			"dest_qp_num 0x%x: looks byte-swapped, it may be 0x%x: convert it once on "
			"each side",
			qpn, swapped);
	else
		suspect_number(qp, "dest_qp_num", qpn);
}

static void suspect_mtu(const struct ibv_qp *qp, const struct ibv_port_attr *port, enum ibv_mtu mtu)
{
	if (mtu > port->active_mtu)
		SUSPECT(qp,
			"path_mtu %d (%d bytes): the port's active_mtu is %d (%d bytes): longer "
			"packets are lost, use the smaller one of both ports",
			(int)mtu, 128 << mtu, (int)port->active_mtu, 128 << port->active_mtu);
}

static void suspect_address(const struct ibv_qp *qp, const struct ibv_port_attr *port,
			    const struct ibv_ah_attr *ah)
{
	if (!ah->is_global && port->link_layer == IBV_LINK_LAYER_INFINIBAND && port->lid &&
	    !(ah->dlid & 0xff) && ah->dlid >> 8 && port->lid < 0x100)
		SUSPECT(qp,
			"ah_attr.dlid %u: looks byte-swapped, it may be %u: convert it once on "
			"each side",
			ah->dlid, ah->dlid >> 8);
}

static void suspect_gid(const struct ibv_qp *qp, const struct ibv_ah_attr *ah)
{
	const union ibv_gid *gid = &ah->grh.dgid;

	if (ah->is_global && !gid->global.subnet_prefix && !gid->global.interface_id)
		SUSPECT(qp, "ah_attr.grh.dgid is 0: set it to the peer's GID, from its %s",
			"ibv_query_gid()");
}

/* Returns whether the QP's address names a peer. A DCI gets a peer with each request, and a DCT
 * answers all peers, so the addresses of these QPs say nothing. */
static bool has_peer(const struct ibv_qp *qp)
{
	return qp->qp_type != IBV_QPT_DRIVER;
}

/* Logs suspicious values of the path. Skipped below level info, because it asks the kernel for the
 * port. */
static void suspect_path(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	struct ibv_port_attr port;

	if (!(mask & IBV_QP_AV) || !verbs_log_on(VERBS_LOG_INFO) ||
	    get_ops(qp->context)
		    ->query_port(qp->context, attr->ah_attr.port_num, &port, sizeof(port)))
		return;
	if (has_peer(qp))
		suspect_address(qp, &port, &attr->ah_attr);
	if (mask & IBV_QP_PATH_MTU)
		suspect_mtu(qp, &port, attr->path_mtu);
}

static void suspect_retries(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_TIMEOUT && !attr->timeout)
		verbs_info("ibv_modify_qp: QP 0x%x: timeout 0: waits for an answer without end, "
			   "and a lost packet or peer never fails a request: 14 to 18 is usual",
			   qp->qp_num);
	if (mask & IBV_QP_RETRY_CNT && attr->retry_cnt > 7)
		SUSPECT(qp, "retry_cnt %u: must be 0 to 7: it has 3 bits", attr->retry_cnt);
	if (mask & IBV_QP_RNR_RETRY && attr->rnr_retry > 7)
		SUSPECT(qp, "rnr_retry %u: must be 0 to 7: it has 3 bits", attr->rnr_retry);
	if (mask & IBV_QP_MAX_QP_RD_ATOMIC && !attr->max_rd_atomic)
		verbs_info("ibv_modify_qp: QP 0x%x: max_rd_atomic 0: READs and atomics cannot run",
			   qp->qp_num);
	if (mask & IBV_QP_RNR_RETRY && attr->rnr_retry == 7)
		verbs_info("ibv_modify_qp: QP 0x%x: rnr_retry 7: a send waits without end for a "
			   "receive at the peer",
			   qp->qp_num);
}

static void suspect_values(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_DEST_QPN)
		suspect_qpn(qp, attr->dest_qp_num);
	if (mask & IBV_QP_RQ_PSN)
		suspect_number(qp, "rq_psn", attr->rq_psn);
	if (mask & IBV_QP_SQ_PSN)
		suspect_number(qp, "sq_psn", attr->sq_psn);
	if (mask & IBV_QP_AV && has_peer(qp))
		suspect_gid(qp, &attr->ah_attr);
	suspect_path(qp, attr, mask);
	suspect_retries(qp, attr, mask);
}

static int modify_suspecting(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	int ret = to_priv(qp->context)->modify_qp(qp, attr, mask), saved = errno;

	if (ret)
		return ret;
	suspect_values(qp, attr, mask);
	errno = saved;
	return 0;
}

void verbs_qp_suspect_all(struct verbs_ex_private *priv)
{
	priv->modify_qp = priv->ops.modify_qp;
	priv->ops.modify_qp = modify_suspecting;
}
