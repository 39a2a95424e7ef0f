/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * paths.c - attributes of a path that ibv_modify_qp() takes, although packets will be lost or a
 * failure will never be seen. Without the checker, explain/suspect_qp.c logs them at level info.
 */
#include "check.h"

static void mtu_check(const struct ibv_qp *qp, const struct ibv_qp_attr *attr)
{
	struct ibv_port_attr port;

	if (get_ops(qp->context)
		    ->query_port(qp->context, attr->ah_attr.port_num, &port, sizeof(port)))
		return;
	if (attr->path_mtu > port.active_mtu)
		verbs_check_say(CHECK_PATH,
				"ibv_modify_qp: QP 0x%x: path_mtu %d (%d bytes) is above the "
				"port's active_mtu %d (%d bytes), and longer packets are lost: use "
				"the smaller active_mtu of both ports",
				qp->qp_num, (int)attr->path_mtu, 128 << attr->path_mtu,
				(int)port.active_mtu, 128 << port.active_mtu);
}

void verbs_check_path(const struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
	if (mask & IBV_QP_AV && mask & IBV_QP_PATH_MTU)
		mtu_check(qp, attr);
	if (mask & IBV_QP_TIMEOUT && !attr->timeout)
		verbs_check_say(CHECK_PATH,
				"ibv_modify_qp: QP 0x%x: with timeout 0 a request waits for its "
				"answer without end, and a lost packet or peer never fails it: set "
				"timeout to 14 to 18",
				qp->qp_num);
}
