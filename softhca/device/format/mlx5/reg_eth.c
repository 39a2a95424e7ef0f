/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * reg_eth.c - registers of a port: administrative state, speed, MTU, pause, counters.
 *
 * Callers check the port number. Byte counters include the FCS, as on the wire.
 */
#include <string.h>

#include "prm/mlx5/reg.h"
#include "softhca/device/eth/eth.h"
#include "softhca/device/format/mlx5/reg.h"

enum {
	PROTO_ETHERNET = 4,
	SPEED_100G_CR4 = 1 << 20,
	LANES = 4,
};

const char *port_reg_paos(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	uint64_t admin = fld_get(data, PAOS_REG_ADMIN_STATUS);

	if (write && fld_get(data, PAOS_REG_ASE)) {
		if (admin != PRM_PORT_UP && admin != PRM_PORT_DOWN)
			return "reg: PAOS: neither up nor down";
		port_set_admin(hca, port, admin == PRM_PORT_UP);
	}
	fld_set(data, PAOS_REG_ADMIN_STATUS,
		hca->port[port - 1].admin_down ? PRM_PORT_DOWN : PRM_PORT_UP);
	fld_set(data, PAOS_REG_OPER_STATUS, port_is_up(hca, port) ? PRM_PORT_UP : PRM_PORT_DOWN);
	return NULL;
}

const char *eth_reg_pmtu(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	uint64_t mtu = fld_get(data, PMTU_REG_ADMIN_MTU);

	if (write) {
		if (mtu < IP4_MTU_MIN || mtu > PORT_MTU_MAX)
			return "reg: PMTU: MTU out of range";
		hca->port[port - 1].mtu = mtu;
	}
	fld_set(data, PMTU_REG_MAX_MTU, PORT_MTU_MAX);
	fld_set(data, PMTU_REG_ADMIN_MTU, hca->port[port - 1].mtu);
	fld_set(data, PMTU_REG_OPER_MTU, hca->port[port - 1].mtu);
	return NULL;
}

/* The port has one speed and does not negotiate, so only that speed can be set. */
const char *eth_reg_ptys(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	if (fld_get(data, PTYS_REG_PROTO_MASK) != PROTO_ETHERNET)
		return "reg: PTYS of Ethernet only";
	if (write && fld_get(data, PTYS_REG_ETH_PROTO_ADMIN) != SPEED_100G_CR4)
		return "reg: PTYS: no such speed";
	fld_set(data, PTYS_REG_ETH_PROTO_CAPABILITY, SPEED_100G_CR4);
	fld_set(data, PTYS_REG_ETH_PROTO_ADMIN, SPEED_100G_CR4);
	fld_set(data, PTYS_REG_ETH_PROTO_OPER, port_is_up(hca, port) ? SPEED_100G_CR4 : 0);
	return NULL;
}

const char *eth_reg_pmlp(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	(void)hca;
	if (write)
		return "reg: PMLP: lanes are fixed";
	fld_set(data, PMLP_REG_WIDTH, LANES);
	for (unsigned int lane = 0; lane < LANES; lane++)
		put_be32(data + FLD_BYTE(PMLP_REG_LANE0_MODULE_MAPPING) + 4 * lane,
			 lane << 24 | lane << 16 | (port - 1));
	return NULL;
}

const char *eth_reg_pfcc(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	(void)hca;
	(void)port;
	if (write && (fld_get(data, PFCC_REG_PPTX) || fld_get(data, PFCC_REG_PPRX) ||
		      fld_get(data, PFCC_REG_PFCTX) || fld_get(data, PFCC_REG_PFCRX)))
		return "reg: PFCC: flow control is not supported";
	return NULL;
}

static void put_counter(uint8_t *set, uint32_t part, uint64_t value)
{
	fld_set64(set, FLD_BYTE(part), value);
}

static uint64_t wire_bytes(const struct frame_counters *counters)
{
	return counters->bytes + FRAME_FCS_LEN * counters->frames;
}

static uint64_t unicast_frames(const struct frame_counters *counters)
{
	return counters->frames - counters->multicast - counters->broadcast;
}

static void put_ieee(uint8_t *set, const struct port *port)
{
	put_counter(set, PPCNT_A_FRAMES_TRANSMITTED_OK_HIGH, port->sent.frames);
	put_counter(set, PPCNT_A_FRAMES_RECEIVED_OK_HIGH, port->received.frames);
	put_counter(set, PPCNT_A_OCTETS_TRANSMITTED_OK_HIGH, wire_bytes(&port->sent));
	put_counter(set, PPCNT_A_OCTETS_RECEIVED_OK_HIGH, wire_bytes(&port->received));
	put_counter(set, PPCNT_A_MULTICAST_FRAMES_XMITTED_OK_HIGH, port->sent.multicast);
	put_counter(set, PPCNT_A_BROADCAST_FRAMES_XMITTED_OK_HIGH, port->sent.broadcast);
	put_counter(set, PPCNT_A_MULTICAST_FRAMES_RECEIVED_OK_HIGH, port->received.multicast);
	put_counter(set, PPCNT_A_BROADCAST_FRAMES_RECEIVED_OK_HIGH, port->received.broadcast);
	put_counter(set, PPCNT_A_FRAME_TOO_LONG_ERRORS_HIGH, port->received.too_long);
}

static void put_if(uint8_t *set, const struct port *port)
{
	put_counter(set, PPCNT_IF_IN_OCTETS_HIGH, wire_bytes(&port->received));
	put_counter(set, PPCNT_IF_IN_UCAST_PKTS_HIGH, unicast_frames(&port->received));
	put_counter(set, PPCNT_IF_IN_DISCARDS_HIGH, port->received.discards);
	put_counter(set, PPCNT_IF_IN_MULTICAST_PKTS_HIGH, port->received.multicast);
	put_counter(set, PPCNT_IF_IN_BROADCAST_PKTS_HIGH, port->received.broadcast);
	put_counter(set, PPCNT_IF_OUT_OCTETS_HIGH, wire_bytes(&port->sent));
	put_counter(set, PPCNT_IF_OUT_UCAST_PKTS_HIGH, unicast_frames(&port->sent));
	put_counter(set, PPCNT_IF_OUT_DISCARDS_HIGH, port->sent.discards);
	put_counter(set, PPCNT_IF_OUT_MULTICAST_PKTS_HIGH, port->sent.multicast);
	put_counter(set, PPCNT_IF_OUT_BROADCAST_PKTS_HIGH, port->sent.broadcast);
}

static void put_rmon(uint8_t *set, const struct port *port)
{
	uint8_t *by_size = set + FLD_BYTE(PPCNT_ETHER_STATS_PKTS64OCTETS_HIGH);

	put_counter(set, PPCNT_ETHER_STATS_OCTETS_HIGH, wire_bytes(&port->received));
	put_counter(set, PPCNT_ETHER_STATS_PKTS_HIGH, port->received.frames);
	put_counter(set, PPCNT_ETHER_STATS_BROADCAST_PKTS_HIGH, port->received.broadcast);
	put_counter(set, PPCNT_ETHER_STATS_MULTICAST_PKTS_HIGH, port->received.multicast);
	put_counter(set, PPCNT_ETHER_STATS_OVERSIZE_PKTS_HIGH, port->received.too_long);
	for (unsigned int i = 0; i < FRAME_SIZES; i++)
		fld_set64(by_size, 8 * i, port->received.by_size[i]);
}

/* All traffic is of priority 0. */
static void put_priority(uint8_t *set, const struct port *port, uint64_t priority)
{
	if (priority)
		return;
	put_counter(set, PPCNT_PRIO_RX_OCTETS_HIGH, wire_bytes(&port->received));
	put_counter(set, PPCNT_PRIO_RX_FRAMES_HIGH, port->received.frames);
	put_counter(set, PPCNT_PRIO_TX_OCTETS_HIGH, wire_bytes(&port->sent));
	put_counter(set, PPCNT_PRIO_TX_FRAMES_HIGH, port->sent.frames);
}

/* Writes InfiniBand's counters; each sticks at its largest value. IBTA vol 1, 16.1.3.5 */
static void put_infiniband(uint8_t *set, const struct port *port)
{
	uint64_t discards = port->sent.discards;

	fld_set(set, PPCNT_LINK_DOWNED_COUNTER, port->link_downs < 0xff ? port->link_downs : 0xff);
	fld_set(set, PPCNT_PORT_XMIT_DISCARDS, discards < 0xffff ? discards : 0xffff);
}

static const char *port_counters(struct hca *hca, unsigned int number, uint8_t *data)
{
	const struct port *port = &hca->port[number - 1];
	uint8_t *set = fld_at(data, PPCNT_REG_COUNTER_SET);

	memset(set, 0, PRM_PPCNT_REG_SIZE - FLD_BYTE(PPCNT_REG_COUNTER_SET));
	switch (fld_get(data, PPCNT_REG_GRP)) {
	case PRM_COUNTERS_IEEE_802_3:
		put_ieee(set, port);
		return NULL;
	case PRM_COUNTERS_RFC_2863:
		put_if(set, port);
		return NULL;
	case PRM_COUNTERS_RFC_2819:
		put_rmon(set, port);
		return NULL;
	case PRM_COUNTERS_PER_PRIORITY:
		put_priority(set, port, fld_get(data, PPCNT_REG_PRIO_TC));
		return NULL;
	case PRM_COUNTERS_PHYSICAL:
		put_be32(set + FLD_BYTE(PPCNT_LINK_DOWN_EVENTS), port->link_downs);
		return NULL;
	case PRM_COUNTERS_INFINIBAND:
		put_infiniband(set, port);
		return NULL;
	default:
		return "reg: PPCNT: no such group";
	}
}

const char *port_reg_ppcnt(struct hca *hca, bool write, unsigned int port, uint8_t *data)
{
	if (write || fld_get(data, PPCNT_REG_CLR))
		return "reg: PPCNT: counters are not cleared";
	return port_counters(hca, port, data);
}
