/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * conn_event.c - events of connections from cm/, as events of their ids; and the callbacks that cm/
 * needs. Contents of events follow Linux (drivers/infiniband/core/cma.c and ucma.c).
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/cm/mad.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"
#include "util/bits.h"

static void put_rep(struct ucma_event *event, const uint8_t *mad, const struct cm_conn *conn)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;
	const uint8_t *data = cm_data(mad);

	param->private_data_len = REP_PRIVATE;
	memcpy(param->private_data, data + REP_PRIVATE_AT, REP_PRIVATE);
	param->responder_resources = conn->responder_resources;
	param->initiator_depth = conn->initiator_depth;
	param->flow_control = fld_get(data, REP_FLOW_CONTROL);
	param->rnr_retry_count = fld_get(data, REP_RNR_RETRY_COUNT);
	param->srq = fld_get(data, REP_SRQ);
	param->qp_num = conn->remote_qpn;
	event->resp.ece.vendor_id = fld_get(data, REP_VENDOR_ID_H) << 16 |
				    fld_get(data, REP_VENDOR_ID_M) << 8 |
				    fld_get(data, REP_VENDOR_ID_L);
	event->resp.ece.attr_mod = fld_get(mad, MAD_MODIFIER);
}

static void put_rej(struct ucma_event *event, const uint8_t *mad)
{
	struct rdma_ucm_conn_param *param = &event->resp.param.conn;

	param->private_data_len = REJ_PRIVATE;
	memcpy(param->private_data, cm_data(mad) + REJ_PRIVATE_AT, REJ_PRIVATE);
	event->resp.status = fld_get(cm_data(mad), REJ_REASON);
}

void ucma_conn_put_ah(const struct cm_path *path, uint8_t sgid_index,
		      struct ib_uverbs_ah_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	attr->port_num = path->port;
	attr->dlid = path->dlid;
	attr->sl = path->sl;
	attr->is_global = path->grh;
	if (!path->grh)
		return;
	memcpy(attr->grh.dgid, path->dgid, sizeof(attr->grh.dgid));
	attr->grh.sgid_index = sgid_index;
	attr->grh.hop_limit = path->hop_limit;
	attr->grh.traffic_class = path->traffic_class;
	attr->grh.flow_label = path->flow_label;
}

static void put_sidr_rep(struct ucma_event *event, const uint8_t *mad, const struct cm_conn *conn)
{
	struct rdma_ucm_ud_param *param = &event->resp.param.ud;
	const uint8_t *data = cm_data(mad);
	unsigned int status = fld_get(data, SIDR_REP_STATUS);

	param->private_data_len = SIDR_REP_PRIVATE;
	memcpy(param->private_data, data + SIDR_REP_PRIVATE_AT, SIDR_REP_PRIVATE);
	if (status != SIDR_SUCCESS) {
		event->resp.event = EV_UNREACHABLE;
		event->resp.status = status;
		return;
	}
	param->qp_num = fld_get(data, SIDR_REP_QPN);
	param->qkey = fld_get(data, SIDR_REP_QKEY);
	ucma_conn_put_ah(&conn->path, conn->path.gid_index, &param->ah_attr);
}

/* Notes that the connection has ended. Returns false if an earlier event has ended it, so that the
 * program gets one event. */
static bool id_disconnect_once(struct ucma_id *id)
{
	if (id->state != UCMA_CONNECTS)
		return false;
	id->state = UCMA_DISCONNECTED;
	return true;
}

static const struct {
	enum ucma_event_type type;
	int status;
} event_of[] = {
	[CM_EVENT_REQ_TIMEOUT] = { EV_UNREACHABLE, -ETIMEDOUT },
	[CM_EVENT_REP] = { EV_CONNECT_RESPONSE, 0 },
	[CM_EVENT_REP_TIMEOUT] = { EV_UNREACHABLE, -ETIMEDOUT },
	[CM_EVENT_RTU] = { EV_ESTABLISHED, 0 },
	[CM_EVENT_REJ] = { EV_REJECTED, 0 },
	[CM_EVENT_DREQ] = { EV_DISCONNECTED, 0 },
	[CM_EVENT_DREQ_TIMEOUT] = { EV_DISCONNECTED, -ETIMEDOUT },
	[CM_EVENT_DREP] = { EV_DISCONNECTED, 0 },
	[CM_EVENT_TIMEWAIT_EXIT] = { EV_TIMEWAIT_EXIT, 0 },
	[CM_EVENT_SIDR_REP] = { EV_ESTABLISHED, 0 },
};

static void fill_event(struct ucma_event *event, enum cm_event what, const uint8_t *mad,
		       const struct cm_conn *conn)
{
	if (what == CM_EVENT_REP)
		put_rep(event, mad, conn);
	else if (what == CM_EVENT_REJ)
		put_rej(event, mad);
	else if (what == CM_EVENT_SIDR_REP)
		put_sidr_rep(event, mad, conn);
}

void ucma_conn_event(struct ucma_id *id, enum cm_event what, const uint8_t *mad)
{
	struct ucma_event *event;

	if (event_of[what].type == EV_DISCONNECTED && !id_disconnect_once(id))
		return;
	if (!id->uid)
		return;
	event = ucma_event_new(id, event_of[what].type, event_of[what].status);
	if (!event)
		return;
	fill_event(event, what, mad, &id->conn);
	ucma_event_send(event);
}

static struct ucma_id *id_of(struct cm_conn *conn)
{
	return container_of(conn, struct ucma_id, conn);
}

static void conn_happened(struct cm_conn *conn, enum cm_event what, const uint8_t *mad)
{
	struct ucma_id *id = id_of(conn);

	if (what == CM_EVENT_REQ || what == CM_EVENT_SIDR_REQ) {
		struct cm_request request = {
			.mad = mad,
			.sidr = what == CM_EVENT_SIDR_REQ,
			.service = conn->service,
			.path = conn->path,
		};

		ucma_request_tell(id, &request);
	} else {
		ucma_conn_event(id, what, mad);
	}
}

static struct timer cm_timer;

static void cm_timer_expired(struct timer *timer)
{
	uint64_t next = cm_expire();

	if (next != CM_NEVER)
		timer_start(timer, next);
}

static void set_cm_timer(uint64_t deadline)
{
	cm_timer.expired = cm_timer_expired;
	timer_start(&cm_timer, deadline);
}

static uint64_t guid_of(const struct adapter *adapter)
{
	return adapter->node_guid;
}

static const struct cm_ops cm_ops = {
	ucma_request_wanted, conn_happened, gsi_send, guid_of, set_cm_timer, timer_now,
};

int ucma_conn_start(void)
{
	cm_start(&cm_ops);
	resolve_start(ucma_addr_is_own);
	return gsi_open(resolve_take, ucma_id_adapter_died);
}

void ucma_conn_stop(void)
{
	timer_stop(&cm_timer);
	gsi_close();
}
