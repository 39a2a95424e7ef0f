/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id.c - ids: numbers, creation and destruction, moves between files, and the death of their
 * adapter.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "ib/packet.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/daemon.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"

enum { BUCKETS = 1024 };

static LIST_HEAD(, ucma_id) ids = LIST_HEAD_INITIALIZER(ids);
static LIST_HEAD(, ucma_id) buckets[BUCKETS];
static uint32_t next_number = 1;

static struct ucma_id *find_number(uint32_t number)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &buckets[number % BUCKETS], in_bucket)
		if (id->number == number)
			return id;
	return NULL;
}

uint32_t ucma_random(const struct daemon *daemon)
{
	static bool seeded;
	uint32_t number;

	if (!daemon->options->seed && getrandom(&number, sizeof(number), 0) == sizeof(number))
		return number;
	if (!seeded)
		srandom((unsigned int)daemon->options->seed);
	seeded = true;
	return (uint32_t)random();
}

int ucma_id_new(struct ucma_file *file, struct ucma_id **out)
{
	struct ucma_id *id = calloc(1, sizeof(*id));

	if (!id)
		return ENOMEM;
	while (find_number(next_number))
		next_number++;
	id->number = next_number++;
	id->file = file;
	id->conn.psn = ucma_random(file->daemon) & PSN_MASK;
	LIST_INIT(&id->mcasts);
	LIST_INSERT_HEAD(&file->ids, id, in_file);
	LIST_INSERT_HEAD(&ids, id, in_all);
	LIST_INSERT_HEAD(&buckets[id->number % BUCKETS], id, in_bucket);
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
	LIST_REMOVE(id, in_bucket);
	LIST_REMOVE(id, in_file);
	LIST_REMOVE(id, in_all);
	free(id->services);
	free(id);
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	*id = find_number(number);
	if (!*id)
		return ENOENT;
	return (*id)->file == uc->file ? 0 : EINVAL;
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

struct ucma_id *ucma_id_next(struct ucma_id *id)
{
	return id ? LIST_NEXT(id, in_all) : LIST_FIRST(&ids);
}

struct adapter *ucma_id_adapter(const struct ucma_id *id)
{
	return id->has_src ? id->src.adapter : NULL;
}

void ucma_id_adapter_died(struct adapter *adapter)
{
	struct ucma_id *id;

	LIST_FOREACH(id, &ids, in_all) {
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

/* ---- to another file ---- */

static int file_of_descriptor(struct ucma_call *uc, int fd, struct ucma_file **file)
{
	struct stat st;

	if (client_fd_stat(uc->call->tid, fd, &st))
		return ENOENT;
	*file = ucma_file_find(&st);
	return *file ? 0 : EINVAL;
}

int ucma_id_migrate(struct ucma_call *uc)
{
	struct rdma_ucm_migrate_resp resp;
	struct ucma_id *id = find_number(uc->migrate_id.id);
	struct ucma_file *from;
	int ret = file_of_descriptor(uc, (int)uc->migrate_id.fd, &from);

	if (ret)
		return ret;
	if (uc->hdr.out < sizeof(resp))
		return ENOSPC;
	if (!id)
		return ENOENT;
	if (id->file != from)
		return EINVAL;
	resp.events_reported = id->events_reported;
	if (from != uc->file)
		ucma_events_move(id, uc->file);
	return ucma_respond(uc, uc->migrate_id.response, &resp, sizeof(resp));
}
