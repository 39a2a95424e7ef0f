/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * subnet.c - see subnet.h. IBTA vol 1, 15.2; IPoIB's broadcast group always exists (RFC 4391, 5).
 *
 * Unsupported attributes are refused with their status.
 * Decision: docs/adr/0042.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "ib/packet.h"
#include "ib/sa.h"
#include "softhca/net/segments.h"
#include "softhca/net/subnet.h"
#include "util/bits.h"

enum { MAX_GROUPS = 4096, RESPONSE_TIME = 18 };

struct member {
	LIST_ENTRY(member) entry;
	uint8_t gid[16];
	uint8_t states;
};

struct group {
	LIST_ENTRY(group) entry;
	uint8_t record[MC_MEMBER_RECORD_SIZE];
	LIST_HEAD(, member) members;
};

struct subnet {
	const struct subnet_ops *ops;
	void *owner;
	unsigned int num_groups;
	LIST_HEAD(, group) groups;
	struct services services;
	struct segments segments;
};

struct request {
	const uint8_t *mad;
	uint64_t components;
	const uint8_t *data;
	const struct fabric_msg *msg;
};

int subnet_create(const struct subnet_ops *ops, void *owner, struct subnet **out)
{
	struct subnet *subnet = calloc(1, sizeof(*subnet));

	if (!subnet)
		return ENOMEM;
	subnet->ops = ops;
	subnet->owner = owner;
	LIST_INIT(&subnet->groups);
	services_init(&subnet->services);
	*out = subnet;
	return 0;
}

static void free_group(struct subnet *subnet, struct group *group)
{
	struct member *member;

	while ((member = LIST_FIRST(&group->members)) != NULL) {
		LIST_REMOVE(member, entry);
		free(member);
	}
	LIST_REMOVE(group, entry);
	subnet->num_groups--;
	free(group);
}

void subnet_destroy(struct subnet *subnet)
{
	while (!LIST_EMPTY(&subnet->groups))
		free_group(subnet, LIST_FIRST(&subnet->groups));
	services_clear(&subnet->services);
	segments_clear(&subnet->segments);
	free(subnet);
}

static bool request_has(const struct request *req, unsigned int component)
{
	return req->components >> component & 1;
}

static struct request request_decode(const struct fabric_msg *msg)
{
	const uint8_t *mad = msg->payload;

	return (struct request){ mad, fld_get(mad, SA_COMPONENTS), mad + SA_DATA, msg };
}

static const uint8_t *mgid_of(const struct group *group)
{
	return fld_at(group->record, MC_MGID);
}

static struct group *find_group(const struct subnet *subnet, const uint8_t *mgid)
{
	struct group *group;

	LIST_FOREACH(group, &subnet->groups, entry)
		if (!memcmp(mgid_of(group), mgid, 16))
			return group;
	return NULL;
}

static struct member *find_member(const struct group *group, const uint8_t *gid)
{
	struct member *member;

	LIST_FOREACH(member, &group->members, entry)
		if (!memcmp(member->gid, gid, 16))
			return member;
	return NULL;
}

/* Returns the LID of a multicast group: a hash, so it is the same in every process. Groups may
 * share a LID; the GID tells them apart. */
uint16_t subnet_mlid(const uint8_t mgid[16])
{
	uint32_t sum = 2166136261u;

	for (unsigned int i = 0; i < 16; i++)
		sum = (sum ^ mgid[i]) * 16777619u; /* FNV-1a */
	return LID_MULTICAST + (sum ^ sum >> 16) % 0x3ffe;
}

/* Returns whether GID is IPoIB's broadcast group, ff1x:401b:<P_Key>::ffff:ffff with scope x. */
static bool is_ipoib_broadcast(const uint8_t *mgid)
{
	static const uint8_t signature[2] = { 0x40, 0x1b };
	static const uint8_t rest[10] = { [6] = 0xff, 0xff, 0xff, 0xff };

	return mgid[0] == 0xff && mgid[1] >> 4 == 1 && !memcmp(mgid + 2, signature, 2) &&
	       !memcmp(mgid + 6, rest, sizeof(rest));
}

/* Returns whether the request has the components that it must have to create a group. */
static bool may_create(const struct request *req, const uint8_t *mgid)
{
	return is_ipoib_broadcast(mgid) ||
	       (request_has(req, MC_HAS_QKEY) && request_has(req, MC_HAS_TCLASS) &&
		request_has(req, MC_HAS_PKEY) && request_has(req, MC_HAS_SL) &&
		request_has(req, MC_HAS_FLOW_LABEL));
}

static void fill_group(struct group *group, const struct request *req, const uint8_t *mgid)
{
	uint8_t *record = group->record;

	memcpy(record, req->data, MC_MEMBER_RECORD_SIZE);
	fld_set(record, MC_MLID, subnet_mlid(mgid));
	if (!request_has(req, MC_HAS_QKEY))
		fld_set(record, MC_QKEY, IPOIB_QKEY);
	if (!request_has(req, MC_HAS_PKEY))
		fld_set(record, MC_PKEY, PKEY_DEFAULT);
	if (!request_has(req, MC_HAS_MTU) || fld_get(record, MC_MTU_SELECTOR) != SELECT_EXACTLY)
		fld_set(record, MC_MTU, MTU_4096);
	fld_set(record, MC_MTU_SELECTOR, SELECT_EXACTLY);
	fld_set(record, MC_RATE_SELECTOR, SELECT_EXACTLY);
	fld_set(record, MC_RATE, RATE_10_GBPS);
	fld_set(record, MC_LIFETIME_SELECTOR, SELECT_EXACTLY);
	fld_set(record, MC_LIFETIME, LIFETIME_134_MS);
	fld_set(record, MC_SCOPE, mgid[1] & 0xf);
}

static uint16_t create_group(struct subnet *subnet, const struct request *req, struct group **out)
{
	const uint8_t *mgid = fld_at(req->data, MC_MGID);
	struct group *group;

	if (!may_create(req, mgid))
		return SA_INSUFFICIENT_COMPONENTS;
	if (mgid[0] != 0xff ||
	    (request_has(req, MC_HAS_MTU) && fld_get(req->data, MC_MTU) > MTU_4096))
		return SA_INVALID_REQUEST;
	group = subnet->num_groups < MAX_GROUPS ? calloc(1, sizeof(*group)) : NULL;
	if (!group)
		return SA_NO_RESOURCES;
	fill_group(group, req, mgid);
	LIST_INIT(&group->members);
	LIST_INSERT_HEAD(&subnet->groups, group, entry);
	subnet->num_groups++;
	*out = group;
	return 0;
}

static bool group_fits(const struct group *group, const struct request *req)
{
	if (request_has(req, MC_HAS_QKEY) &&
	    fld_get(req->data, MC_QKEY) != fld_get(group->record, MC_QKEY))
		return false;
	return !request_has(req, MC_HAS_MTU) || !request_has(req, MC_HAS_MTU_SELECTOR) ||
	       fld_get(req->data, MC_MTU_SELECTOR) != SELECT_EXACTLY ||
	       fld_get(req->data, MC_MTU) == fld_get(group->record, MC_MTU);
}

static uint16_t add_member(struct group *group, const uint8_t *gid, uint8_t states)
{
	struct member *member = find_member(group, gid);

	if (!member) {
		member = calloc(1, sizeof(*member));
		if (!member)
			return SA_NO_RESOURCES;
		memcpy(member->gid, gid, sizeof(member->gid));
		LIST_INSERT_HEAD(&group->members, member, entry);
	}
	member->states |= states;
	return 0;
}

static void put_member(const struct group *group, const uint8_t *gid, uint8_t *data)
{
	const struct member *member = find_member(group, gid);
	uint8_t own[16];

	memcpy(own, gid, sizeof(own));
	memcpy(data, group->record, MC_MEMBER_RECORD_SIZE);
	memcpy(fld_at(data, MC_PORT_GID), own, sizeof(own));
	fld_set(data, MC_JOIN_STATE, member ? member->states : 0);
}

static uint16_t join_group(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	const uint8_t *gid = fld_at(req->data, MC_PORT_GID);
	struct group *group = find_group(subnet, fld_at(req->data, MC_MGID));
	uint8_t states = fld_get(req->data, MC_JOIN_STATE);
	uint16_t status = 0;

	if (!request_has(req, MC_HAS_MGID) || !request_has(req, MC_HAS_PORT_GID) ||
	    !request_has(req, MC_HAS_JOIN_STATE))
		return SA_INSUFFICIENT_COMPONENTS;
	if (!states)
		return SA_INVALID_REQUEST;
	if (!subnet->ops->find(subnet->owner, gid))
		return SA_INVALID_GID;
	if (!group)
		status = create_group(subnet, req, &group);
	else if (!group_fits(group, req))
		status = SA_INVALID_REQUEST;
	if (!status)
		status = add_member(group, gid, states);
	if (!status)
		put_member(group, gid, data);
	return status;
}

static uint16_t leave_group(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	const uint8_t *gid = fld_at(req->data, MC_PORT_GID);
	struct group *group = find_group(subnet, fld_at(req->data, MC_MGID));
	struct member *member = group ? find_member(group, gid) : NULL;

	if (!member || !(member->states & fld_get(req->data, MC_JOIN_STATE)))
		return SA_INVALID_REQUEST;
	put_member(group, gid, data);
	member->states &= ~fld_get(req->data, MC_JOIN_STATE);
	if (!member->states) {
		LIST_REMOVE(member, entry);
		free(member);
	}
	if (LIST_EMPTY(&group->members))
		free_group(subnet, group);
	return 0;
}

static bool member_is_wanted(const struct request *req, const struct group *group,
			     const struct member *member)
{
	if (request_has(req, MC_HAS_MGID) && memcmp(mgid_of(group), fld_at(req->data, MC_MGID), 16))
		return false;
	return !request_has(req, MC_HAS_PORT_GID) ||
	       !memcmp(member->gid, fld_at(req->data, MC_PORT_GID), 16);
}

static void list_members(struct subnet *subnet, const struct request *req, struct records *records)
{
	struct member *member;
	struct group *group;

	LIST_FOREACH(group, &subnet->groups, entry) {
		LIST_FOREACH(member, &group->members, entry) {
			uint8_t *record;

			if (!member_is_wanted(req, group, member))
				continue;
			record = records_add(records);
			if (record)
				put_member(group, member->gid, record);
		}
	}
}

static uint16_t get_group(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	struct group *group = find_group(subnet, fld_at(req->data, MC_MGID));

	if (!group)
		return SA_NO_RECORDS;
	put_member(group, fld_at(req->data, MC_PORT_GID), data);
	return 0;
}

static bool is_about_path(const uint8_t *mad)
{
	return fld_get(mad, MAD_ATTRIBUTE) == SA_PATH_RECORD &&
	       fld_get(mad, SA_COMPONENTS) >> PATH_HAS_DGID & 1;
}

static uint16_t get_path(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	uint16_t dlid = subnet->ops->find(subnet->owner, fld_at(req->data, PATH_DGID));
	uint16_t pkey =
		request_has(req, PATH_HAS_PKEY) ? fld_get(req->data, PATH_PKEY) : PKEY_DEFAULT;

	if (!dlid || (pkey & PKEY_PARTITION) != (PKEY_DEFAULT & PKEY_PARTITION))
		return SA_NO_RECORDS;
	memcpy(data, req->data, FLD_BYTE(PATH_DLID)); /* service id and GIDs as in the query */
	fld_set(data, PATH_DLID, dlid);
	fld_set(data, PATH_SLID, req->msg->addr.slid);
	inventory_describe_path(data);
	return 0;
}

struct services *subnet_services(struct subnet *subnet)
{
	return &subnet->services;
}

static unsigned int find_service(const struct subnet *subnet, const uint8_t *mad,
				 uint8_t (*record)[SERVICE_RECORD_SIZE])
{
	return services_find(&subnet->services, fld_get(mad, SA_COMPONENTS), mad + SA_DATA, record,
			     !!record);
}

static void list_services(struct subnet *subnet, const struct request *req, struct records *records)
{
	uint8_t found[MAX_SERVICES][SERVICE_RECORD_SIZE];
	unsigned int count =
		services_find(&subnet->services, req->components, req->data, found, MAX_SERVICES);

	for (unsigned int i = 0; i < count; i++) {
		uint8_t *record = records_add(records);

		if (record)
			memcpy(record, found[i], sizeof(found[i]));
	}
}

static uint16_t get_service(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	uint8_t record[1][SERVICE_RECORD_SIZE];
	unsigned int count = find_service(subnet, req->mad, record);

	if (!count)
		return SA_NO_RECORDS;
	if (count > 1)
		return SA_TOO_MANY_RECORDS;
	memcpy(data, record[0], sizeof(record[0]));
	return 0;
}

static uint16_t get_class(struct subnet *subnet, const struct request *req, uint8_t *data)
{
	(void)subnet;
	(void)req;
	fld_set(data, CPI_BASE_VERSION, MAD_BASE_VERSION_1);
	fld_set(data, CPI_CLASS_VERSION, SA_CLASS_VERSION);
	fld_set(data, CPI_MASK2, CPI_MASK2_SENDONLY_FULL_MEMBERS);
	fld_set(data, CPI_RESPONSE_TIME, RESPONSE_TIME);
	return 0;
}

static const struct call {
	uint8_t method, response;
	uint16_t attribute;
	uint16_t (*run)(struct subnet *subnet, const struct request *req, uint8_t *data);
} calls[] = {
	{ MAD_GET, MAD_GET, MAD_CLASS_PORT_INFO, get_class },
	{ MAD_GET, MAD_GET, SA_SERVICE_RECORD, get_service },
	{ MAD_GET, MAD_GET, SA_PATH_RECORD, get_path },
	{ MAD_GET, MAD_GET, SA_MC_MEMBER_RECORD, get_group },
	{ MAD_SET, MAD_GET, SA_MC_MEMBER_RECORD, join_group },
	{ SA_DELETE, SA_DELETE, SA_MC_MEMBER_RECORD, leave_group },
};

/* Finds the handler of a request, or NULL. Path queries without a GID have no handler here, as the
 * inventory's paths answer them. */
static const struct call *find_call(const uint8_t *mad)
{
	if (fld_get(mad, MAD_ATTRIBUTE) == SA_PATH_RECORD && !is_about_path(mad))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (calls[i].method == fld_get(mad, MAD_METHOD) &&
		    calls[i].attribute == fld_get(mad, MAD_ATTRIBUTE))
			return &calls[i];
	return NULL;
}

bool subnet_is_asked(const struct fabric_msg *msg)
{
	return !msg->addr.by_gid && msg->addr.dlid == FABRIC_SUBNET_LID && msg->dest_qpn != SMI_QPN;
}

static bool is_of_subnet(const struct fabric_msg *msg)
{
	const uint8_t *mad = msg->payload;

	return msg->service == FABRIC_UD && msg->op == FABRIC_SEND && msg->dest_qpn == GSI_QPN &&
	       msg->qkey == GSI_QKEY && msg->payload_len == MAD_SIZE &&
	       fld_get(mad, MAD_CLASS) == MAD_CLASS_SA &&
	       fld_get(mad, MAD_CLASS_VERSION) == SA_CLASS_VERSION;
}

/* Returns whether MSG is a request, not an acknowledge of an answer. */
static bool is_request(const struct fabric_msg *msg)
{
	const uint8_t *mad = msg->payload;

	if (!is_of_subnet(msg) || fld_get(mad, MAD_METHOD) & MAD_RESPONSE)
		return false;
	return !(fld_get(mad, RMPP_FLAGS) & RMPP_ACTIVE) || fld_get(mad, RMPP_TYPE) == RMPP_DATA;
}

/* Returns whether another process may have what MAD asks for, if this one has no record of it. */
static bool may_be_of_others(const uint8_t *mad)
{
	return is_about_path(mad) || fld_get(mad, MAD_ATTRIBUTE) == SA_SERVICE_RECORD;
}

bool subnet_is_about_own(const struct subnet *subnet, const struct fabric_msg *msg)
{
	const uint8_t *mad = msg->payload;

	if (!is_request(msg) || !may_be_of_others(mad))
		return false;
	if (is_about_path(mad))
		return subnet->ops->find(subnet->owner, fld_at(mad + SA_DATA, PATH_DGID));
	return find_service(subnet, mad, NULL);
}

bool subnet_knows(const struct subnet *subnet, const struct fabric_msg *msg)
{
	return !is_request(msg) || !may_be_of_others(msg->payload) ||
	       subnet_is_about_own(subnet, msg);
}

static uint32_t record_size(uint16_t attribute)
{
	switch (attribute) {
	case SA_SERVICE_RECORD:
		return SERVICE_RECORD_SIZE;
	case SA_MC_MEMBER_RECORD:
		return MC_MEMBER_RECORD_SIZE;
	default:
		return inventory_record_size(attribute);
	}
}

static void list_path(struct subnet *subnet, const struct request *req, struct records *records)
{
	uint8_t data[PATH_RECORD_SIZE] = { 0 }, *record;

	if (get_path(subnet, req, data))
		return;
	record = records_add(records);
	if (record)
		memcpy(record, data, sizeof(data));
}

static void list_records(struct subnet *subnet, const struct request *req, struct records *records)
{
	uint16_t attribute = fld_get(req->mad, MAD_ATTRIBUTE);
	struct inventory_wish wish = { attribute, fld_get(req->mad, MAD_MODIFIER), req->components,
				       req->data };

	records_init(records, record_size(attribute));
	if (attribute == SA_SERVICE_RECORD)
		list_services(subnet, req, records);
	else if (attribute == SA_MC_MEMBER_RECORD)
		list_members(subnet, req, records);
	else if (attribute == SA_PATH_RECORD && request_has(req, PATH_HAS_DGID))
		list_path(subnet, req, records);
	else
		inventory_find(subnet->ops->ask, subnet->owner, &wish, records);
}

static void put_table_header(uint8_t *mad, const struct records *records)
{
	fld_set(mad, RMPP_VERSION, RMPP_VERSION_1);
	fld_set(mad, RMPP_TYPE, RMPP_DATA);
	fld_set(mad, RMPP_FLAGS, RMPP_ACTIVE | RMPP_FIRST | RMPP_LAST);
	fld_set(mad, RMPP_SEGMENT, 1);
	fld_set(mad, RMPP_LENGTH, SA_HEADER_SIZE + records->count * records->spacing);
	fld_set(mad, SA_ATTR_OFFSET, records->spacing / 8);
}

/* Writes a table that fits into one datagram, or starts a long answer. */
static void put_table(struct subnet *subnet, struct records *records, uint8_t *mad,
		      const struct fabric_msg *answer)
{
	size_t len = (size_t)records->count * records->spacing;

	put_table_header(mad, records);
	if (len <= MAD_SIZE - SA_DATA) {
		if (len)
			memcpy(mad + SA_DATA, records->bytes, len);
		return;
	}
	segments_start(&subnet->segments, mad, records->bytes, len, answer);
	records->bytes = NULL;
}

static uint16_t run_table(struct subnet *subnet, const struct request *req, uint8_t *mad,
			  const struct fabric_msg *answer)
{
	struct records records;
	uint16_t status = 0;

	list_records(subnet, req, &records);
	fld_set(mad, MAD_METHOD, SA_GET_TABLE | MAD_RESPONSE);
	if (records.failed)
		status = SA_NO_RESOURCES;
	else
		put_table(subnet, &records, mad, answer);
	records_free(&records);
	return status;
}

/* Answers with one record of the inventory. Returns the status of the answer. */
static uint16_t run_single(struct subnet *subnet, const struct request *req, uint8_t *mad)
{
	struct records records;
	uint16_t status = 0;

	list_records(subnet, req, &records);
	fld_set(mad, MAD_METHOD, MAD_GET | MAD_RESPONSE);
	if (records.count == 1)
		memcpy(mad + SA_DATA, records.bytes, records.size);
	else
		status = records.failed  ? SA_NO_RESOURCES
			 : records.count ? SA_TOO_MANY_RECORDS
					 : SA_NO_RECORDS;
	records_free(&records);
	return status;
}

static uint16_t request_run(struct subnet *subnet, const struct request *req, uint8_t *mad,
			    const struct fabric_msg *answer)
{
	unsigned int method = fld_get(req->mad, MAD_METHOD);
	const struct call *call = find_call(req->mad);
	bool has_records = record_size(fld_get(req->mad, MAD_ATTRIBUTE));

	if (call) {
		fld_set(mad, MAD_METHOD, call->response | MAD_RESPONSE);
		return call->run(subnet, req, mad + SA_DATA);
	}
	if (method == SA_GET_TABLE && has_records)
		return run_table(subnet, req, mad, answer);
	if (method == MAD_GET && has_records)
		return run_single(subnet, req, mad);
	fld_set(mad, MAD_METHOD, method | MAD_RESPONSE);
	return MAD_UNSUPPORTED_METHOD_ATTRIBUTE;
}

static void address_answer(const struct fabric_msg *msg, struct fabric_msg *answer)
{
	*answer = (struct fabric_msg){
		.service = FABRIC_UD,
		.op = FABRIC_SEND,
		.addr = msg->addr,
		.dest_qpn = msg->src_qpn,
		.src_qpn = GSI_QPN,
		.qkey = GSI_QKEY,
		.pkey = msg->pkey,
		.packets = 1,
		.mtu = msg->mtu,
		.first = true,
		.last = true,
		.payload_len = MAD_SIZE,
	};
	answer->addr.dlid = msg->addr.slid;
	answer->addr.slid = msg->addr.dlid;
	memcpy(answer->addr.dgid, msg->addr.sgid, 16);
	memcpy(answer->addr.sgid, msg->addr.dgid, 16);
}

/* Writes the headers first, as a long answer copies them. */
static void answer_request(struct subnet *subnet, const struct fabric_msg *msg,
			   uint8_t mad[MAD_SIZE], struct fabric_msg *answer)
{
	struct request req = request_decode(msg);

	memcpy(mad, msg->payload, MAD_SIZE);
	memset(mad + SA_DATA, 0, MAD_SIZE - SA_DATA);
	fld_set(mad, MAD_STATUS, 0);
	fld_set(mad, MAD_STATUS, request_run(subnet, &req, mad, answer));
}

bool subnet_answer(struct subnet *subnet, const struct fabric_msg *msg, bool last,
		   uint8_t mad[MAD_SIZE], struct fabric_msg *answer)
{
	if (is_of_subnet(msg) && segments_take(&subnet->segments, msg))
		return subnet_answer_more(subnet, mad, answer);
	if (!is_request(msg) || (!last && !subnet_knows(subnet, msg)))
		return false;
	address_answer(msg, answer);
	answer_request(subnet, msg, mad, answer);
	answer->payload = mad;
	return !subnet->segments.current || subnet_answer_more(subnet, mad, answer);
}

bool subnet_answer_more(struct subnet *subnet, uint8_t mad[MAD_SIZE], struct fabric_msg *answer)
{
	return segments_next(&subnet->segments, mad, answer);
}
