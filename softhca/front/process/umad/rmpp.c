/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rmpp.c - long datagrams, which come in parts: put together for agents that want them whole. IBTA
 * vol 1, 13.6 (reliable multi-packet protocol)
 */
#include <stdlib.h>
#include <string.h>

#include "ib/sa.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/log.h"

enum {
	WINDOW = 64,           /* as many parts may be under way */
	MAX_LENGTH = 64 << 20, /* of a datagram */
	VENDOR_DATA = 40,
	DEVICE_DATA = 64,
};

size_t umad_rmpp_header(unsigned int class)
{
	if (class == MAD_CLASS_SA)
		return SA_DATA;
	if (class >= MAD_CLASS_VENDOR_OUI && class <= MAD_CLASS_VENDOR_OUI_LAST)
		return VENDOR_DATA;
	return class == MAD_CLASS_DEVICE_MANAGEMENT || class == MAD_CLASS_DEVICE_ADMIN ||
			       class == MAD_CLASS_BIS
		       ? DEVICE_DATA
		       : MAD_HEADER_SIZE;
}

static void assembly_end(struct umad_assembly *assembly)
{
	LIST_REMOVE(assembly, entry);
	free(assembly->bytes);
	free(assembly);
}

void umad_rmpp_forget(struct umad_file *file, unsigned int agent, uint64_t transaction)
{
	struct umad_assembly *next;

	for (struct umad_assembly *one = LIST_FIRST(&file->assemblies); one; one = next) {
		next = LIST_NEXT(one, entry);
		if (one->agent == agent && (!transaction || one->transaction == transaction))
			assembly_end(one);
	}
}

static struct umad_assembly *assembly_find(struct umad_file *file, unsigned int agent,
					   const struct gsi_arrival *arrival)
{
	struct umad_assembly *assembly;

	LIST_FOREACH(assembly, &file->assemblies, entry)
		if (assembly->agent == agent && assembly->lid == arrival->addr.slid &&
		    assembly->transaction == fld_get(arrival->bytes, MAD_TRANSACTION))
			return assembly;
	return NULL;
}

static struct umad_assembly *assembly_new(struct umad_file *file, unsigned int agent,
					  const struct gsi_arrival *arrival)
{
	struct umad_assembly *assembly = calloc(1, sizeof(*assembly));

	if (!assembly)
		return NULL;
	assembly->agent = agent;
	assembly->lid = arrival->addr.slid;
	assembly->transaction = fld_get(arrival->bytes, MAD_TRANSACTION);
	LIST_INSERT_HEAD(&file->assemblies, assembly, entry);
	return assembly;
}

/* The first part stays whole, of the others there are the data. */
static bool assembly_add(struct umad_assembly *assembly, const uint8_t *mad)
{
	size_t from = assembly->segments ? umad_rmpp_header(fld_get(mad, MAD_CLASS)) : 0;
	size_t len = MAD_SIZE - from;
	uint8_t *bytes;

	if (assembly->len + len > MAX_LENGTH)
		return false;
	bytes = realloc(assembly->bytes, assembly->len + len);
	if (!bytes)
		return false;
	memcpy(bytes + assembly->len, mad + from, len);
	assembly->bytes = bytes;
	assembly->len += len;
	assembly->segments++;
	return true;
}

static void acknowledge(const struct gsi_arrival *arrival, uint32_t segment)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct hca_datagram datagram = {
		.port = (uint8_t)arrival->port,
		.dlid = arrival->addr.slid,
		.sl = arrival->addr.sl,
		.dest_qpn = arrival->src_qpn,
		.src_qpn = arrival->dest_qpn,
		.qkey = GSI_QKEY,
		.payload = mad,
		.len = MAD_SIZE,
	};

	memcpy(mad, arrival->bytes, umad_rmpp_header(fld_get(arrival->bytes, MAD_CLASS)));
	fld_set(mad, MAD_METHOD, fld_get(mad, MAD_METHOD) ^ MAD_RESPONSE);
	fld_set(mad, RMPP_TYPE, RMPP_ACK);
	fld_set(mad, RMPP_FLAGS, RMPP_ACTIVE);
	fld_set(mad, RMPP_SEGMENT, segment);
	fld_set(mad, RMPP_WINDOW, segment + WINDOW);
	umad_send_datagram(arrival->adapter, &datagram);
}

/* What is behind the data in the last part does not count: the part says how much it has. */
static size_t padding(const uint8_t *mad)
{
	uint32_t room = MAD_SIZE - MAD_HEADER_SIZE - RMPP_HEADER_SIZE;
	uint32_t length = fld_get(mad, RMPP_LENGTH);

	return length < room ? room - length : 0;
}

static uint8_t *assembly_finish(struct umad_assembly *assembly, const uint8_t *last, size_t *len)
{
	uint8_t *whole = assembly->bytes;

	*len = assembly->len - padding(last);
	assembly->bytes = NULL;
	assembly_end(assembly);
	return whole;
}

/* Parts come in their order; one that does not is missed, and so asked for again. */
static uint8_t *take_data(struct umad_file *file, unsigned int agent,
			  const struct gsi_arrival *arrival, size_t *len)
{
	struct umad_assembly *assembly = assembly_find(file, agent, arrival);
	uint32_t segment = fld_get(arrival->bytes, RMPP_SEGMENT);
	bool last = fld_get(arrival->bytes, RMPP_FLAGS) & RMPP_LAST;

	if (!assembly && segment == 1)
		assembly = assembly_new(file, agent, arrival);
	if (!assembly)
		return NULL;
	if (segment == assembly->segments + 1 && !assembly_add(assembly, arrival->bytes)) {
		log_error("umad: a long datagram is lost: no memory for it");
		assembly_end(assembly);
		return NULL;
	}
	last = last && segment == assembly->segments;
	if (last || assembly->segments % WINDOW == 1 || segment != assembly->segments)
		acknowledge(arrival, assembly->segments);
	return last ? assembly_finish(assembly, arrival->bytes, len) : NULL;
}

uint8_t *umad_rmpp_take(struct umad_file *file, unsigned int agent,
			const struct gsi_arrival *arrival, size_t *len)
{
	struct umad_assembly *assembly;

	if (fld_get(arrival->bytes, RMPP_TYPE) == RMPP_DATA)
		return take_data(file, agent, arrival, len);
	assembly = assembly_find(file, agent, arrival);
	if (assembly && fld_get(arrival->bytes, RMPP_TYPE) != RMPP_ACK)
		assembly_end(assembly);
	return NULL;
}
