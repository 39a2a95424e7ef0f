/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * rmpp.c - datagrams in several segments (RMPP), reassembled for agents that want whole ones. IBTA
 * vol 1, 13.6 (reliable multi-packet protocol)
 */
#include <stdlib.h>
#include <string.h>

#include "ib/sa.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/log.h"

enum {
	WINDOW = 64, /* segments that may be unacknowledged */
	/* limit of the bytes of a file's unread and incomplete datagrams, so that peers cannot fill
	 * this process's memory */
	MAX_BYTES = 8 << 20,
	MAX_ASSEMBLIES = 1024, /* limit for a file */
	PATIENCE_MS = 40000,   /* time for a whole datagram, as in Linux */
	MEMORY_MS = 10000,     /* time for which a complete datagram is remembered, as in Linux */
	VENDOR_DATA = 40,
	DEVICE_DATA = 64,
};

static size_t rmpp_header(unsigned int class)
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

/* Sends an RMPP message of TYPE to ARRIVAL's sender. */
static void rmpp_answer(const struct gsi_arrival *arrival, const uint8_t *first, unsigned int type,
			unsigned int status, uint32_t segment)
{
	uint8_t mad[MAD_SIZE] = { 0 };
	struct hca_datagram datagram = {
		.port = (uint8_t)arrival->port,
		.dlid = arrival->addr.slid,
		.sl = arrival->addr.sl,
		.grh = arrival->addr.grh,
		.traffic_class = arrival->addr.traffic_class,
		.hop_limit = arrival->addr.hop_limit,
		.dest_qpn = arrival->src_qpn,
		.src_qpn = arrival->dest_qpn,
		.qkey = GSI_QKEY,
		.payload = mad,
		.len = MAD_SIZE,
	};

	memcpy(datagram.dgid, arrival->addr.sgid, sizeof(datagram.dgid));
	memcpy(datagram.dmac, arrival->addr.smac, sizeof(datagram.dmac));
	memcpy(mad, first, rmpp_header(fld_get(first, MAD_CLASS)));
	fld_set(mad, MAD_METHOD, fld_get(mad, MAD_METHOD) ^ MAD_RESPONSE);
	fld_set(mad, RMPP_TYPE, type);
	fld_set(mad, RMPP_FLAGS, RMPP_ACTIVE);
	fld_set(mad, RMPP_STATUS, status);
	fld_set(mad, RMPP_SEGMENT, segment);
	fld_set(mad, RMPP_WINDOW, type == RMPP_ACK ? segment + WINDOW : 0);
	umad_send_datagram(arrival->adapter, &datagram);
}

static void segment_acknowledge(const struct gsi_arrival *arrival, uint32_t segment)
{
	rmpp_answer(arrival, arrival->bytes, RMPP_ACK, 0, segment);
}

static void assembly_drop_bytes(struct umad_assembly *assembly)
{
	assembly->file->assembly_bytes -= assembly->len;
	free(assembly->bytes);
	assembly->bytes = NULL;
	assembly->len = 0;
}

static void assembly_end(struct umad_assembly *assembly)
{
	timer_stop(&assembly->timer);
	LIST_REMOVE(assembly, entry);
	assembly->file->assembly_count--;
	assembly_drop_bytes(assembly);
	free(assembly);
}

static void assembly_expired(struct timer *timer)
{
	struct umad_assembly *assembly = (struct umad_assembly *)timer;

	if (!assembly->complete && assembly->bytes)
		rmpp_answer(&assembly->first, assembly->bytes, RMPP_ABORT, RMPP_TOO_LONG, 0);
	assembly_end(assembly);
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

static bool is_from_same(const struct gsi_arrival *one, const struct gsi_arrival *other)
{
	const struct fabric_addr *a = &one->addr, *b = &other->addr;

	return one->src_qpn == other->src_qpn && a->slid == b->slid && a->grh == b->grh &&
	       (!a->grh || !memcmp(a->sgid, b->sgid, sizeof(a->sgid)));
}

static struct umad_assembly *assembly_find(struct umad_file *file, unsigned int agent,
					   const struct gsi_arrival *arrival)
{
	struct umad_assembly *assembly;

	LIST_FOREACH(assembly, &file->assemblies, entry)
		if (assembly->agent == agent && is_from_same(&assembly->first, arrival) &&
		    assembly->transaction == fld_get(arrival->bytes, MAD_TRANSACTION) &&
		    !memcmp(assembly->kind, arrival->bytes, sizeof(assembly->kind)))
			return assembly;
	return NULL;
}

static struct umad_assembly *assembly_new(struct umad_file *file, unsigned int agent,
					  const struct gsi_arrival *arrival)
{
	struct umad_assembly *assembly = NULL;

	if (file->assembly_count < MAX_ASSEMBLIES)
		assembly = calloc(1, sizeof(*assembly));
	if (!assembly)
		return NULL;
	assembly->file = file;
	assembly->agent = agent;
	assembly->first = *arrival;
	assembly->first.bytes = NULL;
	assembly->transaction = fld_get(arrival->bytes, MAD_TRANSACTION);
	memcpy(assembly->kind, arrival->bytes, sizeof(assembly->kind));
	assembly->timer.expired = assembly_expired;
	LIST_INSERT_HEAD(&file->assemblies, assembly, entry);
	file->assembly_count++;
	timer_start(&assembly->timer, timer_now() + PATIENCE_MS * NS_PER_MS);
	return assembly;
}

/* Adds a segment to the datagram: the whole of the first segment, only the data of others. */
static bool assembly_add(struct umad_assembly *assembly, const uint8_t *mad)
{
	size_t from = assembly->segments ? rmpp_header(fld_get(mad, MAD_CLASS)) : 0;
	size_t len = MAD_SIZE - from;
	uint8_t *bytes = NULL;

	if (assembly->file->assembly_bytes + assembly->file->packet_bytes + len <= MAX_BYTES)
		bytes = realloc(assembly->bytes, assembly->len + len);
	if (!bytes)
		return false;
	memcpy(bytes + assembly->len, mad + from, len);
	assembly->bytes = bytes;
	assembly->len += len;
	assembly->file->assembly_bytes += len;
	assembly->segments++;
	return true;
}

static size_t padding_of(const uint8_t *mad)
{
	uint32_t room = MAD_SIZE - MAD_HEADER_SIZE - RMPP_HEADER_SIZE;
	uint32_t length = fld_get(mad, RMPP_LENGTH);

	return length < room ? room - length : 0;
}

/* Returns the complete datagram. Keeps ASSEMBLY for a while, as the sender may repeat the last
 * segment. */
static uint8_t *assembly_finish(struct umad_assembly *assembly, const uint8_t *last, size_t *len)
{
	uint8_t *whole = assembly->bytes;

	*len = assembly->len - padding_of(last);
	assembly->bytes = NULL;
	assembly_drop_bytes(assembly);
	assembly->complete = true;
	timer_stop(&assembly->timer);
	timer_start(&assembly->timer, timer_now() + MEMORY_MS * NS_PER_MS);
	return whole;
}

static void assembly_refuse(struct umad_assembly *assembly, const struct gsi_arrival *arrival)
{
	log_note("umad: a long datagram is lost: there is no room for it");
	rmpp_answer(arrival, arrival->bytes, RMPP_ABORT, RMPP_NO_RESOURCES, 0);
	if (assembly)
		assembly_end(assembly);
}

/* Takes a segment. Drops a segment that is out of order, as the sender repeats it later. */
static uint8_t *take_part(struct umad_assembly *assembly, const struct gsi_arrival *arrival,
			  size_t *len)
{
	uint32_t segment = fld_get(arrival->bytes, RMPP_SEGMENT);
	bool last = fld_get(arrival->bytes, RMPP_FLAGS) & RMPP_LAST;

	if (segment == assembly->segments + 1 && !assembly_add(assembly, arrival->bytes)) {
		assembly_refuse(assembly, arrival);
		return NULL;
	}
	last = last && segment == assembly->segments;
	if (last || assembly->segments % WINDOW == 1 || segment != assembly->segments)
		segment_acknowledge(arrival, assembly->segments);
	return last ? assembly_finish(assembly, arrival->bytes, len) : NULL;
}

static uint8_t *take_data(struct umad_file *file, unsigned int agent,
			  const struct gsi_arrival *arrival, size_t *len)
{
	struct umad_assembly *assembly = assembly_find(file, agent, arrival);
	bool is_first = fld_get(arrival->bytes, RMPP_SEGMENT) == 1;

	if (assembly && assembly->complete) {
		segment_acknowledge(arrival, assembly->segments);
		return NULL;
	}
	if (!assembly && !is_first)
		return NULL;
	if (!assembly)
		assembly = assembly_new(file, agent, arrival);
	if (!assembly) {
		assembly_refuse(NULL, arrival);
		return NULL;
	}
	return take_part(assembly, arrival, len);
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
