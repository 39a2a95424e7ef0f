/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cma.h - the private part of a struct rdma_cm_id, and the functions that the library's files offer
 * each other.
 *
 * Internal functions return 0 or a positive errno; the public calls convert that with cma_return().
 * One thread at a time uses an id, but another thread may acknowledge its events; so the id's lock
 * guards only the counts of acknowledged events.
 *
 * Every global symbol that is not a public call begins with rdmacm_, for functions and data, so
 * that a program linked with librdmacm.a can have a stream_send() of its own. Types, macros, inline
 * and static functions do not reach the linker and have no prefix.
 */
#ifndef LIBRDMACM_CMA_H
#define LIBRDMACM_CMA_H

#include <errno.h>
#include <infiniband/sa.h>
#include <pthread.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_user_cm.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <unistd.h>

#include "librdmacm/shield.h"
#include "util/bits.h"
#include "util/log.h"
#include "util/order.h"
#include "util/threads.h"

#ifdef __SANITIZE_ADDRESS__
#define CMA_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define CMA_SANITIZED 1
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define CMA_SANITIZED 1
#endif

#define CMA_EXPORT __attribute__((visibility("default")))

static inline int cma_return(int ret)
{
	if (!ret)
		return 0;
	errno = ret;
	return -1;
}

static inline int cma_refuse(int err, const char *call, const char *why)
{
	verbs_warn("%s: %s", call, why);
	return cma_return(err);
}

/* ---- cmd.c: the commands of the kernel ---- */

/* A command of any kind: assign the member, then call rdmacm_cmd_run() with the command's number
 * and the member's size. An initializer would clear the largest member, too: 46 instructions. */
struct cm_cmd {
	struct rdma_ucm_cmd_hdr hdr;
	union {
		struct rdma_ucm_create_id create_id;
		struct rdma_ucm_destroy_id destroy_id;
		struct rdma_ucm_bind bind;
		struct rdma_ucm_resolve_addr resolve_addr;
		struct rdma_ucm_resolve_route resolve_route;
		struct rdma_ucm_query query;
		struct rdma_ucm_connect connect;
		struct rdma_ucm_listen listen;
		struct rdma_ucm_accept accept;
		struct rdma_ucm_reject reject;
		struct rdma_ucm_disconnect disconnect;
		struct rdma_ucm_init_qp_attr init_qp_attr;
		struct rdma_ucm_notify notify;
		struct rdma_ucm_join_mcast join_mcast;
		struct rdma_ucm_get_event get_event;
		struct rdma_ucm_set_option set_option;
		struct rdma_ucm_migrate_id migrate_id;
		struct rdma_ucm_resolve_ib_service resolve_ib_service;
		struct rdma_ucm_write_cm_event write_cm_event;
	};
};

/* Runs a command with cancellation disabled, for a process with several threads, because write() is
 * a cancellation point: a thread cancelled there would not take the result. A thread that has a
 * shield already does not call it. */
int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size);
/* Handles the failure of a command, whose write() returned DONE: repeats the command, or returns
 * the errno. */
int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done);

/* Runs a command. OUT_SIZE is the size of the response buffer. Logs each failure, except EAGAIN and
 * EINTR, with the command's name. */
static inline int rdmacm_cmd_run(int fd, struct cm_cmd *cmd, uint32_t number, uint16_t in_size,
				 uint16_t out_size)
{
	const size_t size = sizeof(cmd->hdr) + in_size;
	ssize_t done;

	cmd->hdr = (struct rdma_ucm_cmd_hdr){ number, in_size, out_size };
	if (__builtin_expect(!process_has_one_thread() && number != RDMA_USER_CM_CMD_GET_EVENT &&
				     !rdmacm_shield.depth,
			     0))
		return rdmacm_cmd_run_shielded(fd, cmd, size);
	done = write(fd, cmd, size);
	return __builtin_expect(done == (ssize_t)size, 1) ? 0 : rdmacm_cmd_failed(fd, cmd, done);
}

#define CM_RUN(fd, cmd, number, member, out_size) \
	rdmacm_cmd_run(fd, cmd, RDMA_USER_CM_CMD_##number, sizeof((cmd)->member), out_size)
/* Runs a command of id CM. Publishes earlier changes of the id first, because another thread may
 * read an event that the command causes. */
#define CM_RUN_ID(cm, cmd, number, member, out_size) \
	(order_publish(cm), CM_RUN((cm)->id.channel->fd, cmd, number, member, out_size))

/* Repairs a channel after the process has changed its user. The kernel refuses a command from other
 * credentials than those that opened the channel; RENEW then puts a new channel at FD, and the
 * command is repeated. GET_EVENT is not repeated: its caller starts over. */
struct cm_renewal {
	int fd;
	int (*renew)(void *of, uint32_t refused); /* refused: the command's number */
	void *of;
};

/* Sets this thread's renewal and returns the previous renewal, which the caller sets again
 * afterwards. */
const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *renewal);

/* explain_cmd.c: writes ": " and the reason why the kernel may refuse the command with ERR, or
 * "". */
void rdmacm_cmd_explain(const struct cm_cmd *cmd, int err, char *why, size_t size);

int rdmacm_cmd_open(int *fd);

/* Copies an address to the kernel's struct. Returns EINVAL, logged, for an unknown family. */
int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr);
/* Returns the size of an address of this family (IPv4, IPv6 or AF_IB), or 0 for other families. */
socklen_t rdmacm_addr_len(const struct sockaddr *addr);
/* Returns EINVAL, logged, for NULL and for an address of another family. */
int rdmacm_addr_check(const char *call, const struct sockaddr *addr);

/* ---- module.c ---- */

/* Makes the kernel load rdma_cm's interface. Its device file may appear a moment later, because
 * udev makes it. */
int rdmacm_module_load(void);

/* ---- attr.c: converts the kernel's attributes ---- */

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from);
/* Does not set rate_limit, which the kernel's struct lacks, nor qp_state, which the caller has
 * chosen. */
void rdmacm_attr_take_qp(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from);

/* ---- device.c: one context for each device ---- */

struct cm_device {
	LIST_ENTRY(cm_device) entry;
	struct ibv_device *ibv;
	uint64_t guid;
	int index;
	struct ibv_context *verbs;
	/* device node of cmd_fd, if knows_node: tells whether the program has reused the number */
	dev_t node_dev;
	ino_t node_inode;
	bool knows_node, is_marked;
	unsigned int users;
	bool is_removed;    /* the kernel reported the removal to an id */
	bool is_handed_out; /* returned by rdma_get_devices() */
	/* default PD, created when the first id is bound, so that all ids of the device share it;
	 * freed with the context */
	struct ibv_pd *pd;
	/* default XRC domain; exists while xrcd_users is not 0, because few programs use XRC */
	struct ibv_xrcd *xrcd;
	unsigned int xrcd_users;
	uint8_t max_initiator_depth, max_responder_resources;
	/* access flags that the kernel grants to peers of RC QPs, [0] without READs and atomics,
	 * [1] with them; 0: not yet known */
	atomic_uint granted[2];
};

/* Finds the device with GUID or INDEX (negative: unknown) and opens it. Returns ENODEV if there is
 * none. Call rdmacm_device_put() for each find. */
int rdmacm_device_find(uint64_t guid, int index, struct cm_device **device);
/* Returns 0 if there is a device, opened or not, else ENODEV. */
int rdmacm_device_must_exist(void);
/* Opens all devices that can be opened. Returns ENODEV if there is none. Call rdmacm_device_put()
 * for each device, and free() for the list. */
int rdmacm_device_find_all(struct cm_device ***list, int *num);
void rdmacm_device_put(struct cm_device *device);
/* Marks a removed device, so that its ids do not find it again. */
void rdmacm_device_remove(struct cm_device *device);
int rdmacm_device_get_pd(struct cm_device *device, struct ibv_pd **pd);
/* Gets the default XRC domain, for receive QPs and SRQs created without one. Call
 * rdmacm_device_put_xrcd() for each. */
int rdmacm_device_get_xrcd(struct cm_device *device, struct ibv_xrcd **xrcd);
void rdmacm_device_put_xrcd(struct cm_device *device);
void rdmacm_device_close_all(void);

/* ---- leave.c ---- */

/* Call this before the library keeps anything for the lifetime of the process, because the order of
 * atexit() handlers tells exit() and dlclose() apart (leave.c). */
void rdmacm_watch_exit(void);

/* ---- id.c ---- */

struct cm_multicast {
	LIST_ENTRY(cm_multicast) entry;
	struct cm_id *id;
	void *context;
	struct sockaddr_storage addr;
	union ibv_gid mgid;
	uint16_t mlid;
	bool attached;
	bool only_sends;
	uint32_t number;
	uint32_t events_acked;
};

struct cm_ack_wait {
	pthread_cond_t acked;
	LIST_ENTRY(cm_ack_wait) entry;
};

struct cm_id {
	struct rdma_cm_id id;
	struct cm_device *device;
	uint32_t number;
	bool waits; /* the id has its own channel, and its calls wait for their event */
	bool owns_cqs[2];
	bool uses_default_xrcd;
	bool is_request;
	bool srq_has_cq; /* an XRC SRQ reports its completions to id.recv_cq */
	/* READs and atomics of the connection: requested by the program, or received in the
	 * request */
	uint8_t initiator_depth, responder_resources;
	union {
		/* QP that was moved to INIT; its ECE, access flags and P_Key index are init_*
		 * below */
		struct ibv_qp *init_qp;
		struct cm_id *next_spare; /* of a freed id: next freed id */
	};
	struct ibv_ece init_ece;
	unsigned int init_access;
	uint16_t init_pkey_index;
	struct ibv_ece local_ece, remote_ece;
	/* endpoints: private data found by address resolution, and the attributes for the QPs of
	 * requests */
	void *connect_data;
	uint8_t connect_len;
	struct ibv_qp_init_attr *request_qp;
	struct ibv_pd *request_pd;
	/* result of rdma_resolve_addrinfo() until rdma_query_addrinfo() */
	struct rdma_addrinfo *found;
	int found_flags; /* ai_flags for the pending RAI_SA query */
	LIST_HEAD(, cm_multicast) multicasts;
	uint32_t events_acked;
	LIST_HEAD(, cm_ack_wait) ack_waits;
	/* Initialised once for all ids that use this memory in turn. Guards the multicast groups,
	 * all counts of acknowledged events and the threads that wait for them. */
	pthread_mutex_t lock;
};

static inline struct cm_id *to_cm_id(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

/* Allocates an id that the kernel does not know yet. CHANNEL NULL: the id gets its own channel, so
 * that its calls can wait for their events. */
int rdmacm_id_alloc(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		    enum ibv_qp_type qp_type, struct cm_id **id);
int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		     enum ibv_qp_type qp_type, struct cm_id **id);
void rdmacm_id_free(struct cm_id *id);
/* Destroys the id in the kernel, and waits until all its events are acknowledged: until then, the
 * program may read the id from an event. */
int rdmacm_id_destroy_in_kernel(struct cm_id *id);
/* Makes the kernel move an id and its unread events to CHANNEL, from the channel with descriptor
 * FROM, which may belong to another process. Sets *REPORTED to the number of its events that were
 * read. */
int rdmacm_id_fetch(uint32_t number, int from, const struct rdma_event_channel *channel,
		    uint32_t *reported);
/* Waits until COUNTER reaches REPORTED, the number of events read. */
void rdmacm_id_await_acks(struct cm_id *id, const uint32_t *counter, uint32_t reported);
/* Resets the id's lock in a child of fork(), which continues with a copy of the id: another thread
 * of the parent may have held the lock. */
void rdmacm_id_forked(struct cm_id *id);

/* ---- id_memory.c ---- */

/* Returns an id that is zeroed except lock and condition, or NULL. These two stay initialised while
 * ids reuse the memory. */
struct cm_id *rdmacm_id_memory(void);
void rdmacm_id_memory_free(struct cm_id *cm);
void rdmacm_id_init_lock(struct cm_id *cm);
void rdmacm_id_free_spare(void);
/* Called in a child of fork(): another thread of the parent may have been changing the list. */
void rdmacm_id_spare_forked(void);

/* ---- query.c ---- */

/* Fills in id->route as far as the kernel knows it. Binds the id to its device if the kernel has
 * bound it. */
int rdmacm_id_query_route(struct cm_id *id);
int rdmacm_id_query_path(struct cm_id *id);
int rdmacm_id_query(struct cm_id *id, uint32_t what, void *resp, size_t size);

/* ---- event.c ---- */

int rdmacm_event_await(struct cm_id *id);
static inline int cm_event_await(struct cm_id *id)
{
	return id->waits ? rdmacm_event_await(id) : 0;
}
/* Acknowledges the event of the last call that waited, which the id has kept in id.event. */
void rdmacm_event_release(struct cm_id *id);
/* Counts the acknowledgement of an event early. The event stays readable until the program
 * acknowledges it. */
void rdmacm_event_settle(struct rdma_cm_event *event);
int rdmacm_event_read(struct cm_id *listener, struct rdma_ucm_event_resp *resp);
/* Makes the kernel reject a request, so that the peer does not wait, and logs WHY. The request's id
 * is on the channel with descriptor FD and has no memory here. */
int rdmacm_request_refuse(int fd, uint32_t number, const char *why);
/* Makes the id of a request to LISTENER that another process may have read. Moves the id from the
 * channel with descriptor FROM to CHANNEL, because the kernel lets only the opener of a channel use
 * its ids. */
int rdmacm_request_fetch(const struct cm_id *listener, const struct rdma_ucm_event_resp *request,
			 int from, struct rdma_event_channel *channel, struct cm_id **id);

/* ---- explain.c ---- */

void rdmacm_event_explain(const struct rdma_cm_event *event);

/* ---- addrinfo_services.c ---- */

/* Converts the services that the kernel found for RAI_SA to cm->found. The first one becomes the
 * id's destination. */
int rdmacm_addrinfo_take_services(struct cm_id *cm);

/* ---- qp.c ---- */

int rdmacm_qp_to_rtr(struct cm_id *id, uint8_t responder_resources);
int rdmacm_qp_to_rts(struct cm_id *id, uint8_t initiator_depth);
int rdmacm_qp_to_error(struct cm_id *id);

/* ---- connect.c ---- */

/* Completes the connection on the active side after the peer has accepted (sends the RTU). */
int rdmacm_connect_confirm(struct cm_id *id);
/* Enables the peer's ECE options on the QP of ID, if the QP supports them. */
int rdmacm_qp_take_ece(struct cm_id *id);

/* ---- mcast.c ---- */

int rdmacm_multicast_attach(struct cm_multicast *multicast, const struct rdma_ud_param *param);
/* Detaches the id's QP from all groups. The id remains a member. */
void rdmacm_multicast_detach_all(struct cm_id *cm);

#endif
