/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - ids: creation and destruction, and the death of their adapter.
 */
#include <errno.h>
#include <stdlib.h>

#include "ib/packet.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"

int ucma_id_new(struct ucma_file *file, struct ucma_id **out)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return ENOMEM;
	id->file = file;
	id->conn.psn = ucma_random(file->daemon) & PSN_MASK;
	LIST_INIT(&id->mcasts);
	LIST_INSERT_HEAD(&file->ids, id, in_file);
	ucma_id_number(id);
	*out = id;
	return 0;
}

void ucma_id_destroy(struct ucma_id *id)
{
	resolve_cancel(&id->resolution);
	cm_destroy(&id->conn);
	ucma_mcast_free_all(id);
	ucma_event_part(id);
	ucma_events_drop(id, NULL);
	ucma_id_unlisten(id);
	ucma_id_unnumber(id);
	LIST_REMOVE(id, in_file);
	free(id->services);
	free(id);
}

static int type_of_port_space(const struct rdma_ucm_create_id *cmd, uint8_t *qp_type)
{
	switch (cmd->ps) {
	case PS_TCP:
		*qp_type = IB_UVERBS_QPT_RC;
		return 0;
	case PS_UDP:
	case PS_IPOIB:
		*qp_type = IB_UVERBS_QPT_UD;
		return 0;
	case PS_IB:
		*qp_type = cmd->qp_type;
		return 0;
	default:
		return EINVAL;
	}
}

int ucma_id_create(struct ucma_call *uc)
{
	struct rdma_ucm_create_id_resp resp;
	struct ucma_id *id;
	uint8_t qp_type;
	int ret = type_of_port_space(&uc->create_id, &qp_type);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!ret)
		ret = ucma_id_new(uc->file, &id);
	if (ret)
		return ret;
	id->uid = uc->create_id.uid;
	id->ps = uc->create_id.ps;
	id->qp_type = qp_type;
	id->datagram = qp_type == IB_UVERBS_QPT_UD;
	resp.id = id->number;
	ret = ucma_respond(uc, uc->create_id.response, &resp, sizeof(resp));
	if (ret)
		ucma_id_destroy(id);
	return ret;
}

int ucma_id_remove(struct ucma_call *uc)
{
	struct rdma_ucm_destroy_id_resp resp;
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->destroy_id.id, &id);

	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (ret)
		return ret;
	resp.events_reported = id->events_reported;
	ucma_id_destroy(id);
	return ucma_respond(uc, uc->destroy_id.response, &resp, sizeof(resp));
}

void ucma_id_adapter_died(struct adapter *adapter)
{
	struct ucma_id *id = NULL;

	while ((id = ucma_id_next(id))) {
		if (ucma_id_adapter(id) != adapter)
			continue;
		resolve_cancel(&id->resolution);
		cm_destroy(&id->conn);
		ucma_id_unlisten(id);
		id->state = UCMA_DISCONNECTED;
		if (id->uid)
			ucma_event_simple(id, EV_DEVICE_REMOVAL, 0);
	}
}
