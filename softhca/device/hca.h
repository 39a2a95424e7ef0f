/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * hca.h - the device core as its fronts see it.
 *
 * A front owns how software reaches the adapter (seccomp notifications, PCI); the core owns what
 * the adapter does: it executes PRM commands, runs work queues, writes CQEs and EQEs. Software
 * drives it through five things only: commands, doorbells, DMA, events and time. The core opens no
 * device, knows no process and never blocks.
 *
 * Every function takes the lock of the adapter's fabric, so a front may call from any
 * thread. Callbacks (bus, event) run with that lock held and must not call back into the core.
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
struct fabric; /* what several adapters share: see softhca/net/fabric.h */
struct fault;  /* the faults to inject: see fault.h; may be NULL */
struct strict; /* where reports go of what an adapter would not do as hoped: see strict.h; may be
		* NULL: nothing is looked for */
struct trace;  /* where commands, WQEs and CQEs are written down: see trace.h; may be NULL */

/* Bus addresses are 64 bits, opaque to the core except that consecutive addresses are consecutive
 * memory. The process front puts the client into bits 63:48 and its virtual address below; the PCI
 * front passes guest-physical addresses. */
struct hca_bus_seg {
	uint64_t addr;
	size_t len;
};

struct hca_bus_ops {
	/* The call gathers SEGS into BUF. It returns 0, EFAULT when any byte cannot be read, or
	 * ESRCH when the software that the memory belongs to has ended, which cannot be told and is
	 * silent to its peers. */
	int (*read)(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs, void *buf);
	/* The call scatters BUF to SEGS in ascending order: the last byte becomes visible last (a
	 * CQE's ownership byte relies on it). It returns 0, or EFAULT when any byte cannot be
	 * written; earlier segments may then have been written. */
	int (*write)(void *bus, const struct hca_bus_seg *segs, unsigned int nsegs,
		     const void *buf);
	/* These two calls are for a strict adapter on a bus of virtual addresses, and NULL on
	 * others. The first returns what distinguishes the page that is at ADDR now from any other,
	 * or 0 if that cannot be told. The second is asked when a page is not the one that was
	 * there, and tells whether that can have a reason which is not software's. */
	uint64_t (*page)(void *bus, uint64_t addr);
	bool (*page_may_move)(void *bus, uint64_t addr);
};

enum hca_link_layer {
	HCA_LINK_INFINIBAND,
	HCA_LINK_ETHERNET, /* RoCE */
};

/* A field that is zero means the default that the capability tables announce. */
struct hca_limits {
	uint32_t max_qp, max_cq, max_mkey, max_pd; /* objects */
	uint32_t max_wqe_bb;                       /* WQEBBs of one send queue, a power of two */
	uint32_t max_cqe;                          /* entries of one CQ, a power of two */
	uint32_t max_rd_atomic; /* outstanding RDMA READ and atomics per QP, both directions */
	uint32_t max_msg_size;  /* bytes */
	uint32_t max_tx_speed;  /* in 100 Mbit/s, 16 bits; 0 is what the link carries */
};

/* The secrets that an adapter is given, by which it takes keys only wrapped: credentials of those
 * who may log in, and keys that unwrap others (KEK). Their numbers are their places. */
enum { HCA_KEKS = 16, HCA_CREDENTIALS = 16, HCA_CREDENTIAL = 40 };

struct hca_kek {
	uint8_t bytes[32];
	uint8_t len; /* 16 or 32 */
};

struct hca_secrets {
	unsigned int keks, credentials;
	struct hca_kek kek[HCA_KEKS];
	uint8_t credential[HCA_CREDENTIALS][HCA_CREDENTIAL];
};

struct hca_config {
	enum hca_kind kind;
	enum hca_link_layer link_layer;
	bool grh_required; /* InfiniBand: every path wants a global route header */
	unsigned int num_ports;
	uint64_t node_guid; /* host order; port GUIDs follow it */
	uint64_t seed;      /* of everything chosen at random: where numbers start */
	uint32_t first_uar; /* the number of the first doorbell page; 0: as a PCI front wants it */
	struct hca_limits limits;
	/* The adapter may have memory of its own. These fields say how many bytes, and in which
	 * part of BAR 0 they are given out, in pages. See hca_place_memic(). */
	uint32_t memic_size;
	uint64_t memic_bar, memic_bar_size;
	/* Operations on it are accesses to windows that begin here in BAR 0, one for each of
	 * HCA_MEMIC_OPERATIONS and as large as that part; 0: the front sees no accesses, and there
	 * are none. See hca_memic_read(). */
	uint64_t memic_windows;
	/* Doorbells of devices that software emulates: pages from this offset in BAR 0 on, a power
	 * of two; 0: there are none. */
	uint64_t doorbell_bar;
	uint32_t doorbell_pages;
	/* With this, bus addresses are virtual: the bus fetches what is not there, or faults, so
	 * memory keys need not be pinned. */
	bool pages_on_demand;
	bool atomics_in_cqe;    /* where the QP asks for data there, in the CPU's order */
	bool real_time;         /* timestamps can be wall-clock time */
	unsigned int lag_ports; /* that are bonded, and seen as one; 0: none */
	bool kernel_driver; /* starts the adapter, has a network device of its own at the port */
	const struct hca_secrets *secrets; /* that last as long as it; NULL: there are none */
	struct fabric *fabric;
	struct fault *fault;
	struct trace *trace;
	struct strict *strict;
	const struct hca_bus_ops *bus_ops;
	void *bus;
	/* The call hands over a 64-byte EQE in PRM layout for event queue EQN. An EQ created
	 * without memory (log_eq_size 0 and no PAS) exists for fronts that play the driver; EQs
	 * with memory are written by DMA, and EQN then says which vector to raise. */
	void (*event)(void *front, uint32_t eqn, const uint8_t eqe[64]);
	/* The call tells that an event queue that was armed has an EQE; VECTOR is as its context
	 * says. The call may be NULL. */
	void (*interrupt)(void *front, uint32_t vector);
	/* These calls are for a front that plays the whole kernel; either may be NULL. A datagram
	 * for QP1 comes when software has no such QP, for a QP that is not there, or for a group; a
	 * frame comes when the port takes it. */
	void (*datagram)(void *front, unsigned int port, const struct fabric_msg *msg);
	void (*frame)(void *front, unsigned int port, const uint8_t *frame, size_t len);
	void *front;
};

/* Formats are how one kind of adapter looks in memory, and its commands. The last is for a driver
 * that is a kernel's, as config->kernel_driver says. */
extern const struct format mlx5_format, mlx4_format, mlx4_driver_format;

/* Returns 0 and *HCA, or a positive errno. FORMAT is the one of config->kind. */
int hca_create(const struct hca_config *config, const struct format *format, struct hca **hca);
void hca_destroy(struct hca *hca);

/*
 * Execute one command; IN and OUT are command mailboxes in PRM layout (cmd.h), opcode first.
 * OUT is always filled: status, syndrome, and zeroes behind what the command writes. An unknown
 * opcode gets BAD_OP, a field that is not implemented BAD_PARAM; never success. The command has
 * completed on return.
 */
void hca_exec(struct hca *hca, const void *in, size_t in_len, void *out, size_t out_len);

/*
 * Execute one command of an adapter of mlx4 that a kernel drives: as its register has it, with the
 * mailboxes in the host's memory. Returns the status (prm/mlx4/cmd.h), and the parameter that the
 * command gives back in OUT, where it has no mailbox. With EVENT, an event queue is told, too. What
 * is not implemented is refused, as hca_exec() does.
 */
struct hca_order {
	uint16_t opcode, token;
	uint8_t modifier;
	bool event;
	uint32_t in_modifier;
	uint64_t in, out;
};

uint8_t hca_execute(struct hca *hca, struct hca_order *order);

/* Where in BAR 0 that adapter says that it has a buffer which is 0 while all is well. */
enum { HCA_ERROR_BUFFER = 0x80800, HCA_ERROR_WORDS = 16 };

/* Says where the page is at ADDR of the adapter's own memory, an address as ALLOC_MEMIC gives it
 * rounded down. The page is 4096 bytes of the front's, as software maps them; with NULL it is
 * nowhere, and access to it fails. The bytes must stay until the page is placed elsewhere. */
void hca_place_memic(struct hca *hca, uint64_t addr, void *page);

/* Software has read or written LEN bytes at ADDR, which is in a window of operations. What no
 * operation answers reads as all ones. */
enum { HCA_MEMIC_OPERATIONS = 2 };
void hca_memic_read(struct hca *hca, uint64_t addr, uint8_t *data, size_t len);
void hca_memic_write(struct hca *hca, uint64_t addr, const uint8_t *data, size_t len);

/* Executes a UMR work request of LEN bytes, control segment first, as on a queue of the driver's
 * own; it is for a front that plays the driver and has none. It returns 0, EINVAL when the request
 * is wrong, EBUSY when windows are bound to the key, EIO when the adapter is dead, or ENOMEM. */
int hca_umr(struct hca *hca, const void *wqe, size_t len);

/* A front with a command queue learns of completed commands by event. The first function tells
 * whether there is an event queue for that, and the second raises the event for the commands whose
 * bits are in DONE. */
bool hca_has_command_event(struct hca *hca);
void hca_command_event(struct hca *hca, uint32_t done);

/*
 * These functions take doorbells. A PCI front knows each write: hca_uar_write() has the LEN bytes,
 * 4 at least, in memory order. A front whose UAR pages are plain memory only learns that something
 * was rung, and several rings may have collapsed into one: the scans look at the doorbell record of
 * every send queue (or every CQ) that uses that UAR page. What that front found in a register of
 * sends it shows first, if the adapter is strict: hca_uar_found(). Where the page is, from then on
 * until the UAR is given back, says hca_uar_place(): the rest of a BlueFlame write stays there.
 */
void hca_uar_write(struct hca *hca, uint32_t uar, uint32_t offset, const void *bytes, size_t len);
void hca_uar_found(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
void hca_uar_place(struct hca *hca, uint32_t uar, const volatile uint64_t *page);
void hca_uar_scan_sq(struct hca *hca, uint32_t uar);
void hca_uar_scan_cq(struct hca *hca, uint32_t uar);

#define HCA_IDLE UINT64_MAX
/*
 * Do a bounded amount of pending work and fire the timers that are due at NOW_NS (CLOCK_MONOTONIC).
 * Returns when to call again at the latest: 0 for more work at once, HCA_IDLE for nothing pending.
 * A command, a doorbell or work of another adapter of the same fabric can shorten it.
 */
uint64_t hca_progress(struct hca *hca, uint64_t now_ns);

/* A datagram is what the front sends itself. It goes to a LID, or to a GID and Ethernet address, or
 * to both where the GID needs a header. */
struct hca_datagram {
	uint8_t port;
	uint8_t gid_index; /* of the source */
	uint16_t dlid;
	uint8_t sl;
	bool grh;
	uint8_t dgid[16], dmac[6];
	uint8_t traffic_class, hop_limit;
	uint32_t flow_label;
	uint16_t udp_sport;
	uint32_t dest_qpn, src_qpn, qkey;
	const void *payload;
	uint32_t len; /* up to 4096 */
};

/* The datagram may be lost, as any datagram. */
void hca_send_datagram(struct hca *hca, const struct hca_datagram *datagram);
void hca_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len);

/* The cable of a port is pulled, or plugged in: what goes in or out is lost while it is not there,
 * and software is told by a PORT_CHANGE event. Ports are up from the start. */
void hca_set_link(struct hca *hca, unsigned int port, bool up);
/* A port reports CHANGE (PRM_PORT_CHANGE_*), as if a subnet manager had come by; a port that does
 * not exist reports nothing. */
void hca_report_port(struct hca *hca, unsigned int port, uint8_t change);

/*
 * The adapter dies: nothing goes out or comes in any more, all QPs are in error, what is posted is
 * flushed, and an internal-error event goes to EQN 0. Later commands fail with INT_ERR, except
 * those that give objects back, so that software can clean up.
 */
void hca_kill(struct hca *hca);
/* Takes away the keys of its secrets that unwrap others. Logins by them are not valid any more, and
 * keys that were imported stay. */
void hca_take_keks(struct hca *hca);

/* Returns how many objects of all kinds software has made and not destroyed. */
uint64_t hca_count_objects(struct hca *hca);

#endif
