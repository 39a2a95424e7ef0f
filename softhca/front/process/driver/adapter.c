/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adapter.c - one adapter of the process front, with the tasks of the kernel's mlx5_core.
 * Decision: docs/adr/0039.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/general_obj.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/pacing.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/qpc.h"
#include "prm/mlx5/vport.h"
#include "softhca/net/fabric.h"
#include "softhca/fault.h"
#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/driver/driver_objects.h"
#include "softhca/front/process/driver/engine.h"
#include "softhca/front/process/driver/hw_counters.h"
#include "softhca/front/process/driver/netdev.h"
#include "softhca/front/process/driver/roce.h"
#include "softhca/front/process/driver/rate_limits.h"
#include "softhca/front/process/driver/frame_qpns.h"
#include "softhca/front/process/driver/steering.h"
#include "softhca/inet.h"
#include "softhca/log.h"
#include "util/bits.h"

/* Device memory is at an offset in the BAR of a PCI device that does not exist. */
enum { DEVICE_MEMORY_SIZE = 128 << 10, DEVICE_MEMORY_BAR = 32 << 20, MLX4_LOG_MAX_WQES = 14 };

/* The errno that mlx5_core returns for a command status. */
static const struct {
	uint8_t status;
	int error;
} status_table[] = {
	{ PRM_STAT_OK, 0 },
	{ PRM_STAT_INT_ERR, EIO },
	{ PRM_STAT_BAD_OP_ERR, EINVAL },
	{ PRM_STAT_BAD_PARAM_ERR, EINVAL },
	{ PRM_STAT_BAD_SYS_STATE_ERR, EIO },
	{ PRM_STAT_BAD_RES_ERR, EINVAL },
	{ PRM_STAT_RES_BUSY, EBUSY },
	{ PRM_STAT_LIM_ERR, ENOMEM },
	{ PRM_STAT_BAD_RES_STATE_ERR, EINVAL },
	{ PRM_STAT_IX_ERR, EINVAL },
	{ PRM_STAT_NO_RES_ERR, EAGAIN },
	{ PRM_STAT_BAD_QP_STATE_ERR, EINVAL },
	{ PRM_STAT_BAD_INP_LEN_ERR, EIO },
	{ PRM_STAT_BAD_OUTP_LEN_ERR, EIO },
};

static int status_errno(uint8_t status)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(status_table); i++)
		if (status_table[i].status == status)
			return status_table[i].error;
	return EIO;
}

/* Returns whether the command destroys or resets a queue, so that doorbells rung before the command
 * have to be handled before it. */
static bool ends_queue(uint64_t opcode)
{
	return opcode == PRM_OP_DESTROY_QP || opcode == PRM_OP_2RST_QP ||
	       opcode == PRM_OP_DESTROY_SQ || opcode == PRM_OP_MODIFY_SQ;
}

/* Returns whether the command removes a resource that posted WQEs may need, so that the WQEs have
 * to run before it. */
static bool takes_away(uint64_t opcode)
{
	return ends_queue(opcode) || opcode == PRM_OP_2ERR_QP || opcode == PRM_OP_DESTROY_MKEY;
}

/* Handles pending doorbells, and runs posted work, before a command that removes a resource or
 * drains a QP. An adapter would have seen the doorbells by then, while the engine may be asleep. */
static void take_doorbells(struct adapter *adapter, uint64_t opcode)
{
	enum { FEW_TURNS = 4 };

	if (adapter->is_caught_up)
		return;
	if (takes_away(opcode) || opcode == M4_AS_RTS2SQD_QP)
		engine_catch_up(adapter, adapter->strict && ends_queue(opcode) ? ENGINE_ALL_TURNS
									       : FEW_TURNS);
}

/* Returns whether the command creates an object that belongs to the program's user id, so that the
 * program's own commands (DevX) may name it. An XRC QP belongs to the driver, as it uses objects of
 * several programs. */
static bool is_made_for_user(const void *in)
{
	switch (fld_get(in, CMD_IN_OPCODE)) {
	case PRM_OP_ALLOC_PD:
	case PRM_OP_ALLOC_UAR:
	case PRM_OP_ALLOC_TRANSPORT_DOMAIN:
	case PRM_OP_CREATE_CQ:
	case PRM_OP_CREATE_RMP:
	case PRM_OP_CREATE_XRQ:
	case PRM_OP_CREATE_RQ:
	case PRM_OP_CREATE_SQ:
	case PRM_OP_CREATE_TIS:
	case PRM_OP_CREATE_TIR:
	case PRM_OP_CREATE_RQT:
		return true;
	case PRM_OP_CREATE_QP:
		return fld_get(fld_at(in, CREATE_QP_IN_QPC), QPC_ST) != PRM_QP_ST_XRC;
	default:
		return false;
	}
}

int adapter_command(struct adapter *adapter, void *in, size_t in_len, void *out, size_t out_len)
{
	uint8_t status;
	int ret;

	take_doorbells(adapter, fld_get(in, CMD_IN_OPCODE));
	if (is_made_for_user(in))
		fld_set(in, CMD_IN_UID, adapter->user);
	hca_exec(adapter->hca, in, in_len, out, out_len);
	status = fld_get(out, CMD_OUT_STATUS);
	ret = status_errno(status);
	if (status)
		log_note("%s: command %#x: status %#x, syndrome %#x: %s", adapter->name,
			 (unsigned int)fld_get(in, CMD_IN_OPCODE), status,
			 (unsigned int)fld_get(out, CMD_OUT_SYNDROME), strerror(ret));
	return ret;
}

int adapter_pass(struct adapter *adapter, const void *in, size_t in_len, void *out, size_t out_len)
{
	take_doorbells(adapter, fld_get(in, CMD_IN_OPCODE));
	hca_exec(adapter->hca, in, in_len, out, out_len);
	if (!fld_get(out, CMD_OUT_STATUS))
		return 0;
	log_note("%s: DevX command %#x: status %#x, syndrome %#x", adapter->name,
		 (unsigned int)fld_get(in, CMD_IN_OPCODE),
		 (unsigned int)fld_get(out, CMD_OUT_STATUS),
		 (unsigned int)fld_get(out, CMD_OUT_SYNDROME));
	return EREMOTEIO;
}

/* Runs a command that allocates a number. Uses the layout of ALLOC_PD, as all these commands return
 * the number at byte 8. */
int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, opcode);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*number = fld_get(out, ALLOC_PD_OUT_PD);
	return ret;
}

int adapter_release(struct adapter *adapter, enum prm_opcode opcode, uint32_t number)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	if (adapter->dead)
		return 0; /* the adapter's end has destroyed it, so there is nothing to do */
	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, DEALLOC_PD_IN_PD, number);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

static int query_caps(struct adapter *adapter, enum prm_cap page, uint8_t *caps)
{
	static const unsigned int current = 1;
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 };
	uint8_t *out = calloc(1, PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE);
	int ret;

	if (!out)
		return ENOMEM;
	fld_set(in, CMD_IN_OPCODE, PRM_OP_QUERY_HCA_CAP);
	fld_set(in, CMD_IN_OP_MOD, page << 1 | current);
	ret = adapter_command(adapter, in, sizeof(in), out, PRM_CMD_OUT_SIZE + PRM_HCA_CAP_SIZE);
	if (!ret)
		memcpy(caps, fld_at(out, QUERY_HCA_CAP_OUT_CAPABILITY), PRM_HCA_CAP_SIZE);
	free(out);
	return ret;
}

static int create_eq(struct adapter *adapter, uint64_t events, uint32_t vector, uint32_t *eqn)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_CREATE_EQ);
	if (!events) /* an EQ of completions: programs refer to it */
		fld_set(in, CMD_IN_UID, PRM_SHARED_UID);
	fld_set(fld_at(in, CREATE_EQ_IN_EQC), EQC_INTR, vector);
	fld_set64(in, FLD_BYTE(CREATE_EQ_IN_EVENT_BITMASK), events);
	ret = adapter_command(adapter, in, sizeof(in), out, sizeof(out));
	if (!ret)
		*eqn = fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
	return ret;
}

static const enum prm_event async_events[] = {
	PRM_EVENT_PATH_MIG,        PRM_EVENT_COMM_EST,        PRM_EVENT_SQ_DRAINED,
	PRM_EVENT_CQ_ERROR,        PRM_EVENT_WQ_CATAS_ERROR,  PRM_EVENT_PATH_MIG_FAILED,
	PRM_EVENT_INTERNAL_ERROR,  PRM_EVENT_PORT_CHANGE,     PRM_EVENT_WQ_INVAL_REQ_ERROR,
	PRM_EVENT_WQ_ACCESS_ERROR, PRM_EVENT_SRQ_CATAS_ERROR, PRM_EVENT_SRQ_LAST_WQE,
	PRM_EVENT_SRQ_RQ_LIMIT,
};

static int create_eqs(struct adapter *adapter)
{
	uint64_t events = 0;
	int ret;

	for (unsigned int i = 0; i < ARRAY_SIZE(async_events); i++)
		events |= 1ull << async_events[i];
	ret = create_eq(adapter, events, 0, &adapter->async_eqn);
	for (unsigned int i = 0; !ret && i < NUM_COMP_VECTORS; i++)
		ret = create_eq(adapter, 0, i + 1, &adapter->comp_eqn[i]);
	return ret;
}

static int set_roce_address(struct adapter *adapter, unsigned int port, uint32_t index,
			    const struct gid_entry *entry)
{
	uint8_t in[PRM_CMD_IN_SIZE + PRM_ROCE_ADDR_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *addr = fld_at(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS);
	uint8_t mac[6];
	bool ipv4 = !memcmp(entry->gid, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);

	fld_set(in, CMD_IN_OPCODE, PRM_OP_SET_ROCE_ADDRESS);
	fld_set(in, SET_ROCE_ADDRESS_IN_ROCE_ADDRESS_INDEX, index);
	fld_set(in, SET_ROCE_ADDRESS_IN_VHCA_PORT_NUM, port);
	memcpy(fld_at(addr, ROCE_ADDR_SOURCE_L3_ADDRESS), entry->gid, sizeof(entry->gid));
	roce_port_mac(adapter_port_guid(adapter, port), mac);
	fld_set(addr, ROCE_ADDR_SOURCE_MAC_47_32, mac[0] << 8 | mac[1]);
	fld_set(addr, ROCE_ADDR_SOURCE_MAC_31_0,
		(uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5]);
	fld_set(addr, ROCE_ADDR_ROCE_VERSION, entry->kind == GID_ROCE_V2 ? 2 : 0);
	fld_set(addr, ROCE_ADDR_ROCE_L3_TYPE, ipv4 ? 0 : 1);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

/* Fills in a port's GID: the link-local address of its GUID, or an IPv4 address in the benchmark
 * range (RFC 2544), which no other network uses. */
static void roce_gid(const struct adapter *adapter, unsigned int port, bool ipv4, uint8_t gid[16])
{
	uint64_t eui = htobe64(adapter_port_guid(adapter, port));

	memset(gid, 0, 16);
	if (ipv4) {
		uint8_t v4[] = { 0xff, 0xff, 198, 18, adapter->host, adapter->index << 3 | port };

		memcpy(gid + 10, v4, sizeof(v4));
	} else {
		gid[0] = 0xfe;
		gid[1] = 0x80;
		memcpy(gid + 8, &eui, sizeof(eui));
	}
}

/* Adds an address as two entries: RoCE v1, then v2, as Linux does. */
static int add_roce_gid(struct adapter *adapter, unsigned int port, unsigned int index,
			const uint8_t gid[16])
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 2; i++) {
		struct gid_entry *entry = &adapter->gid[port - 1][index + i];

		entry->valid = true;
		entry->kind = i ? GID_ROCE_V2 : GID_ROCE_V1;
		memcpy(entry->gid, gid, 16);
		ret = set_roce_address(adapter, port, index + i, entry);
	}
	return ret;
}

/* Adds the network interface's addresses behind the default ones of each port, as Linux does. */
static int add_netdev_gids(struct adapter *adapter, unsigned int port)
{
	uint8_t address[NETDEV_MAX_ADDRESSES][16], mac[6];
	const char *name = netdev_of(adapter, port);
	unsigned int count = name ? netdev_addresses(name, address) : 0;
	int ret = 0;

	roce_port_mac(adapter_port_guid(adapter, port), mac);
	for (unsigned int i = 0; !ret && i < count; i++) {
		ret = add_roce_gid(adapter, port, 4 + 2 * i, address[i]);
		roce_add_own(address[i], mac);
	}
	return ret;
}

/* Fills the GID table: entries 0 and 1 are link-local, 2 and 3 IPv4. */
static int fill_roce_gids(struct adapter *adapter)
{
	uint8_t gid[16];
	int ret = 0;

	if (!adapter_is_roce(adapter))
		return 0;
	for (unsigned int port = 1; !ret && port <= adapter->num_ports; port++) {
		for (unsigned int i = 0; !ret && i < 2; i++) {
			roce_gid(adapter, port, i, gid);
			ret = add_roce_gid(adapter, port, 2 * i, gid);
		}
		if (!ret)
			ret = add_netdev_gids(adapter, port);
	}
	return ret;
}

/* Enables reception of frames to the function's own MAC, as a network driver does. GIDs of the
 * first port contain that MAC. */
static int set_own_address(struct adapter *adapter)
{
	uint8_t in[256 + PRM_NIC_VPORT_CONTEXT_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *context = fld_at(in, MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT);
	uint8_t *layout = fld_at(context, NIC_VPORT_CONTEXT_PERMANENT_ADDRESS), mac[6];

	if (!adapter_is_roce(adapter))
		return 0;
	roce_port_mac(adapter_port_guid(adapter, 1), mac);
	fld_set(in, CMD_IN_OPCODE, PRM_OP_MODIFY_NIC_VPORT_CONTEXT);
	fld_set(fld_at(in, MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT),
		NIC_VPORT_FIELD_PERMANENT_ADDRESS, 1);
	fld_set(layout, MAC_ADDRESS_MAC_ADDR_47_32, mac[0] << 8 | mac[1]);
	fld_set(layout, MAC_ADDRESS_MAC_ADDR_31_0,
		(uint32_t)mac[2] << 24 | mac[3] << 16 | mac[4] << 8 | mac[5]);
	return adapter_command(adapter, in, sizeof(in), out, sizeof(out));
}

/* Removes capabilities that the device's commands offer but an mlx4 adapter does not have, as
 * programs would use them: striding queues, tag matching, DC, device memory, on-demand paging. */
static void limit_mlx4(struct adapter *adapter)
{
	static const uint32_t absent[] = {
		HCA_CAP_STRIDING_RQ,   HCA_CAP_TAG_MATCHING, HCA_CAP_DCT,
		HCA_CAP_DEVICE_MEMORY, HCA_CAP_PG,           HCA_CAP_ECE_SUPPORT,
		HCA_CAP_END_PAD,       HCA_CAP_QOS,          HCA_CAP_GENERAL_OBJ_TYPES,
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(absent); i++)
		fld_set(adapter->caps, absent[i], 0);
	fld_set(adapter->caps, HCA_CAP_LOG_MAX_QP_SZ, MLX4_LOG_MAX_WQES);
	fld_set(adapter->caps, HCA_CAP_LOG_MAX_SRQ_SZ, MLX4_LOG_MAX_WQES);
}

static int bring_up(struct adapter *adapter)
{
	int ret = query_caps(adapter, PRM_CAP_GENERAL, adapter->caps);

	if (!ret && adapter_is_mlx4(adapter))
		limit_mlx4(adapter);

	if (!ret && adapter_cap(adapter, HCA_CAP_ATOMIC))
		ret = query_caps(adapter, PRM_CAP_ATOMIC, adapter->atomic_caps);
	if (!ret && adapter_cap(adapter, HCA_CAP_PG))
		ret = query_caps(adapter, PRM_CAP_ODP, adapter->odp_caps);
	if (!ret && adapter_cap(adapter, HCA_CAP_DEVICE_MEMORY))
		ret = query_caps(adapter, (enum prm_cap)PRM_CAP_DEV_MEM, adapter->memory_caps);
	if (!ret && adapter_cap(adapter, HCA_CAP_ETH_NET_OFFLOADS))
		ret = query_caps(adapter, PRM_CAP_ETHERNET_OFFLOADS, adapter->eth_caps);
	if (!ret && adapter_cap(adapter, HCA_CAP_NIC_FLOW_TABLE))
		ret = query_caps(adapter, PRM_CAP_FLOW_TABLE, adapter->flow_caps);
	if (!ret && adapter_cap(adapter, HCA_CAP_QOS))
		ret = query_caps(adapter, (enum prm_cap)PRM_CAP_QOS, adapter->qos_caps);
	if (!ret &&
	    adapter_cap(adapter, HCA_CAP_GENERAL_OBJ_TYPES) & 1u << PRM_OBJ_TYPE_VIRTIO_NET_Q)
		ret = query_caps(adapter, (enum prm_cap)PRM_CAP_VDPA_EMULATION,
				 adapter->emulation_caps);
	if (!ret)
		ret = create_eqs(adapter);
	if (!ret)
		ret = adapter_allocate(adapter, PRM_OP_ALLOC_TRANSPORT_DOMAIN,
				       &adapter->transport_domain);
	if (!ret)
		ret = hw_counters_create(adapter);
	if (!ret)
		ret = fill_roce_gids(adapter);
	if (!ret)
		ret = set_own_address(adapter);
	return ret;
}

/* Writes a port's IP addresses: the one that ucma/addr.c derives from the port, and those of its
 * network interface. */
static void port_addresses(void *front, unsigned int port, char *text, size_t size)
{
	const struct adapter *adapter = front;
	uint8_t address[NETDEV_MAX_ADDRESSES][16];
	const char *name = netdev_of(adapter, port);
	unsigned int count = name ? netdev_addresses(name, address) : 0;
	char one[INET6_ADDRSTRLEN];
	size_t len =
		snprintf(text, size, "198.18.%u.%u", adapter->host, adapter->index << 3 | port);

	for (unsigned int i = 0; i < count && len < size; i++) {
		bool mapped = inet_is_mapped(address[i]);

		inet_ntop(mapped ? AF_INET : AF_INET6, address[i] + (mapped ? INET_PREFIX : 0), one,
			  sizeof(one));
		len += snprintf(text + len, size - len, ",%s", one);
	}
}

static int create_hca(struct adapter *adapter, const struct options *options, struct fabric *fabric,
		      const struct adapter_listener *listener)
{
	struct hca_config config = {
		.kind = adapter->identity->kind,
		.link_layer = options->link_layer,
		.grh_required = options->grh_required,
		.num_ports = options->ports,
		.node_guid = adapter->node_guid,
		.seed = options->seed + adapter->index,
		.first_uar = options->first_uar,
		.limits = options->limits,
		.fabric = fabric,
		.fault = adapter->fault,
		.trace = adapter->trace,
		.strict = options->reports,
		.bus_ops = &client_bus_ops,
		.event = listener->event,
		.datagram = listener->datagram,
		.frame = listener->frame,
		.name = adapter->name,
		.addresses = port_addresses,
		.front = adapter,
		.memic_size = DEVICE_MEMORY_SIZE,
		.memic_bar = DEVICE_MEMORY_BAR,
		.memic_bar_size = DEVICE_MEMORY_PAGES * UAR_PAGE_SIZE,
		.doorbell_bar = DEVICE_MEMORY_BAR + DEVICE_MEMORY_PAGES * UAR_PAGE_SIZE,
		.doorbell_pages = EMULATION_PAGES,
		.pages_on_demand = true,
		.atomics_in_cqe = options->atomics_in_cqe,
		.steering = options->steering,
		.real_time = true,
		.lag_ports = options->lag_ports,
		.secrets = options->secrets,
	};

	return hca_create(&config, adapter->identity->format, &adapter->hca);
}

/* Names the adapter by kind and number, as the drivers do. */
static void adapter_name(const struct options *options, struct adapter *adapter)
{
	unsigned int number = 0;

	for (unsigned int i = 0; i < adapter->index; i++)
		number += options_kind(options, i) == adapter->identity->kind;
	snprintf(adapter->name, sizeof(adapter->name), "%s_%u", adapter->identity->prefix, number);
}

int adapter_create(const struct options *options, unsigned int index, struct fabric *fabric,
		   struct fault *fault, struct trace *trace,
		   const struct adapter_listener *listener, struct adapter **out)
{
	struct adapter *adapter = calloc(1, sizeof(*adapter));
	int ret;

	if (!adapter)
		return ENOMEM;
	adapter->index = index;
	adapter->link_layer = options->link_layer;
	adapter->identity =
		identity_of(options_kind(options, index), options->link_layer, options->steering);
	adapter_name(options, adapter);
	adapter->num_ports = options->ports;
	adapter->host = fabric_host_number(fabric);
	adapter->node_guid = fabric_guid(adapter->host, index);
	adapter->fault = fault;
	adapter->trace = trace;
	adapter->strict = options->reports;
	adapter->shared = options->socket_path != NULL;
	pthread_mutex_init(&adapter->uar_lock, NULL);
	LIST_INIT(&adapter->uar_pages);
	ret = netdev_assign(options, adapter);
	if (ret)
		goto free_adapter;
	ret = create_hca(adapter, options, fabric, listener);
	if (ret)
		goto free_adapter;
	ret = bring_up(adapter);
	if (ret)
		goto destroy_hca;
	*out = adapter;
	return 0;
destroy_hca:
	hca_destroy(adapter->hca);
free_adapter:
	log_error("cannot create adapter %s: %s", adapter->name, strerror(ret));
	pthread_mutex_destroy(&adapter->uar_lock);
	free(adapter);
	return ret;
}

void adapter_destroy(struct adapter *adapter)
{
	hca_destroy(adapter->hca);
	driver_objects_free(adapter);
	steering_free(adapter);
	sw_icm_free(adapter);
	frame_qpns_free(adapter);
	rate_limits_free(adapter);
	pthread_mutex_destroy(&adapter->uar_lock);
	free(adapter);
}
