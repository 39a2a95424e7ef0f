/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cma.h - what is behind a struct rdma_cm_id, and what the files of the library offer each other.
 *
 * Inside, functions return 0 or a positive errno; the public calls translate that with
 * cma_return(). An id is used by one thread at a time, but its events may be acknowledged by
 * another thread. So only the counts of acknowledged events are guarded, by the lock of the id.
 *
 * Every global symbol of the library that is not a public call begins with rdmacm_, functions and
 * data alike, so that a program that links with librdmacm.a can have a stream_send() of its own.
 * Types, macros, inline functions and what is static are of no concern to a linker and have no such
 * prefix.
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

/* Returns -1 with errno ERR after logging why the public call CALL is refused. */
static inline int cma_refuse(int err, const char *call, const char *why)
{
	verbs_warn("%s: %s", call, why);
	return cma_return(err);
}

/* ---- cmd.c: the commands of the kernel ---- */

/* One command of any kind: fill the member, then call rdmacm_cmd_run() with the number and the
 * member's size. */
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

/* Runs a command in a process that has other threads. */
int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size);
/* Returns why a command failed, or repeats it; write() has returned DONE. */
int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done);

/* OUT_SIZE is the size of what the command's response address points at. Each failure but EAGAIN
 * and EINTR is logged with the command's name. */
static inline int rdmacm_cmd_run(int fd, struct cm_cmd *cmd, uint32_t number, uint16_t in_size,
				 uint16_t out_size)
{
	const size_t size = sizeof(cmd->hdr) + in_size;
	ssize_t done;

	cmd->hdr = (struct rdma_ucm_cmd_hdr){ number, in_size, out_size };
	if (__builtin_expect(!process_has_one_thread() && number != RDMA_USER_CM_CMD_GET_EVENT, 0))
		return rdmacm_cmd_run_shielded(fd, cmd, size);
	done = write(fd, cmd, size);
	return __builtin_expect(done == (ssize_t)size, 1) ? 0 : rdmacm_cmd_failed(fd, cmd, done);
}

#define CM_RUN(fd, cmd, number, member, out_size) \
	rdmacm_cmd_run(fd, cmd, RDMA_USER_CM_CMD_##number, sizeof((cmd)->member), out_size)
/* The same for a command of an id CM. What was done with the id before is seen by whoever gets
 * an event that the command causes. */
#define CM_RUN_ID(cm, cmd, number, member, out_size) \
	(order_publish(cm), CM_RUN((cm)->id.channel->fd, cmd, number, member, out_size))

/* A change of user may come between two commands of this thread. One that is refused on FD for that
 * is repeated after RENEW has put another channel there. GET_EVENT is not: it begins a step. */
struct cm_renewal {
	int fd;
	int (*renew)(void *of, uint32_t refused); /* the number of the command */
	void *of;
};

/* Until the function is called with what it returns, which is the renewal before. */
const struct cm_renewal *rdmacm_cmd_set_renewal(const struct cm_renewal *renewal);

/* Opens a descriptor for a new event channel. */
int rdmacm_cmd_open(int *fd);

/* Puts an address into the kernel's structure. It returns EINVAL, and logs it, if rdmacm_addr_len()
 * does not know the family. */
int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr);
/* Returns the size of an address of this family: IPv4's, IPv6's or AF_IB's; 0 for all others. */
socklen_t rdmacm_addr_len(const struct sockaddr *addr);
/* Returns EINVAL, and logs why, for NULL and for an address of another family. */
int rdmacm_addr_check(const char *call, const struct sockaddr *addr);

/* ---- module.c ---- */

/* Makes the kernel load rdma_cm's interface. Its device file may come a moment later. */
int rdmacm_module_load(void);

/* ---- attr.c: attributes of the kernel as those of verbs ---- */

void rdmacm_attr_take_ah(struct ibv_ah_attr *to, const struct ib_uverbs_ah_attr *from);
/* Leaves alone rate_limit, which the kernel's structure does not have, and qp_state, which this
 * side has told the kernel. */
void rdmacm_attr_take_qp(struct ibv_qp_attr *to, const struct ib_uverbs_qp_attr *from);

/* ---- device.c: one context for each device in use ---- */

struct cm_device {
	LIST_ENTRY(cm_device) entry;
	struct ibv_device *ibv;
	uint64_t guid; /* in network byte order, as the kernel has it */
	int index;     /* the index that RDMA netlink gives the device, or -1 */
	struct ibv_context *verbs;
	dev_t node_dev; /* the device node of cmd_fd, if knows_node */
	ino_t node_inode;
	bool knows_node, is_marked; /* see context_note() */
	unsigned int users;         /* ids */
	bool is_removed;            /* the kernel has said so to an id */
	bool is_handed_out;         /* by rdma_get_devices() */
	/* the default PD, made when the first id is bound; lives as long as the context */
	struct ibv_pd *pd;
	struct ibv_xrcd *xrcd; /* the default XRC domain; there is one while xrcd_users is not 0 */
	unsigned int xrcd_users;
	uint8_t max_initiator_depth, max_responder_resources;
	/* the access flags that the kernel grants peers of RC QPs: [0] without READs and
	 * atomics, [1] with them; 0 while it was not asked */
	atomic_uint granted[2];
};

/* Hands out, opened, the device that the kernel means by GUID and INDEX, which is below 0 where the
 * kernel does not say. It returns ENODEV if there is none. Each find wants a put. */
int rdmacm_device_find(uint64_t guid, int index, struct cm_device **device);
/* Returns 0 if there is a device, opened or not, or ENODEV. */
int rdmacm_device_must_exist(void);
/* Hands out, opened, all devices that can be opened. It returns ENODEV if there is none. Each
 * device wants a put, and the list a free(). */
int rdmacm_device_find_all(struct cm_device ***list, int *num);
void rdmacm_device_put(struct cm_device *device);
/* The device has gone, so none of its ids will find it again. */
void rdmacm_device_remove(struct cm_device *device);
int rdmacm_device_get_pd(struct cm_device *device, struct ibv_pd **pd);
/* The default XRC domain serves receive QPs and SRQs that bring none. Each get wants a put. */
int rdmacm_device_get_xrcd(struct cm_device *device, struct ibv_xrcd **xrcd);
void rdmacm_device_put_xrcd(struct cm_device *device);
/* Closes all devices that no id and no program uses. */
void rdmacm_device_close_all(void);

/* ---- leave.c ---- */

/* Called before the library keeps something for the whole process. */
void rdmacm_watch_exit(void);

/* ---- id.c ---- */

struct cm_multicast {
	LIST_ENTRY(cm_multicast) entry;
	struct cm_id *id;
	void *context;
	struct sockaddr_storage addr;
	union ibv_gid mgid; /* the group that the QP is attached to, */
	uint16_t mlid;
	bool attached;   /* if this is set */
	bool only_sends; /* the QP does not receive from the group */
	uint32_t number; /* the kernel's */
	uint32_t events_acked;
};

struct cm_id {
	struct rdma_cm_id id;
	struct cm_device *device;
	uint32_t number; /* the kernel's */
	bool waits;      /* the id has a channel of its own, and its calls wait for their event */
	bool owns_cqs[2];
	bool uses_default_xrcd;
	bool is_request; /* the id is of a connection request */
	bool srq_has_cq; /* an XRC SRQ completes to id.recv_cq */
	/* READs and atomics that the connection shall have: those that were asked for, or those
	 * in the request */
	uint8_t initiator_depth, responder_resources;
	/* the QP that was brought to INIT, with the access and P_Key index that follow */
	struct ibv_qp *init_qp;
	unsigned int init_access;
	uint16_t init_pkey_index;
	struct ibv_ece local_ece, remote_ece;
	/* of an endpoint: the private data that resolving has found, and what the QPs of
	 * requests are made with */
	void *connect_data;
	uint8_t connect_len;
	struct ibv_qp_init_attr *request_qp;
	struct ibv_pd *request_pd;
	/* what rdma_resolve_addrinfo() has found, until rdma_query_addrinfo() takes it */
	struct rdma_addrinfo *found;
	int found_flags; /* ai_flags of what will be found by RAI_SA */
	LIST_HEAD(, cm_multicast) multicasts;
	uint32_t events_acked;
	struct cm_id *next_spare; /* once the id was freed */
	/* what follows is made once for all ids that have this memory, one after the other;
	 * guards the multicast groups, and the counts of acknowledged events, theirs too */
	pthread_mutex_t lock;
	pthread_cond_t acked;
};

static inline struct cm_id *to_cm_id(struct rdma_cm_id *id)
{
	return (struct cm_id *)id;
}

/* Makes an id that the kernel does not know yet. It is on CHANNEL, or on a channel of its own if
 * that is NULL. */
int rdmacm_id_alloc(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		    enum ibv_qp_type qp_type, struct cm_id **id);
int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		     enum ibv_qp_type qp_type, struct cm_id **id);
void rdmacm_id_free(struct cm_id *id);
/* Makes the kernel forget the id, and waits until all its events are acknowledged. */
int rdmacm_id_destroy_in_kernel(struct cm_id *id);
/* Has the kernel move an id, with its events that nobody has read, to CHANNEL from the channel of
 * descriptor FROM, which may be another process's. *REPORTED becomes how many of its events were
 * read. */
int rdmacm_id_fetch(uint32_t number, int from, const struct rdma_event_channel *channel,
		    uint32_t *reported);
/* Waits until COUNTER says that all REPORTED events are acknowledged. */
void rdmacm_id_await_acks(struct cm_id *id, const uint32_t *counter, uint32_t reported);
/* Called in a child of fork(), which goes on with a copy of the id. */
void rdmacm_id_forked(struct cm_id *id);

/* ---- id_memory.c ---- */

/* Returns an id that is zero but for its lock and condition, or NULL. */
struct cm_id *rdmacm_id_memory(void);
void rdmacm_id_memory_free(struct cm_id *cm);
void rdmacm_id_init_lock(struct cm_id *cm);
/* Gives back the memory that is kept for the next ids. */
void rdmacm_id_free_spare(void);
/* Called in a child of fork(). */
void rdmacm_id_spare_forked(void);

/* ---- query.c ---- */

/* Fills in all of id->route, as far as the kernel knows it, and binds the id to its device once the
 * kernel has. */
int rdmacm_id_query_route(struct cm_id *id);
/* Fills in the paths only. */
int rdmacm_id_query_path(struct cm_id *id);
/* WHAT is any of RDMA_USER_CM_QUERY_*. */
int rdmacm_id_query(struct cm_id *id, uint32_t what, void *resp, size_t size);

/* ---- event.c ---- */

/* Waits, if the id's calls wait, for the event of what was started. It returns 0, or the errno that
 * the event stands for. */
int rdmacm_event_await(struct cm_id *id);
/* Acknowledges the event that the last call of an id that waits has left. */
void rdmacm_event_release(struct cm_id *id);
/* Acknowledges an event that stays readable, until it is acknowledged again. */
void rdmacm_event_settle(struct rdma_cm_event *event);
/* Reads an event of LISTENER as the kernel has it, and acknowledges it. */
int rdmacm_event_read(struct cm_id *listener, struct rdma_ucm_event_resp *resp);
/* Has the kernel refuse a request, and logs WHY, so that the other side does not wait. The id of
 * the request is on the channel of descriptor FD, and has no memory here. */
int rdmacm_request_refuse(int fd, uint32_t number, const char *why);
/* Makes the id of a request of LISTENER that another process may have read: it moves from the
 * channel of descriptor FROM to CHANNEL. */
int rdmacm_request_fetch(const struct cm_id *listener, const struct rdma_ucm_event_resp *request,
			 int from, struct rdma_event_channel *channel, struct cm_id **id);

/* ---- explain.c ---- */

/* Logs, at level warn, what has failed and why, if the event is of a failure. */
void rdmacm_event_explain(const struct rdma_cm_event *event);

/* ---- addrinfo_services.c ---- */

/* The kernel has found services for RAI_SA: they become cm->found, and the first becomes the
 * id's destination. */
int rdmacm_addrinfo_take_services(struct cm_id *cm);

/* ---- qp.c ---- */

int rdmacm_qp_to_rtr(struct cm_id *id, uint8_t responder_resources);
int rdmacm_qp_to_rts(struct cm_id *id, uint8_t initiator_depth);
int rdmacm_qp_to_error(struct cm_id *id);

/* ---- connect.c ---- */

/* Completes a connection from this side after the other side has accepted (RTU). */
int rdmacm_connect_confirm(struct cm_id *id);
/* Asks the QP of ID for the options (ECE) that the peer has named, if it knows them. */
int rdmacm_qp_take_ece(struct cm_id *id);

/* ---- mcast.c ---- */

/* Attaches the id's QP, if it has one, to the group that the kernel has joined. */
int rdmacm_multicast_attach(struct cm_multicast *multicast, const struct rdma_ud_param *param);
/* Detaches the id's QP from all groups. The id stays in them. */
void rdmacm_multicast_detach_all(struct cm_id *cm);

#endif
