/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn.c - commands on connections of ids. Allowed states follow Linux
 * (drivers/infiniband/core/cma.c and ucma.c).
 */
#include <errno.h>
#include <string.h>

#include "ib/packet.h"
#include "softhca/front/process/cm/mad.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/inet.h"

/* Writes the IP header of private data (IBTA vol 1, annex A11). Returns its length. */
static unsigned int put_ip_header(const struct ucma_id *id, uint8_t *header)
{
	uint8_t own[16], to[16];
	bool ipv4 = id->src.addr.ss_family == AF_INET;

	if (ucma_addr_is_gid(&id->src.addr))
		return 0;
	ucma_addr_bytes(&id->src.addr, own);
	ucma_addr_bytes(&id->dst.addr, to);
	memset(header, 0, CM_IP_SIZE);
	fld_set(header, CM_IP_FAMILY, ipv4 ? 4 : 6);
	fld_set(header, CM_IP_PORT, ucma_addr_port(&id->src.addr));
	if (ipv4) {
		memset(own, 0, INET_PREFIX);
		memset(to, 0, INET_PREFIX);
	}
	memcpy(fld_at(header, CM_IP_SOURCE), own, sizeof(own));
	memcpy(fld_at(header, CM_IP_DESTINATION), to, sizeof(to));
	return CM_IP_SIZE;
}

static struct cm_param take_param(const struct rdma_ucm_conn_param *from,
				  const struct rdma_ucm_ece *ece)
{
	return (struct cm_param){
		.qpn = from->qp_num & QPN_MASK,
		.responder_resources = from->responder_resources,
		.initiator_depth = from->initiator_depth,
		.retry_count = from->retry_count < 7 ? from->retry_count : 7,
		.rnr_retry_count = from->rnr_retry_count < 7 ? from->rnr_retry_count : 7,
		.flow_control = from->flow_control,
		.srq = from->srq,
		.vendor_id = ece->vendor_id,
		.vendor_options = ece->attr_mod,
		.private_data = from->private_data,
		.private_len = from->private_data_len,
	};
}

/* Clears the ECE field for programs that send the shorter command without it. WITH_ECE is the size
 * with ECE. */
static void clear_missing_ece(struct ucma_call *uc, size_t with_ece, struct rdma_ucm_ece *ece)
{
	if (uc->hdr.in < with_ece)
		memset(ece, 0, sizeof(*ece));
}

static void send_request(struct ucma_id *id, const struct rdma_ucm_connect *cmd, const void *data,
			 unsigned int len)
{
	struct cm_param param = take_param(&cmd->conn_param, &cmd->ece);
	struct cm_conn *conn = &id->conn;

	conn->path = id->path;
	conn->service = ucma_addr_service(&id->dst.addr, id->ps);
	conn->qp_type = id->qp_type;
	param.private_data = data;
	param.private_len = len;
	id->state = UCMA_CONNECTS;
	if (id->datagram)
		cm_resolve_service(conn, data, len);
	else
		cm_connect(conn, &param);
}

int ucma_conn_connect(struct ucma_call *uc)
{
	struct rdma_ucm_connect *cmd = &uc->connect;
	const struct rdma_ucm_conn_param *param = &cmd->conn_param;
	uint8_t data[CM_IP_SIZE + RDMA_MAX_PRIVATE_DATA];
	struct ucma_id *id;
	int ret = param->valid ? ucma_id_find(uc, cmd->id, &id) : EINVAL;
	unsigned int len;

	if (ret)
		return ret;
	if (id->state != UCMA_ROUTE_RESOLVED)
		return EINVAL;
	len = put_ip_header(id, data);
	if (len + param->private_data_len > (id->datagram ? SIDR_REQ_PRIVATE : REQ_PRIVATE))
		return EINVAL;
	memcpy(data + len, param->private_data, param->private_data_len);
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	send_request(id, cmd, data, len + param->private_data_len);
	return 0;
}

static int answer_datagram(struct ucma_id *id, const struct rdma_ucm_conn_param *param)
{
	uint32_t qkey = ucma_addr_is_gid(&id->src.addr) && param->qkey ? param->qkey : UCMA_QKEY;

	if (param->private_data_len > SIDR_REP_PRIVATE)
		return EINVAL;
	return cm_answer_service(&id->conn, SIDR_SUCCESS, param->qp_num & QPN_MASK, qkey,
				 param->private_data, param->private_data_len);
}

static int accept_request(struct ucma_call *uc, struct ucma_id *id)
{
	struct rdma_ucm_accept *cmd = &uc->accept;
	struct cm_param param;
	int ret;

	if (id->state != UCMA_CONNECTS)
		return EINVAL;
	clear_missing_ece(uc, sizeof(*cmd), &cmd->ece);
	param = take_param(&cmd->conn_param, &cmd->ece);
	if (id->datagram)
		ret = answer_datagram(id, &cmd->conn_param);
	else
		ret = param.private_len > REP_PRIVATE ? EINVAL : cm_accept(&id->conn, &param);
	if (!ret)
		id->uid = cmd->uid;
	return ret;
}

int ucma_conn_accept(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->accept.id, &id);

	if (ret)
		return ret;
	return uc->accept.conn_param.valid ? accept_request(uc, id) : cm_confirm(&id->conn);
}

static bool is_reason(uint8_t reason)
{
	return !reason || reason == REASON_CONSUMER || reason == REASON_VENDOR_OPTION;
}

int ucma_conn_reject(struct ucma_call *uc)
{
	const struct rdma_ucm_reject *cmd = &uc->reject;
	enum cm_reason reason = cmd->reason ? cmd->reason : REASON_CONSUMER;
	struct ucma_id *id;
	int ret = is_reason(cmd->reason) ? ucma_id_find(uc, cmd->id, &id) : EINVAL;

	if (ret)
		return ret;
	if (cmd->private_data_len > (id->datagram ? SIDR_REP_PRIVATE : REJ_PRIVATE))
		return EINVAL;
	if (id->datagram)
		return cm_answer_service(&id->conn, SIDR_REJECT, 0, 0, cmd->private_data,
					 cmd->private_data_len);
	return cm_reject(&id->conn, reason, cmd->private_data, cmd->private_data_len);
}

/* Starts disconnecting. A return of 0 only means that there was a connection to end. */
int ucma_conn_disconnect(struct ucma_call *uc)
{
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->disconnect.id, &id);

	if (ret)
		return ret;
	if (!ucma_id_adapter(id) || (id->state < UCMA_CONNECTS && id->state != UCMA_LISTENS))
		return EINVAL;
	cm_disconnect(&id->conn);
	return 0;
}

/* Executes NOTIFY. IBV_EVENT_COMM_EST says that data of the peer has arrived, which implies its
 * RTU: the RTU may be lost or late. */
int ucma_conn_notify(struct ucma_call *uc)
{
	enum { COMM_EST = 4 };
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->notify.id, &id);

	if (ret)
		return ret;
	if (id->state < UCMA_CONNECTS || uc->notify.event != COMM_EST || id->datagram)
		return EINVAL;
	if (cm_establish(&id->conn))
		ucma_conn_event(id, CM_EVENT_RTU, NULL);
	else if (id->conn.state != CM_ESTABLISHED)
		return EINVAL;
	return id->conn.state == CM_ESTABLISHED ? 0 : EINVAL;
}
