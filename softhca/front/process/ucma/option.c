/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * option.c - options of an id: flags, timeouts, and a path that the program already knows.
 */
#include <errno.h>
#include <string.h>

#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/ucma/ucma.h"

enum { MAX_PATHS = 6 /* forward, return, and alternates of both */ };

static int get_option(struct ucma_call *uc, void *value, size_t size)
{
	if (uc->set_option.optlen != size)
		return EINVAL;
	return caller_read(uc->call, uc->set_option.optval, value, size);
}

static int set_flag(struct ucma_call *uc, struct ucma_id *id, bool *flag)
{
	int value, ret = get_option(uc, &value, sizeof(value));

	if (ret)
		return ret;
	if (id->state != UCMA_IDLE && id->state != UCMA_BOUND)
		return EINVAL;
	*flag = value != 0;
	return 0;
}

/* Sets the ACK timeout, 4.096 us * 2^n, of a connection. Its limit of 5 bits is checked when the QP
 * gets it. */
static int set_ack_timeout(struct ucma_call *uc, struct ucma_id *id)
{
	uint8_t value;
	int ret = get_option(uc, &value, sizeof(value));

	if (ret)
		return ret;
	if (id->datagram)
		return EINVAL;
	id->ack_timeout = value;
	id->has_ack_timeout = true;
	return 0;
}

static const struct ib_path_rec_data *pick_path(const struct ib_path_rec_data *paths, size_t count)
{
	enum { WANTED = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL };

	for (size_t i = 0; i < count; i++)
		if ((paths[i].flags & WANTED) == WANTED)
			return &paths[i];
	return NULL;
}

static void take_path(struct ucma_id *id, const struct ib_path_rec_data *data)
{
	const uint8_t *record = (const uint8_t *)data->path_rec;
	struct cm_path *path = &id->path;

	ucma_route_put_known(id);
	memcpy(path->dgid, fld_at(record, PATH_DGID), 16);
	path->dlid = fld_get(record, PATH_DLID);
	path->sl = fld_get(record, PATH_SL);
	path->flow_label = fld_get(record, PATH_FLOW_LABEL);
	path->hop_limit = fld_get(record, PATH_HOP_LIMIT);
	path->traffic_class = fld_get(record, PATH_TCLASS);
	path->mtu = fld_get(record, PATH_MTU);
	path->rate = fld_get(record, PATH_RATE);
	path->lifetime = fld_get(record, PATH_LIFETIME);
	id->dst.lid = path->dlid;
	memcpy(id->dst.gid, path->dgid, 16);
}

/* Sets the path instead of resolving a route; only on InfiniBand. */
static int set_path(struct ucma_call *uc, struct ucma_id *id)
{
	struct ib_path_rec_data paths[MAX_PATHS];
	const struct ib_path_rec_data *path;
	size_t len = uc->set_option.optlen;
	int ret;

	if (!len || len % sizeof(paths[0]) || len > sizeof(paths))
		return EINVAL;
	ret = caller_read(uc->call, uc->set_option.optval, paths, len);
	if (ret)
		return ret;
	path = pick_path(paths, len / sizeof(paths[0]));
	if (!path || id->state != UCMA_ADDR_RESOLVED || adapter_is_roce(id->src.adapter))
		return EINVAL;
	take_path(id, path);
	ucma_route_known(id, 0);
	return 0;
}

int ucma_id_set_option(struct ucma_call *uc)
{
	enum {
		LEVEL_ID = 0,
		LEVEL_IB = 1,
		IB_PATH = 1,
		TOS = 0,
		REUSEADDR = 1,
		AFONLY = 2,
		ACK_TIMEOUT = 3
	};
	struct ucma_id *id;
	int ret = ucma_id_find(uc, uc->set_option.id, &id);

	if (ret)
		return ret;
	if (uc->set_option.level == LEVEL_IB && uc->set_option.optname == IB_PATH)
		return set_path(uc, id);
	if (uc->set_option.level != LEVEL_ID)
		return ENOSYS;
	switch (uc->set_option.optname) {
	case TOS:
		return get_option(uc, &id->tos, sizeof(id->tos));
	case REUSEADDR:
		return set_flag(uc, id, &id->reuse_addr);
	case AFONLY:
		ret = set_flag(uc, id, &id->af_only);
		id->has_af_only |= !ret;
		return ret;
	case ACK_TIMEOUT:
		return set_ack_timeout(uc, id);
	default:
		return ENOSYS;
	}
}
