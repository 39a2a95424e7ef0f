/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resources.c - RDMA netlink's lists of programs' objects, for "rdma resource show". Memory keys
 * are left out: the kernel shows them only to privileged programs.
 */
#include <errno.h>
#include <stdbool.h>

#include <rdma/rdma_netlink.h>

#include "softhca/front/process/discovery/netlink_reply.h"
#include "softhca/front/process/discovery/resources.h"
#include "softhca/front/process/uverbs/objects.h"
#include "util/bits.h"

static void put_qp(struct reply *reply, const struct object *object)
{
	const struct uverbs_qp *qp = (const struct uverbs_qp *)object;
	unsigned int state;
	uint32_t psn;

	qp_look(object->file->adapter, qp->real, &state, &psn);
	if (qp->real->port)
		reply_u32(reply, RDMA_NLDEV_ATTR_PORT_INDEX, qp->real->port);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_LQPN, qp->real->qpn);
	reply_u8(reply, RDMA_NLDEV_ATTR_RES_TYPE, (uint8_t)qp->type);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_SQ_PSN, psn);
	reply_u8(reply, RDMA_NLDEV_ATTR_RES_STATE, (uint8_t)state);
	if (qp->pd)
		reply_u32(reply, RDMA_NLDEV_ATTR_RES_PDN, qp->pd->pdn);
}

static void put_cq(struct reply *reply, const struct object *object)
{
	const struct uverbs_cq *cq = (const struct uverbs_cq *)object;

	reply_u32(reply, RDMA_NLDEV_ATTR_RES_CQE, cq->cqe);
	reply_u64(reply, RDMA_NLDEV_ATTR_RES_USECNT, object->users);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_CQN, cq->cqn);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_CTXN, object->file->context_number);
}

static void put_mr(struct reply *reply, const struct object *object)
{
	const struct uverbs_mr *mr = (const struct uverbs_mr *)object;

	reply_u64(reply, RDMA_NLDEV_ATTR_RES_MRLEN, mr->length);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_MRN, mr->key >> 8);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_PDN, mr->pd->pdn);
}

static void put_pd(struct reply *reply, const struct object *object)
{
	reply_u64(reply, RDMA_NLDEV_ATTR_RES_USECNT, object->users);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_PDN, ((const struct uverbs_pd *)object)->pdn);
	reply_u32(reply, RDMA_NLDEV_ATTR_RES_CTXN, object->file->context_number);
}

/* Kinds of objects, in the kernel's order of the summary. */
static const struct kind {
	const char *name;
	uint16_t object;
	/* command to list objects, and attributes of the list and of its entries; 0: objects cannot
	 * be listed */
	uint16_t command, table, entry;
	void (*put)(struct reply *reply, const struct object *object);
} kinds[] = {
	{ "pd", UVERBS_OBJECT_PD, RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD,
	  RDMA_NLDEV_ATTR_RES_PD_ENTRY, put_pd },
	{ "cq", UVERBS_OBJECT_CQ, RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ,
	  RDMA_NLDEV_ATTR_RES_CQ_ENTRY, put_cq },
	{ "qp", UVERBS_OBJECT_QP, RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP,
	  RDMA_NLDEV_ATTR_RES_QP_ENTRY, put_qp },
	{ "mr", UVERBS_OBJECT_MR, RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR,
	  RDMA_NLDEV_ATTR_RES_MR_ENTRY, put_mr },
	{ "srq", UVERBS_OBJECT_SRQ, 0, 0, 0, NULL },
};

static const struct kind context_kind = { "ctx",
					  UVERBS_OBJECT_DEVICE,
					  RDMA_NLDEV_CMD_RES_CTX_GET,
					  RDMA_NLDEV_ATTR_RES_CTX,
					  RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
					  NULL };

static void count_object(const struct object *object, void *arg)
{
	unsigned int *count = arg;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		count[i] += kinds[i].object == object->type;
}

static void put_sum(struct reply *reply, const char *name, unsigned int count)
{
	struct nlattr *entry = reply_nest(reply, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);

	reply_string(reply, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
	reply_u64(reply, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
	reply_nest_end(reply, entry);
}

static void put_identity(struct reply *reply, const struct adapter *adapter)
{
	reply_u32(reply, RDMA_NLDEV_ATTR_DEV_INDEX, adapter->index);
	reply_string(reply, RDMA_NLDEV_ATTR_DEV_NAME, adapter->name);
}

void resources_put_summary(struct reply *reply, uint16_t type, const struct adapter *adapter)
{
	unsigned int count[ARRAY_SIZE(kinds)] = { 0 };
	struct nlattr *table;

	uverbs_objects_see(adapter, count_object, count);
	reply_begin(reply, type);
	put_identity(reply, adapter);
	table = reply_nest(reply, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		put_sum(reply, kinds[i].name, count[i]);
	put_sum(reply, "ctx", uverbs_count_contexts(adapter));
	reply_nest_end(reply, table);
	reply_end(reply);
}

/* An entry takes less; the rest is for the end of a list. */
enum { ENTRY_ROOM = 128 };

struct listing {
	const struct kind *kind;
	struct reply *reply;
};

/* Returns NULL if the datagram is full. */
static struct nlattr *entry_begin(struct listing *listing)
{
	if (reply_room(listing->reply) < ENTRY_ROOM)
		return NULL;
	return reply_nest(listing->reply, listing->kind->entry);
}

static void entry_end(struct listing *listing, struct nlattr *entry, const struct uverbs_file *file)
{
	reply_u32(listing->reply, RDMA_NLDEV_ATTR_RES_PID, (uint32_t)file->client->pid);
	reply_nest_end(listing->reply, entry);
}

static bool list_object(const struct object *object, void *arg)
{
	struct listing *listing = arg;
	struct nlattr *entry;

	if (object->type != listing->kind->object)
		return true;
	entry = entry_begin(listing);
	if (!entry)
		return false;
	listing->kind->put(listing->reply, object);
	entry_end(listing, entry, object->file);
	return true;
}

static bool list_context(const struct uverbs_file *file, void *arg)
{
	struct listing *listing = arg;
	struct nlattr *entry = entry_begin(listing);

	if (!entry)
		return false;
	reply_u32(listing->reply, RDMA_NLDEV_ATTR_RES_CTXN, file->context_number);
	entry_end(listing, entry, file);
	return true;
}

static const struct kind *kind_of(unsigned int command)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].command && kinds[i].command == command)
			return &kinds[i];
	return command == context_kind.command ? &context_kind : NULL;
}

bool resources_can_list(uint16_t type)
{
	return kind_of(RDMA_NL_GET_OP(type));
}

bool resources_put(struct reply *reply, uint16_t type, const struct adapter *adapter,
		   struct object_place *place)
{
	struct listing listing = { kind_of(RDMA_NL_GET_OP(type)), reply };
	struct nlattr *table;
	bool is_last;

	reply_begin(reply, type);
	put_identity(reply, adapter);
	table = reply_nest(reply, listing.kind->table);
	if (listing.kind == &context_kind)
		is_last = uverbs_contexts_see_from(adapter, place, list_context, &listing);
	else
		is_last = uverbs_objects_see_from(adapter, place, list_object, &listing);
	reply_nest_end(reply, table);
	reply_end(reply);
	return is_last;
}
