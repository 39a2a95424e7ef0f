/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream.h - a stream: a reliable connection, a receive ring that the peer writes into, and a send
 * ring.
 *
 * Every call of any thread handles all pending completions and events, under rs.lock. One thread
 * may read while another writes: bytes are copied without rs.lock, under the lock of their
 * direction.
 */
#ifndef RSOCKET_STREAM_H
#define RSOCKET_STREAM_H

#include "librdmacm/rsocket/stream/ring.h"
#include "librdmacm/rsocket/channel_pause.h"
#include "librdmacm/rsocket/rs.h"
#include "librdmacm/rsocket/share.h"
#include "librdmacm/rsocket/wire.h"

#include <sys/queue.h>

enum stream_state {
	STREAM_NEW,
	STREAM_BOUND,
	STREAM_LISTENING,
	STREAM_ADDR,
	STREAM_ROUTE,
	STREAM_ASKED,
	STREAM_ACCEPTED,
	STREAM_CONNECTED,
	STREAM_OVER
};

/* When calls that do not wait look for rdma_cm events again. If calls are frequent, only each
 * sixteenth reads the exact clock, which costs more than the coarse one. */
struct rs_look {
	int64_t next_us;
	unsigned int skip; /* number of calls that only read the coarse clock */
	unsigned int left; /* how many of these calls remain */
};

enum {
	MAX_INLINE = 1024,
	/* a longer send waits for this much room, because small messages cost as many credits as
	 * large ones */
	WORTH_SENDING = 2048,
	/* send queue entries reserved for controls and segments: without credits, two sides could
	 * never give each other any */
	CONTROL_SQ = 4,
	/* receive queue entries for the peer's controls and segments */
	CONTROL_RQ = 24,
	/* receives posted together, as one doorbell costs more than a receive; up to this many
	 * receives may be missing */
	REPOST_BATCH = 16
};

struct riomapping; /* mapping.h */

struct stream {
	struct rs rs;
	enum stream_state state;
	struct rdma_cm_id *id; /* on its own channel, whose descriptor is rs.fd */
	struct rdma_event_channel *channel;
	union {
		struct {
			/* the peer sends no more: it has sent SHUTDOWN or DISCONNECT, or the
			 * connection is gone */
			bool peer_done;
			bool peer_gone; /* the peer receives no more */
			bool read_shut, write_shut;
		};
		uint32_t ends; /* all four flags: 0 while both directions are open */
	};
	bool is_asked_for; /* the program has not yet been told that the socket is connected */
	int error;
	struct sockaddr_storage peer;
	struct sockaddr_storage bound; /* name set by rbind(), or AF_UNSPEC */
	/* number of attempts to resolve address or route */
	unsigned int questions;
	/* Listeners: streams that raccept() has not taken yet, at most BACKLOG; and the time when
	 * the oldest unaccepted request was first seen, or 0. */
	STAILQ_HEAD(, stream) accepted;
	STAILQ_ENTRY(stream) in_accepted;
	int accepted_count, backlog;
	int64_t first_seen_us;
	struct rs_share share; /* listeners, after fork() */
	bool is_lost;          /* the listener was lost with its holder */
	/* inherited by fork(), without queues: the channel is the parent's */
	bool is_of_parent;
	bool has_peer;         /* has a peer name; read without a lock */
	struct rs_pause pause; /* pause after reading rdma_cm's events failed */

	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	bool is_armed; /* the next completion raises an event */
	bool has_event;
	unsigned int events; /* unacknowledged events of the CQ */
	struct rs_look look;

	/* registered memory: slots and mappings announced by the peer, the receive ring, the send
	 * ring */
	struct ibv_mr *mr;
	uint8_t *memory;
	size_t memory_size;
	struct wire_segment *slots;
	/* the peer's mappings: rs.options.mappings entries */
	struct wire_mapping *peer_mappings;
	unsigned int peer_mappings_room;

	struct cm_lock rx_lock;
	struct rx_ring rx;
	uint8_t *rx_bytes;
	uint16_t rx_count;   /* messages received that count against the credits */
	uint16_t rx_granted; /* limit granted to the peer's count */
	unsigned int to_post;

	struct cm_lock tx_lock;
	struct tx_ring tx;
	uint8_t *tx_bytes;
	/* least room for which poll() reports POLLOUT and sends continue */
	uint32_t tx_want;
	struct wire_segment target;
	unsigned int slot;
	uint16_t tx_count, tx_limit;
	/* counts of work requests, like the byte counts of tx_ring */
	uint32_t sq_put, sq_done, sq_marked;
	uint32_t inline_size;

	struct wire_peer remote;
	unsigned int remote_slot; /* the peer's slot to fill next */
	unsigned int controls;
	bool must_shutdown, must_disconnect;
	bool keepalive_due;
	bool was_kept; /* has had keepalives; set under the lock of keepalive.c */
	struct riomapping *mappings;
	uint64_t mapping_indexes[4]; /* a bit for each that is in use: there are 255 at most */
	unsigned int next_mapping;
};

static inline struct stream *to_stream(struct rs *rs)
{
	return (struct stream *)rs;
}

/* ---- stream.c ---- */

int rdmacm_stream_alloc(int domain, struct stream **out);
void rdmacm_stream_free(struct stream *stream);
/* Creates CQ, QP and memory. The id must be bound to a device. */
int rdmacm_stream_equip(struct stream *stream);
void rdmacm_stream_unequip(struct stream *stream);
void rdmacm_stream_hello(struct stream *stream, struct wire_hello *hello);
/* Processes the peer's hello, the private data in PARAM. */
int rdmacm_stream_meet(struct stream *stream, const struct rdma_conn_param *param);

/* ---- conn.c: called with rs.lock held ---- */

void rdmacm_stream_cm_events(struct stream *stream);
int rdmacm_stream_own_events(struct stream *stream);
void rdmacm_stream_fail(struct stream *stream, int error);
void rdmacm_stream_established(struct stream *stream);
/* Returns the number of bytes before the hello in a connection request. */
size_t rdmacm_stream_request_header(const struct rdma_cm_id *id);
/* Creates the queues and sends this side's hello by CALL: rdma_connect() or rdma_accept(). Sets
 * STATE before the call, because the connection may proceed at once. */
int rdmacm_stream_say_hello(struct stream *stream, enum stream_state state,
			    int (*call)(struct rdma_cm_id *id, struct rdma_conn_param *param));

/* ---- accept.c ---- */

int rdmacm_stream_accept(struct rs *rs, struct rs **out);

/* ---- traffic.c: called with rs.lock held ---- */

bool rdmacm_stream_progress(
	struct stream *stream); /* handles completions; returns whether there were any */
void rdmacm_stream_send_controls(struct stream *stream);
bool rdmacm_stream_can_send(struct stream *stream);
int rdmacm_stream_post_data(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			    bool is_inline);
int rdmacm_stream_post_mapping(struct stream *stream, unsigned int index,
			       const struct wire_mapping *mapping);
int rdmacm_stream_post_write(struct stream *stream, uint64_t addr, uint32_t lkey, uint32_t bytes,
			     bool is_inline, const struct wire_segment *to);
void rdmacm_stream_received(struct stream *stream, uint32_t bytes);

/* ---- wait.c: called with rs.lock held ---- */

bool rdmacm_stream_look_by_clock(struct rs_look *look);

static inline bool stream_look_is_due(struct stream *stream)
{
	if (stream->look.left) {
		stream->look.left--;
		if (rdmacm_rs_coarse_now_us() < stream->look.next_us)
			return false;
	}
	return rdmacm_stream_look_by_clock(&stream->look);
}

void rdmacm_stream_look(struct stream *stream);

/* Waits until READY, releasing the lock while it sleeps. Returns 0, EAGAIN if NONBLOCKING,
 * ETIMEDOUT, or EINTR. A negative DEADLINE_US means no deadline. */
int rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *), bool nonblocking,
		       int64_t deadline_us);
/* Arms the queue before sleeping. Returns false if something has happened meanwhile; then the
 * caller must not sleep. */
bool rdmacm_stream_arm(struct stream *stream);
int rdmacm_stream_sleep(struct stream *stream, int timeout_ms);
int rdmacm_stream_wake_fds(struct stream *stream, struct pollfd *fds);
void rdmacm_stream_woken(struct stream *stream, const struct pollfd *fds, int count);

/* ---- stream/io.c: functions of struct rs_kind ---- */

int rdmacm_stream_send(struct rs *rs, struct span *span, int flags, const struct sockaddr *to,
		       socklen_t len, size_t *done);
int rdmacm_stream_receive(struct rs *rs, struct span *span, int *flags,
			  struct sockaddr_storage *from, size_t *done);
int rdmacm_stream_unread(struct rs *rs, int *bytes);
short rdmacm_stream_poll(struct rs *rs, short events, bool sleep);
short rdmacm_stream_glance(struct rs *rs, short events, int *look_fd);
int rdmacm_stream_rs_wake_fds(struct rs *rs, struct pollfd *fds);
void rdmacm_stream_rs_woken(struct rs *rs, const struct pollfd *fds, int count);

/* ---- keepalive.c ---- */

int rdmacm_keepalive_set(struct stream *stream, int seconds); /* 0 seconds: off */

#endif
