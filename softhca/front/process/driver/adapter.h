/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adapter.h - one adapter of the process front: the part of the kernel's mlx5_core or mlx4_core.
 *
 * It owns the device core, its event queues, GID table and UAR pages, and describes the ports.
 * uverbs/ has the objects of programs.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ADAPTER_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ADAPTER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "prm/mlx5/caps.h"
#include "prm/mlx5/cmd.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/qpc.h"
#include "softhca/device/hca.h"
#include "softhca/front/process/driver/identity.h"
#include "softhca/front/process/driver/sw_icm.h"
#include "softhca/front/process/object_counts.h"
#include "softhca/options.h"
#include "softhca/trace.h"

enum {
	UVERBS_MAJOR = 231,
	UVERBS_FIRST_MINOR = 192,
	NUM_COMP_VECTORS = 4,
	MAX_ROCE_GIDS = 256,
	UAR_PAGE_SIZE = 4096,
	NETDEV_NAME_SIZE = 16, /* IF_NAMESIZE */
	EMULATION_PAGES = 64,
	DEVICE_MEMORY_PAGES = 256, /* pages in which all device memory can be allocated */
};

#define ADAPTER_VENDOR_ID 0x15b3
/* PCI domain that no real machine has, so no path is a real device's */
#define ADAPTER_PCI_DOMAIN "5fca"

enum gid_kind { /* as IB_UVERBS_GID_TYPE_* */
		GID_IB,
		GID_ROCE_V1,
		GID_ROCE_V2,
};

struct gid_entry {
	bool valid;
	enum gid_kind kind;
	uint8_t gid[16];
};

struct port_info {
	uint32_t cap_mask;
	uint32_t gid_table_len, pkey_table_len;
	uint16_t lid, sm_lid;
	uint8_t lmc, sm_sl, subnet_timeout, init_type_reply;
	uint8_t state, phys_state;   /* IBTA PortInfo: 4 is active, 5 is link up */
	uint8_t max_mtu, active_mtu; /* enum ibv_mtu */
	uint8_t active_width, active_speed;
	uint32_t bad_pkeys, bad_qkeys;
	bool grh_required;
};

/* Counters of RDMA packets, InfiniBand's and RoCE's. */
struct port_counters {
	uint64_t unicast_sent, unicast_received; /* packets */
	uint64_t multicast_sent, multicast_received;
	uint64_t bytes_sent, bytes_received;
	uint64_t receive_errors;
	uint32_t link_downs;
};

struct uar_page {
	LIST_ENTRY(uar_page) in_adapter;
	uint32_t uar;
	volatile uint64_t *page;                 /* on mlx4, the BlueFlame page follows it */
	unsigned int spin_credit, spins_skipped; /* the engine's, guarded by engine.last_lock */
};

struct adapter {
	unsigned int index;
	const struct identity *identity;
	unsigned int host; /* number of this process in its network, or 0 */
	char name[16];
	enum hca_link_layer link_layer;
	unsigned int num_ports;
	uint64_t node_guid;
	struct hca *hca;
	struct fault *fault;
	struct trace *trace;
	bool strict;
	bool shared;                  /* all clients of `softhca serve` share the adapter */
	struct object_counts objects; /* of all programs; see uverbs/quota.h */
	uint32_t transport_domain;
	uint32_t async_eqn;
	uint32_t comp_eqn[NUM_COMP_VECTORS];
	uint8_t caps[PRM_HCA_CAP_SIZE];
	uint8_t atomic_caps[PRM_HCA_CAP_SIZE];
	uint8_t odp_caps[PRM_HCA_CAP_SIZE];    /* zero: no on-demand paging */
	uint8_t memory_caps[PRM_HCA_CAP_SIZE]; /* device memory; zero: none */
	bool device_page_used[DEVICE_MEMORY_PAGES];
	struct sw_icm_list icm_blocks; /* for table entries of programs */
	bool emulation_page_used[EMULATION_PAGES];
	uint8_t emulation_caps[PRM_HCA_CAP_SIZE];       /* zero: no emulated devices */
	uint8_t eth_caps[PRM_HCA_CAP_SIZE];             /* zero: no Ethernet queues */
	uint8_t flow_caps[PRM_HCA_CAP_SIZE];            /* zero: no flow tables */
	struct gid_entry gid[MAX_PORTS][MAX_ROCE_GIDS]; /* RoCE only */
	char netdev[MAX_PORTS][NETDEV_NAME_SIZE]; /* interface name, see netdev.c; empty: none */
	uint32_t link_downs[MAX_PORTS];
	uint8_t counter_set[MAX_PORTS];      /* see hw_counters.c */
	struct driver_memory *driver_memory; /* see driver_objects.c; NULL: not used yet */
	uint8_t qos_caps[PRM_HCA_CAP_SIZE];  /* zero: no rate limits */
	struct rate_table *rates; /* NULL: not used yet. rate_limits.c allocates and frees it */
	struct frame_qpns *frame_qpns; /* NULL: not used yet. frame_qpns.c allocates and frees it */
	struct steering *steering;     /* NULL: no flow so far. steering.c allocates and frees it */
	uint16_t user; /* user id of the device that owns objects created now; 0: the driver */
	volatile bool dead;
	/* All doorbells of before the current commands are handled, so that the commands need not
	 * look for them. Set in the thread that answers calls. */
	bool is_caught_up;
	/* Guards uar_pages. Not held over calls into the core that can send events. */
	pthread_mutex_t uar_lock;
	LIST_HEAD(, uar_page) uar_pages;
};

static inline bool adapter_is_mlx4(const struct adapter *adapter)
{
	return adapter->identity->kind == HCA_MLX4;
}

static inline bool adapter_is_mlx5(const struct adapter *adapter)
{
	return adapter->identity->kind == HCA_MLX5;
}

static inline bool adapter_is_roce(const struct adapter *adapter)
{
	return adapter->link_layer == HCA_LINK_ETHERNET;
}

struct fabric;

/* Callbacks for the device's events, as in hca_config (device/hca.h); the first argument is the
 * adapter. */
struct adapter_listener {
	void (*event)(void *adapter, uint32_t eqn, const uint8_t eqe[64]);
	void (*datagram)(void *adapter, unsigned int port, const struct fabric_msg *msg);
	void (*frame)(void *adapter, unsigned int port, const uint8_t *frame, size_t len);
};

/* Creates an adapter. Returns 0, or a positive errno after logging the reason. */
int adapter_create(const struct options *options, unsigned int index, struct fabric *fabric,
		   struct fault *fault, struct trace *trace,
		   const struct adapter_listener *listener, struct adapter **adapter);
void adapter_destroy(struct adapter *adapter);

/* Executes a command. Returns 0, or the errno to which mlx5_core converts the command's status. */
int adapter_command(struct adapter *adapter, void *in, size_t in_len, void *out, size_t out_len);
/* Passes a program's command to the device; the program reads the answer. Returns 0, or EREMOTEIO
 * if the device refused. */
int adapter_pass(struct adapter *adapter, const void *in, size_t in_len, void *out, size_t out_len);
/* Runs a command whose only input is a number at byte 8: dealloc and destroy. */
int adapter_release(struct adapter *adapter, enum prm_opcode opcode, uint32_t number);
/* Runs a command whose only output is a number at byte 8. */
int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number);

/* Returns the atomic mode that Linux gives responders: all atomics that the adapter has. */
static inline enum prm_atomic_mode adapter_atomic_mode(const struct adapter *adapter)
{
	uint32_t masked = PRM_ATOMIC_OPS_MASKED_CS | PRM_ATOMIC_OPS_MASKED_FA;

	return fld_get(adapter->atomic_caps, ATOMIC_CAPS_ATOMIC_OPERATIONS) & masked
		       ? PRM_ATOMIC_MODE_UP_TO_8B
		       : PRM_ATOMIC_MODE_IB_SPEC;
}

static inline uint32_t adapter_cap(const struct adapter *adapter, uint32_t field)
{
	return fld_get(adapter->caps, field);
}

/* Returns whether timestamps can be wall-clock time. Like Linux, requires this capability of all
 * kinds of queues; the RoCE capabilities contain the field for QPs. */
static inline bool adapter_has_real_time(const struct adapter *adapter)
{
	return adapter->link_layer == HCA_LINK_ETHERNET &&
	       adapter_cap(adapter, HCA_CAP_SQ_TS_FORMAT) == PRM_TS_CAP_BOTH &&
	       adapter_cap(adapter, HCA_CAP_RQ_TS_FORMAT) == PRM_TS_CAP_BOTH;
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info);
/* Returns the port's speed in units of 100 Mbit/s; 0: it is down. */
int adapter_query_speed(struct adapter *adapter, unsigned int port, uint64_t *speed);
/* Reads a GID. Returns 0, ENODATA for an empty entry, or EINVAL beyond the table. */
int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry);
int adapter_query_counters(struct adapter *adapter, unsigned int port,
			   struct port_counters *counters);
int adapter_query_pkey(struct adapter *adapter, unsigned int port, uint32_t index, uint16_t *pkey);

/* Sets whether the port announces that a subnet manager runs at it. */
void adapter_show_manager(struct adapter *adapter, unsigned int port, bool present);

/* Returns a port's index among the ports of all adapters. Each adapter has the same number of
 * ports. */
static inline unsigned int adapter_port_index(const struct adapter *adapter, unsigned int port)
{
	return adapter->index * adapter->num_ports + port - 1;
}

static inline uint64_t adapter_port_guid(const struct adapter *adapter, unsigned int port)
{
	return adapter->node_guid + port;
}

#endif
