/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca.h - the device core's interface to its fronts.
 *
 * A front connects software to the adapter (seccomp notifications, PCI); the core is the adapter:
 * it executes PRM commands, runs work queues, writes CQEs and EQEs. Fronts use five things only:
 * commands, doorbells, DMA, events and time. The core opens no device, knows no process and never
 * blocks.
 *
 * Each function takes the lock of the adapter's fabric, so any thread may call it. Callbacks (bus,
 * event) run with that lock held and must not call back into the core.
 */
#ifndef SOFTHCA_DEVICE_HCA_H
#define SOFTHCA_DEVICE_HCA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "softhca/device/kind.h"

struct hca;
struct format; /* see format/format.h */
struct fabric_msg;
struct fabric; /* connects adapters: see softhca/net/fabric.h */
struct fault;  /* faults to inject: see fault.h; may be NULL */
/* Receives reports of misuse that adapters do not notice: see strict.h; NULL: no checks */
struct strict;
struct trace; /* log of commands, WQEs and CQEs: see trace.h; may be NULL */

/* A piece of memory on the bus. Addresses have 64 bits and no meaning to the core, except that
 * consecutive addresses are consecutive memory. The process front has the client's number in bits
 * 63:48 and its virtual address below; the PCI front uses guest-physical addresses. */
struct hca_bus_seg {
	uint64_t addr;
	size_t len;
};

struct hca_bus_ops {
	/* Gathers SEGS into BUF. Returns 0, EFAULT if any byte cannot be read, or ESRCH if the
	 * program that owned the memory has ended: the adapter then sends nothing more for it. */
	int (*read)(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf);
	/* Scatters BUF to SEGS in ascending order, and makes the last byte visible last, on which a
	 * CQE's ownership byte relies. Returns 0, or EFAULT if any byte cannot be written; earlier
	 * segments may have been written then. */
	int (*write)(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs,
		     const void *buf);
	/* For strict adapters on a bus of virtual addresses; NULL on others. page() returns the
	 * identity of the page that is at ADDR now, or 0 if unknown. If it has changed, the adapter
	 * calls page_may_move(), which returns whether something other than software can have
	 * caused the change. */
	uint64_t (*page)(void *bus, uint64_t addr);
	bool (*page_may_move)(void *bus, uint64_t addr);
};

enum hca_link_layer {
	HCA_LINK_INFINIBAND,
	HCA_LINK_ETHERNET, /* RoCE */
};

/* Limits of an adapter. 0 means the default, as the capability tables report it. */
struct hca_limits {
	uint32_t max_qp, max_cq, max_mkey, max_pd; /* numbers of objects */
	uint32_t max_uar;                          /* doorbell pages */
	/* WQEBBs of one send queue, a power of two: a QP's context holds its logarithm */
	uint32_t max_wqe_bb;
	/* entries of one CQ, a power of two: a CQ's context holds its logarithm */
	uint32_t max_cqe;
	uint32_t max_rd_atomic; /* outstanding READs and atomics per QP and direction */
	uint32_t max_msg_size;  /* bytes */
	uint32_t max_tx_speed;  /* in units of 100 Mbit/s, 16 bits; 0: the link's speed */
};

/* The format of table entries that software writes itself: none, or ConnectX-6 Dx's */
enum hca_steering { HCA_STEERING_NONE, HCA_STEERING_V1 };

enum { HCA_KEKS = 16, HCA_CREDENTIALS = 16, HCA_CREDENTIAL = 40 };

struct hca_kek {
	uint8_t bytes[32];
	uint8_t len; /* 16 or 32 */
};

/* Secrets of an adapter that accepts only wrapped keys: login credentials, and key encryption keys
 * (KEKs) that unwrap imported keys. Each is named by its index. */
struct hca_secrets {
	unsigned int keks, credentials;
	struct hca_kek kek[HCA_KEKS];
	uint8_t credential[HCA_CREDENTIALS][HCA_CREDENTIAL];
};

struct hca_config {
	enum hca_kind kind;
	enum hca_link_layer link_layer;
	bool grh_required; /* InfiniBand: every path must have a GRH */
	unsigned int num_ports;
	uint64_t node_guid; /* host order; port GUIDs are the next numbers */
	uint64_t seed;      /* for random choices, such as the first object numbers */
	uint32_t first_uar; /* number of the first doorbell page; 0: 4, as on a PCI front */
	struct hca_limits limits;
	/* Memory on the adapter: its size, and the part of BAR 0 in whose pages ALLOC_MEMIC
	 * allocates. See hca_place_memic(). */
	uint32_t memic_size;
	uint64_t memic_bar, memic_bar_size;
	/* First window for operations on that memory, in BAR 0. There are HCA_MEMIC_OPERATIONS
	 * windows, each of memic_bar_size bytes. 0: none, as the front cannot see accesses. See
	 * hca_memic_read(). */
	uint64_t memic_windows;
	/* Doorbell pages of devices that software emulates: their offset in BAR 0, and their
	 * number, a power of two. 0: none. */
	uint64_t doorbell_bar;
	uint32_t doorbell_pages;
	/* Bus addresses are virtual, and the bus maps absent pages, so memory keys need no pinned
	 * memory. */
	bool pages_on_demand;
	bool atomics_in_cqe; /* results of atomics may be in the CQE, in host byte order */
	enum hca_steering steering;
	bool real_time;         /* timestamps may be wall-clock time */
	unsigned int lag_ports; /* bonded ports that appear as one; 0: none */
	bool kernel_driver;     /* a kernel driver runs it, with a network device of its own */
	const struct hca_secrets *secrets; /* must outlive the adapter; NULL: none */
	struct fabric *fabric;
	struct fault *fault;
	struct trace *trace;
	struct strict *strict;
	const struct hca_bus_ops *bus_ops;
	void *bus;
	/* Delivers a 64-byte EQE in PRM layout for EQ EQN. Fronts that emulate the driver create
	 * EQs without memory (log_eq_size 0, no PAS). EQs with memory are written by DMA as
	 * well. */
	void (*event)(void *front, uint32_t eqn, const uint8_t eqe[64]);
	/* Reports an EQE in an armed EQ; VECTOR is the interrupt vector in the EQ's context. May be
	 * NULL. */
	void (*interrupt)(void *front, uint32_t vector);
	/* For a front that emulates the whole kernel; either may be NULL. datagram() gets datagrams
	 * for QP1 if software has no QP1, for QPs that do not exist, and for multicast groups;
	 * frame() gets frames that the port accepts. */
	void (*datagram)(void *front, unsigned int port, const struct fabric_msg *msg);
	void (*frame)(void *front, unsigned int port, const uint8_t *frame, size_t len);
	/* For lists of a network's hosts: the adapter's name, and the IP addresses of a port,
	 * separated by commas. NULL: unknown. */
	const char *name;
	void (*addresses)(void *front, unsigned int port, char *text, size_t size);
	void *front;
};

/* The layouts of the kinds of adapters, with their commands. The last is for a kernel driver of
 * mlx4, see config->kernel_driver. */
extern const struct format mlx5_format, mlx4_format, mlx4_driver_format;

/* Creates an adapter. Returns 0 and *HCA, or a positive errno. FORMAT must fit config->kind. */
int hca_create(const struct hca_config *config, const struct format *format, struct hca **hca);
void hca_destroy(struct hca *hca);

/*
 * Executes one command; IN and OUT are mailboxes in PRM layout (cmd.h), opcode first. OUT is always
 * filled: status, syndrome, and zeroes behind what the command writes. An unknown opcode gets
 * BAD_OP and an unsupported field BAD_PARAM, never success. The command is complete on return.
 */
void hca_exec(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len);

/* A command of an mlx4 adapter that a kernel drives: registers as in the HCR, mailboxes in host
 * memory. */
struct hca_order {
	uint16_t opcode, token;
	uint8_t modifier;
	bool event;
	uint32_t in_modifier;
	uint64_t in, out;
};

/* Executes an mlx4 command. Returns the status (prm/mlx4/cmd.h), and in order->out the result of a
 * command without output mailbox. Raises a command event if order->event. Unsupported commands and
 * fields fail as in hca_exec(). */
uint8_t hca_execute(struct hca *hca, struct hca_order *order);

/* Offset in BAR 0, as mlx4's QUERY_FW reports it, of a buffer that is zero unless the adapter has
 * failed. */
enum { HCA_ERROR_BUFFER = 0x80800, HCA_ERROR_WORDS = 16 };

/* Tells the core that the front's PAGE of 4096 bytes holds the page ADDR of the adapter's memory;
 * software maps PAGE. ADDR is from ALLOC_MEMIC, rounded down. With PAGE NULL, accesses fail. The
 * page must stay until the next call for ADDR. */
void hca_place_memic(struct hca *hca, uint64_t addr, void *page);

/* Take an access by software to LEN bytes at ADDR in a window of operations. A read that no
 * operation handles gives all ones. */
enum { HCA_MEMIC_OPERATIONS = 2 };
void hca_memic_read(struct hca *hca, uint64_t addr, uint8_t *data, size_t len);
void hca_memic_write(struct hca *hca, uint64_t addr, const uint8_t *data, size_t len);

/* Executes a UMR work request of LEN bytes, control segment first, for a front that emulates the
 * driver but has no queue for UMRs. Returns 0, EINVAL if the request is wrong, EBUSY if windows are
 * bound to the key, EIO if the adapter is dead, or ENOMEM. */
int hca_umr(struct hca *hca, const void *wqe, size_t len);

/* For a front with a command queue, which learns of completed commands by event:
 * hca_has_command_event() returns whether an EQ gets these events; hca_command_event() raises one
 * for the commands whose bits are set in DONE. */
bool hca_has_command_event(struct hca *hca);
void hca_command_event(struct hca *hca, uint32_t done);

/*
 * Take doorbells. A PCI front sees each write and calls hca_uar_write() with LEN bytes (at least 4)
 * in memory order. A front with UAR pages in plain memory only learns that the page has changed,
 * and several rings may look like one. It calls the scans, which read the doorbell record of every
 * send queue, or CQ, of that UAR. For a strict adapter it first reports the register's contents by
 * hca_uar_found(). hca_uar_place() tells where the page is, until the UAR is freed, as a BlueFlame
 * write leaves the whole WQE there.
 *
 * A scan gets the values that were found, at most HCA_SCAN_VALUES of send queues: their queues are
 * served at once. Where a UAR has many queues, hca_progress() reads the records of the others.
 */
enum { HCA_SCAN_VALUES = 4 };

void hca_uar_write(struct hca *hca, uint32_t uar, uint32_t offset, const void *bytes, size_t len);
void hca_uar_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
void hca_uar_place(struct hca *hca, uint32_t uar, const volatile uint64_t *page);
void hca_uar_scan_sq(struct hca *hca, uint32_t uar, const uint64_t *values_be, unsigned int count);
void hca_uar_scan_cq(struct hca *hca, uint32_t uar, uint64_t value_be);
/* Completes the scans under way, but reads a bounded number of records. A front calls it before a
 * command, so that earlier doorbells take effect first. */
void hca_finish_scans(struct hca *hca, uint64_t now_ns);
/* Writes the numbers of up to ROOM allocated UARs. Returns how many UARs are allocated. */
unsigned int hca_uar_list(struct hca *hca, uint32_t *numbers, unsigned int room);

#define HCA_IDLE UINT64_MAX
/*
 * Does a bounded amount of work and runs the timers that are due at NOW_NS (CLOCK_MONOTONIC).
 * Returns when to call again at the latest: 0 for more work at once, HCA_IDLE for nothing pending.
 * A command, a doorbell or another adapter of the fabric can make an earlier call necessary.
 */
uint64_t hca_progress(struct hca *hca, uint64_t now_ns);

/* A datagram that the front sends itself. It goes to a LID, to a GID and MAC address, or to LID and
 * GID where a GRH is needed. */
struct hca_datagram {
	uint8_t port;
	uint8_t gid_index; /* index of the source GID */
	uint16_t dlid;
	uint8_t sl;
	bool grh;
	uint8_t dgid[16], dmac[6];
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint16_t udp_sport;
	uint32_t dest_qpn, src_qpn, qkey;
	const void *payload;
	uint32_t len; /* at most 4096, the largest path MTU, as a datagram is one packet */
};

void hca_send_datagram(struct hca *hca, const struct hca_datagram *datagram);
void hca_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

/* Unplugs or plugs in a port's cable. An unplugged port sends and receives nothing. Software gets a
 * PORT_CHANGE event. Links are up at first. */
void hca_set_link(struct hca *hca, unsigned int port, bool up);
/* Reports CHANGE (PRM_PORT_CHANGE_*) at a port, as if a subnet manager had made it. Does nothing if
 * the port does not exist. */
void hca_report_port(struct hca *hca, unsigned int port, uint8_t change);

/*
 * Makes the adapter fail for good: it sends and receives nothing, all QPs go to the error state and
 * flush, and an internal-error event goes to EQN 0. Later commands fail with INT_ERR, except those
 * that free objects, so that software can clean up.
 */
void hca_kill(struct hca *hca);
/* Removes the key encryption keys. Logins that used them become invalid; imported keys stay. */
void hca_take_keks(struct hca *hca);

uint64_t hca_count_objects(struct hca *hca);

#endif
