/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * connect.c - connects, accepts, rejects and disconnects ids.
 *
 * Both sides negotiate the number of outstanding READs and atomics. A program that requests more
 * than its device supports gets EINVAL; RDMA_MAX_RESP_RES and RDMA_MAX_INIT_DEPTH request the
 * maximum.
 */
#include "cma.h"

#include <stdlib.h>
#include <string.h>

#include "util/clear.h"

enum { /* reasons for a rejection: IBTA vol 1, 12.6.7.2 */
       REJ_CONSUMER = 28,
       REJ_VENDOR_OPTION = 35,
};

/* Parameters for a call that passes NULL: as many READs and atomics as the device supports, and the
 * largest retry counts (7; for RNR, 7 means without limit). */
static const struct rdma_conn_param default_param = {
	.responder_resources = RDMA_MAX_RESP_RES,
	.initiator_depth = RDMA_MAX_INIT_DEPTH,
	.retry_count = 7,
	.rnr_retry_count = 7,
};

static inline int check_depth(const char *field, uint8_t value, uint8_t limit)
{
	if (value == 0xff || value <= limit)
		return 0;
	verbs_warn("rdma_cm: %s %u: the device's limit is %u", field, value, limit);
	return EINVAL;
}

static uint8_t clip_depth(uint8_t value, uint8_t limit)
{
	return value < limit ? value : limit;
}

static inline int check_depths(const struct cm_id *cm, const struct rdma_conn_param *param)
{
	int ret;

	if (cm->id.qp_type == IBV_QPT_UD)
		return 0;
	ret = check_depth("responder_resources", param->responder_resources,
			  cm->device->max_responder_resources);
	return ret ? ret
		   : check_depth("initiator_depth", param->initiator_depth,
				 cm->device->max_initiator_depth);
}

/* Checks what both sides of a connection need: a device, READs and atomics that the device
 * supports, and a QP of the id or a QP number in the parameters, because the request carries the
 * number. WHY explains a missing device. */
static inline int check_side(const struct cm_id *cm, const struct rdma_conn_param *param,
			     const char *why)
{
	if (!param && !cm->id.qp) {
		verbs_warn("rdma_cm: an id without a QP is connected with parameters only: "
			   "set conn_param and its qp_num, or call rdma_create_qp() before");
		return EINVAL;
	}
	if (!cm->device) {
		verbs_warn("%s", why);
		return EINVAL;
	}
	return param ? check_depths(cm, param) : 0;
}

/* Sets the number of READs and atomics. "The maximum" is limited by the device and, on the
 * accepting side, by the request. */
static inline void choose_depths(struct cm_id *cm, const struct rdma_conn_param *param,
				 bool accepts)
{
	uint8_t responder = param->responder_resources;
	uint8_t initiator = param->initiator_depth;

	if (responder == RDMA_MAX_RESP_RES)
		responder = accepts ? cm->responder_resources : RDMA_MAX_RESP_RES;
	if (initiator == RDMA_MAX_INIT_DEPTH)
		initiator = accepts ? cm->initiator_depth : RDMA_MAX_INIT_DEPTH;
	cm->responder_resources = clip_depth(responder, cm->device->max_responder_resources);
	cm->initiator_depth = clip_depth(initiator, cm->device->max_initiator_depth);
}

/* Concatenates the private data found by address resolution (ai_connect) and the program's own.
 * Returns EINVAL if the sum is too long. */
static inline int put_private_data(const struct cm_id *cm, const struct rdma_conn_param *param,
				   struct rdma_ucm_conn_param *to)
{
	size_t own = param->private_data ? param->private_data_len : 0;

	if (cm->connect_len + own >= RDMA_MAX_PRIVATE_DATA) {
		verbs_warn(
			"rdma_cm: %zu bytes of private data and %u of ai_connect: %u is the limit",
			own, cm->connect_len, RDMA_MAX_PRIVATE_DATA - 1);
		return EINVAL;
	}
	if (cm->connect_len)
		memcpy(to->private_data, cm->connect_data, cm->connect_len);
	if (own)
		memcpy(to->private_data + cm->connect_len, param->private_data, own);
	to->private_data_len = cm->connect_len + own;
	return 0;
}

static inline int put_param(const struct cm_id *cm, const struct rdma_conn_param *param,
			    struct rdma_ucm_conn_param *to)
{
	const struct ibv_qp *qp = cm->id.qp;

	to->valid = 1;
	to->qp_num = qp ? qp->qp_num : param->qp_num;
	to->srq = qp ? !!qp->srq : param->srq;
	to->responder_resources = cm->responder_resources;
	to->initiator_depth = cm->initiator_depth;
	to->flow_control = param->flow_control;
	to->retry_count = param->retry_count;
	to->rnr_retry_count = param->rnr_retry_count;
	return put_private_data(cm, param, to);
}

static void put_ece(const struct cm_id *cm, struct rdma_ucm_ece *to)
{
	to->vendor_id = cm->local_ece.vendor_id;
	to->attr_mod = cm->local_ece.options;
}

/* Returns whether the QP's adapter and the peer's ECE have the same vendor: options of another
 * vendor mean nothing to the adapter. Returns false if either side has no ECE. */
static bool knows_ece(const struct cm_id *cm)
{
	struct ibv_ece own = { 0 };

	return cm->remote_ece.vendor_id && !ibv_query_ece(cm->id.qp, &own) &&
	       own.vendor_id == cm->remote_ece.vendor_id;
}

int rdmacm_qp_take_ece(struct cm_id *cm)
{
	int ret = knows_ece(cm) ? ibv_set_ece(cm->id.qp, &cm->remote_ece) : 0;

	return ret == EOPNOTSUPP ? 0 : ret;
}

/* Offers the QP's own ECE, unless the program has chosen an ECE: its choice goes before the
 * provider's. */
static void offer_ece(struct cm_id *cm)
{
	if (cm->id.qp && !cm->local_ece.vendor_id && ibv_query_ece(cm->id.qp, &cm->local_ece))
		cm->local_ece = (struct ibv_ece){ 0 };
}

/* Offers the ECE that the QP had at its creation, as release 65.0 does, unless the program has
 * chosen an ECE. */
static inline void offer_first_ece(struct cm_id *cm)
{
	if (!cm->id.qp || cm->local_ece.vendor_id)
		return;
	if (cm->id.qp == cm->init_qp)
		cm->local_ece = cm->init_ece;
	else
		offer_ece(cm);
}

CMA_EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	const struct rdma_conn_param *param = conn_param ? conn_param : &default_param;
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret = check_side(
		cm, conn_param,
		"rdma_connect: the id's address is not resolved yet: call rdma_resolve_addr() and "
		"rdma_resolve_route() before, and take their events");

	if (ret)
		return cma_return(ret);
	clear_struct(&cmd.connect, sizeof(cmd.connect));
	cmd.connect.id = cm->number;
	choose_depths(cm, param, false);
	ret = put_param(cm, param, &cmd.connect.conn_param);
	if (ret)
		return cma_return(ret);
	offer_first_ece(cm);
	put_ece(cm, &cmd.connect.ece);
	ret = CM_RUN_ID(cm, &cmd, CONNECT, connect, 0);
	return cma_return(ret ? ret : cm_event_await(cm));
}

int rdmacm_connect_confirm(struct cm_id *cm)
{
	struct cm_cmd cmd;

	clear_struct(&cmd.accept, sizeof(cmd.accept));
	cmd.accept.uid = (uintptr_t)cm;
	cmd.accept.id = cm->number;
	return CM_RUN_ID(cm, &cmd, ACCEPT, accept, 0);
}

CMA_EXPORT int rdma_establish(struct rdma_cm_id *id)
{
	if (id->qp)
		return cma_refuse(EINVAL, "rdma_establish",
				  "with a QP on the id, the library does it by itself");
	return cma_return(rdmacm_connect_confirm(to_cm_id(id)));
}

CMA_EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret;

	cmd.listen = (struct rdma_ucm_listen){ .id = cm->number, .backlog = backlog };
	ret = CM_RUN_ID(cm, &cmd, LISTEN, listen, 0);
	if (ret || rdma_get_src_port(id)) /* an unbound id: the kernel has bound it just now */
		return cma_return(ret);
	return cma_return(rdmacm_id_query_route(cm));
}

/* Enables the peer's ECE options on the QP, and tells the peer which of them are in use. Must
 * precede RTR: the adapter takes options only before (ibv_set_ece(3)). */
static int prepare_qp(struct cm_id *cm)
{
	bool asks;
	int ret = 0;

	if (!cm->id.qp || cm->id.qp_type == IBV_QPT_UD)
		return 0;
	asks = !cm->local_ece.vendor_id && knows_ece(cm);
	if (asks)
		ret = rdmacm_qp_take_ece(cm);
	if (!ret)
		ret = rdmacm_qp_to_rtr(cm, cm->responder_resources);
	if (!ret)
		ret = rdmacm_qp_to_rts(cm, cm->initiator_depth);
	if (!ret && asks)
		offer_ece(cm);
	return ret;
}

CMA_EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *conn_param)
{
	const struct rdma_conn_param *param = conn_param ? conn_param : &default_param;
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret = check_side(
		cm, conn_param,
		"rdma_accept: the id is not of a connection request: it takes the id of the "
		"event RDMA_CM_EVENT_CONNECT_REQUEST");

	if (ret)
		return cma_return(ret);
	clear_struct(&cmd.accept, sizeof(cmd.accept));
	cmd.accept.uid = (uintptr_t)cm;
	cmd.accept.id = cm->number;
	choose_depths(cm, param, true);
	ret = put_param(cm, param, &cmd.accept.conn_param);
	if (!ret)
		ret = prepare_qp(cm);
	if (ret)
		return cma_return(ret);
	put_ece(cm, &cmd.accept.ece);
	ret = CM_RUN_ID(cm, &cmd, ACCEPT, accept, 0);
	if (ret)
		rdmacm_qp_to_error(cm);
	if (ret || id->qp_type == IBV_QPT_UD) /* datagram ids get no ESTABLISHED event */
		return cma_return(ret);
	return cma_return(cm_event_await(cm));
}

static int reject_request(struct cm_id *cm, const void *data, uint8_t len, uint8_t reason)
{
	struct cm_cmd cmd;

	if (len && !data) {
		verbs_warn("rdma_reject: %u bytes of private data at NULL", len);
		return EINVAL;
	}
	clear_struct(&cmd.reject, sizeof(cmd.reject));
	cmd.reject.id = cm->number;
	cmd.reject.private_data_len = len;
	cmd.reject.reason = reason;
	if (len)
		memcpy(cmd.reject.private_data, data, len);
	return CM_RUN_ID(cm, &cmd, REJECT, reject, 0);
}

CMA_EXPORT int rdma_reject(struct rdma_cm_id *id, const void *private_data,
			   uint8_t private_data_len)
{
	return cma_return(
		reject_request(to_cm_id(id), private_data, private_data_len, REJ_CONSUMER));
}

CMA_EXPORT int rdma_reject_ece(struct rdma_cm_id *id, const void *private_data,
			       uint8_t private_data_len)
{
	return cma_return(
		reject_request(to_cm_id(id), private_data, private_data_len, REJ_VENDOR_OPTION));
}

CMA_EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
	struct cm_cmd cmd;

	cmd.notify = (struct rdma_ucm_notify){ .id = to_cm_id(id)->number, .event = event };
	return cma_return(CM_RUN_ID(to_cm_id(id), &cmd, NOTIFY, notify, 0));
}

CMA_EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
	struct cm_id *cm = to_cm_id(id);
	struct cm_cmd cmd;
	int ret = rdmacm_qp_to_error(cm);

	cmd.disconnect = (struct rdma_ucm_disconnect){ .id = cm->number };
	if (!ret)
		ret = CM_RUN_ID(cm, &cmd, DISCONNECT, disconnect, 0);
	return cma_return(ret ? ret : cm_event_await(cm));
}

CMA_EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || id->qp || !ece || !ece->vendor_id || ece->comp_mask)
		return cma_refuse(EINVAL, "rdma_set_local_ece",
				  "wants an id without a QP, a vendor_id, and comp_mask 0");
	to_cm_id(id)->local_ece = *ece;
	return 0;
}

CMA_EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece)
{
	if (!id || id->qp || !ece) /* with a QP on the id, the library negotiates ECE */
		return cma_refuse(EINVAL, "rdma_get_remote_ece", "wants an id without a QP");
	*ece = (struct ibv_ece){ .vendor_id = to_cm_id(id)->remote_ece.vendor_id,
				 .options = to_cm_id(id)->remote_ece.options };
	return 0;
}
