/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * send.c - sends datagrams that programs write, and waits for answers.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ib/packet.h"
#include "ib/smp.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/umad/smi.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/log.h"

enum {
	LEAST_DATAGRAM = MAD_HEADER_SIZE + RMPP_HEADER_SIZE,
	/* per file: requests that wait for an answer, or that failed and are unread */
	MAX_SENDS = 4096,
};

bool umad_is_answer(const uint8_t *mad)
{
	unsigned int method = fld_get(mad, MAD_METHOD);

	return method & MAD_RESPONSE || method == MAD_TRAP_REPRESS ||
	       (fld_get(mad, MAD_CLASS) == MAD_CLASS_BASEBOARD && fld_get(mad, MAD_MODIFIER) & 1);
}

struct umad_send *umad_send_find(struct umad_file *file, unsigned int agent, const uint8_t *mad)
{
	struct umad_send *send;

	LIST_FOREACH(send, &file->sends, entry)
		if (send->agent == agent &&
		    fld_get(send->mad, MAD_TRANSACTION) == fld_get(mad, MAD_TRANSACTION) &&
		    fld_get(send->mad, MAD_CLASS) == fld_get(mad, MAD_CLASS))
			return send;
	return NULL;
}

void umad_send_end(struct umad_send *send)
{
	timer_stop(&send->timer);
	LIST_REMOVE(send, entry);
	send->file->send_count--;
	free(send);
}

void umad_send_end_agent(struct umad_file *file, unsigned int agent)
{
	struct umad_send *next;

	for (struct umad_send *send = LIST_FIRST(&file->sends); send; send = next) {
		next = LIST_NEXT(send, entry);
		if (send->agent == agent)
			umad_send_end(send);
	}
}

void umad_send_datagram(struct adapter *adapter, const struct hca_datagram *datagram)
{
	hca_send_datagram(adapter->hca, datagram);
	engine_kick();
}

/* Gives a request that got no answer back to the program, with its header. */
static void send_give_up(struct umad_send *send)
{
	const struct hca_datagram *datagram = &send->datagram;
	struct ib_user_mad_hdr hdr = {
		.id = send->agent,
		.status = ETIMEDOUT,
		.timeout_ms = send->timeout_ms,
		.qpn = htobe32(datagram->dest_qpn),
		.qkey = htobe32(datagram->qkey),
		.lid = htobe16(datagram->dlid),
		.sl = datagram->sl,
	};
	struct umad_file *file = send->file;
	uint8_t header[MAD_HEADER_SIZE];

	memcpy(header, send->mad, sizeof(header));
	umad_rmpp_forget(file, send->agent, fld_get(header, MAD_TRANSACTION));
	umad_send_end(send);
	umad_file_deliver(file, &hdr, true, header, sizeof(header));
}

static void send_expired(struct timer *timer)
{
	struct umad_send *send = (struct umad_send *)timer;

	if (!send->retries) {
		send_give_up(send);
		return;
	}
	send->retries--;
	timer_start(timer, timer_now() + send->timeout_ms * NS_PER_MS);
	umad_send_datagram(send->file->adapter, &send->datagram);
}

static int send_remember(struct umad_file *file, const struct ib_user_mad_hdr *hdr,
			 const struct hca_datagram *datagram, const uint8_t *mad)
{
	struct umad_send *send = NULL;

	if (file->send_count + file->failed_count < MAX_SENDS)
		send = calloc(1, sizeof(*send));
	if (!send) {
		log_note("umad: %u requests wait, and %u that failed are unread: no room for more",
			 file->send_count, file->failed_count);
		return ENOMEM;
	}
	send->file = file;
	send->agent = hdr->id;
	send->timeout_ms = hdr->timeout_ms;
	send->retries = hdr->retries;
	send->datagram = *datagram;
	memcpy(send->mad, mad, sizeof(send->mad));
	send->datagram.payload = send->mad;
	send->timer.expired = send_expired;
	LIST_INSERT_HEAD(&file->sends, send, entry);
	file->send_count++;
	timer_start(&send->timer, timer_now() + send->timeout_ms * NS_PER_MS);
	return 0;
}

static struct hca_datagram datagram_of(const struct umad_file *file,
				       const struct ib_user_mad_hdr *hdr, const uint8_t *mad)
{
	struct hca_datagram datagram = {
		.port = (uint8_t)file->port,
		.gid_index = hdr->grh_present ? hdr->gid_index : 0,
		.dlid = be16toh(hdr->lid),
		.sl = hdr->sl,
		.grh = hdr->grh_present || adapter_is_roce(file->adapter),
		.traffic_class = hdr->traffic_class,
		.hop_limit = hdr->hop_limit,
		.flow_label = be32toh(hdr->flow_label),
		.dest_qpn = be32toh(hdr->qpn) & QPN_MASK,
		.src_qpn = file->agent[hdr->id].qpn,
		.qkey = be32toh(hdr->qkey),
		.payload = mad,
		.len = MAD_SIZE,
	};

	memcpy(datagram.dgid, hdr->gid, sizeof(datagram.dgid));
	return datagram;
}

/* Reads the datagram behind the header into MAD, padded with zeroes. Refuses long datagrams, which
 * Linux would segment. */
static int read_datagram(struct call *call, const struct umad_agent *agent, uint64_t address,
			 size_t len, uint8_t mad[MAD_SIZE])
{
	bool active;

	memset(mad, 0, MAD_SIZE);
	if (caller_read(call, address, mad, len < MAD_SIZE ? len : MAD_SIZE))
		return EFAULT;
	active = agent->rmpp_version && !agent->user_rmpp && fld_get(mad, RMPP_FLAGS) & RMPP_ACTIVE;
	if (active) {
		log_error("umad: a program sends by RMPP, which softhca only receives by");
		return EOPNOTSUPP;
	}
	return len > MAD_SIZE ? EINVAL : 0;
}

/* Returns whether another request waits for an answer with the same transaction ID, as the answers
 * could not be told apart. */
static bool is_duplicate(struct umad_file *file, unsigned int agent, const uint8_t *mad)
{
	return !umad_is_answer(mad) && umad_send_find(file, agent, mad);
}

/* Sends a MAD. A directed route packet whose route ends at this port is handled here and not
 * sent. */
static int send_mad(struct umad_file *file, const struct ib_user_mad_hdr *hdr, uint8_t *mad)
{
	struct hca_datagram datagram = datagram_of(file, hdr, mad);
	enum smi_way way = SMI_WIRE;
	int ret = 0;

	if (fld_get(mad, MAD_CLASS) == MAD_CLASS_DIRECTED)
		way = smi_send(mad, file->port);
	if (way == SMI_DISCARD)
		return EINVAL;
	if (hdr->timeout_ms && !umad_is_answer(mad))
		ret = send_remember(file, hdr, &datagram, mad);
	if (ret)
		return ret;
	if (way == SMI_HERE)
		umad_take_own(file->adapter, file->port, mad);
	else
		umad_send_datagram(file->adapter, &datagram);
	return 0;
}

int umad_send(struct call *call, struct umad_file *file, uint64_t address, size_t len)
{
	size_t header = umad_header_size(file);
	struct ib_user_mad_hdr hdr = { 0 };
	const struct umad_agent *agent;
	uint8_t mad[MAD_SIZE];
	int ret;

	if (len < header + LEAST_DATAGRAM)
		return EINVAL;
	if (caller_read(call, address, &hdr, header))
		return EFAULT;
	if (hdr.id >= UMAD_MAX_AGENTS)
		return EINVAL;
	agent = &file->agent[hdr.id];
	if (!agent->used)
		return EIO;
	if (!hdr.grh_present && adapter_is_roce(file->adapter))
		return EINVAL; /* RoCE needs a GID, as it has no LIDs */
	ret = read_datagram(call, agent, address + header, len - header, mad);
	if (ret)
		return ret;
	if (!umad_is_answer(mad))
		fld_set(mad, MAD_TRANSACTION_H, agent->hi_tid);
	if (is_duplicate(file, hdr.id, mad))
		return EINVAL;
	return send_mad(file, &hdr, mad);
}
