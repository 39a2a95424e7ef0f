/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * receive.c - datagrams that arrive at QP0 or QP1: answered by the adapter's agents, or given to a
 * program's agent.
 */
#include <stdlib.h>
#include <string.h>

#include "ib/packet.h"
#include "ib/smp.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/mad.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/umad/smi.h"
#include "softhca/front/process/umad/umad.h"

/* Returns whether the adapter itself answers this MAD, as with mlx5_ib. The adapter does not answer
 * queries to a subnet manager. */
static bool is_for_adapter(const uint8_t *mad)
{
	unsigned int method = fld_get(mad, MAD_METHOD), class = fld_get(mad, MAD_CLASS);

	if (method != MAD_GET && method != MAD_SET)
		return false;
	if (class == MAD_CLASS_PERFORMANCE)
		return true;
	return (class == MAD_CLASS_SUBNET || class == MAD_CLASS_DIRECTED) &&
	       fld_get(mad, MAD_ATTRIBUTE) != SMP_SM_INFO;
}

static bool adapter_answers(struct adapter *adapter, unsigned int port, const uint8_t *mad,
			    uint8_t *answer)
{
	uint8_t in[PRM_MAD_IFC_SIZE] = { 0 }, out[PRM_MAD_IFC_SIZE];

	if (!is_for_adapter(mad))
		return false;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MAD_IFC);
	fld_set(in, MAD_IFC_IN_PORT, port);
	memcpy(fld_at(in, MAD_IFC_IN_MAD), mad, MAD_SIZE);
	if (adapter_command(adapter, in, sizeof(in), out, sizeof(out)))
		return false;
	memcpy(answer, fld_at(out, MAD_IFC_OUT_MAD), MAD_SIZE);
	return true;
}

static struct ib_user_mad_hdr header_of(const struct gsi_arrival *arrival, unsigned int agent)
{
	const struct fabric_addr *addr = &arrival->addr;
	struct ib_user_mad_hdr hdr = {
		.id = agent,
		.qpn = htobe32(arrival->src_qpn),
		.lid = htobe16(addr->slid),
		.sl = addr->sl,
		.grh_present = addr->grh,
	};

	if (addr->grh) {
		hdr.hop_limit = addr->hop_limit;
		hdr.traffic_class = addr->traffic_class;
		hdr.flow_label = htobe32(addr->flow_label);
		memcpy(hdr.gid, addr->sgid, sizeof(hdr.gid));
	}
	return hdr;
}

static bool is_long(const struct umad_agent *agent, const uint8_t *mad)
{
	return agent->rmpp_version && !agent->user_rmpp &&
	       umad_class_has_rmpp(fld_get(mad, MAD_CLASS)) &&
	       fld_get(mad, RMPP_FLAGS) & RMPP_ACTIVE;
}

static void deliver_to(struct umad_file *file, unsigned int number,
		       const struct gsi_arrival *arrival)
{
	struct ib_user_mad_hdr hdr = header_of(arrival, number);
	bool answer = umad_is_answer(arrival->bytes);
	struct umad_send *send = umad_send_find(file, number, arrival->bytes);
	size_t len = MAD_SIZE;
	uint8_t *whole = NULL;

	if (is_long(&file->agent[number], arrival->bytes)) {
		whole = umad_rmpp_take(file, number, arrival, &len);
		if (!whole)
			return;
	}
	if (!answer || send) /* an answer without request is too late, so drop it */
		umad_file_deliver(file, &hdr, false, whole ? whole : arrival->bytes, len);
	if (answer && send)
		umad_send_end(send);
	free(whole);
}

static void deliver_answer(const struct gsi_arrival *arrival)
{
	uint32_t hi_tid = fld_get(arrival->bytes, MAD_TRANSACTION_H);
	struct umad_file *file = NULL;

	while ((file = umad_file_next(file, arrival->adapter, arrival->port))) {
		for (unsigned int i = 0; i < UMAD_MAX_AGENTS; i++) {
			const struct umad_agent *agent = &file->agent[i];

			if (!agent->used || agent->hi_tid != hi_tid ||
			    agent->qpn != arrival->dest_qpn)
				continue;
			deliver_to(file, i, arrival);
			return;
		}
	}
}

static void deliver_request(const struct gsi_arrival *arrival)
{
	struct umad_file *file;
	struct umad_agent *agent = umad_agent_find(arrival->adapter, arrival->port,
						   arrival->dest_qpn, arrival->bytes, &file);

	if (agent)
		deliver_to(file, (unsigned int)(agent - file->agent), arrival);
}

static void deliver_to_agent(const struct gsi_arrival *arrival)
{
	if (umad_is_answer(arrival->bytes))
		deliver_answer(arrival);
	else
		deliver_request(arrival);
}

static void answer_arrival(const struct gsi_arrival *arrival, const uint8_t *answer)
{
	const struct fabric_addr *addr = &arrival->addr;
	struct hca_datagram datagram = {
		.port = (uint8_t)arrival->port,
		.dlid = addr->slid,
		.sl = addr->sl,
		.grh = addr->grh,
		.traffic_class = addr->traffic_class,
		.hop_limit = addr->hop_limit,
		.dest_qpn = arrival->src_qpn,
		.src_qpn = arrival->dest_qpn,
		.qkey = arrival->dest_qpn == GSI_QPN ? GSI_QKEY : 0,
		.payload = answer,
		.len = MAD_SIZE,
	};

	memcpy(datagram.dgid, addr->sgid, sizeof(datagram.dgid));
	memcpy(datagram.dmac, addr->smac, sizeof(datagram.dmac));
	umad_send_datagram(arrival->adapter, &datagram);
}

/* Returns whether the MAD came to the right QP: subnet management to QP0, all other classes to
 * QP1. */
static bool is_right_qp(const struct gsi_arrival *arrival)
{
	unsigned int class = fld_get(arrival->bytes, MAD_CLASS);
	bool subnet = class == MAD_CLASS_SUBNET || class == MAD_CLASS_DIRECTED;

	return fld_get(arrival->bytes, MAD_BASE_VERSION) == MAD_BASE_VERSION_1 &&
	       arrival->dest_qpn == (subnet ? SMI_QPN : GSI_QPN);
}

void umad_take(const struct gsi_arrival *arrival)
{
	struct gsi_arrival own = *arrival;
	uint8_t mad[MAD_SIZE], answer[MAD_SIZE];
	bool directed;

	if (arrival->frame || arrival->len != MAD_SIZE || !is_right_qp(arrival))
		return;
	memcpy(mad, arrival->bytes, MAD_SIZE);
	own.bytes = mad;
	directed = fld_get(mad, MAD_CLASS) == MAD_CLASS_DIRECTED;
	if (directed && smi_receive(mad, arrival->port) != SMI_HERE)
		return;
	if (!adapter_answers(arrival->adapter, arrival->port, mad, answer))
		deliver_to_agent(&own);
	else if (!directed || smi_send(answer, arrival->port) == SMI_WIRE)
		answer_arrival(arrival, answer);
}

void umad_take_own(struct adapter *adapter, unsigned int port, const uint8_t mad[MAD_SIZE])
{
	uint8_t answer[MAD_SIZE];
	struct gsi_arrival arrival = {
		.adapter = adapter,
		.port = port,
		.addr = { .slid = fld_get(mad, SMP_DR_SLID) },
		.dest_qpn = SMI_QPN,
		.src_qpn = SMI_QPN,
		.bytes = mad,
		.len = MAD_SIZE,
	};

	if (adapter_answers(adapter, port, mad, answer))
		arrival.bytes = answer;
	deliver_to_agent(&arrival);
}
