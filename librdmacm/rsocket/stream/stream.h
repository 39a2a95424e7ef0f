/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * stream.h - a stream: a reliable connection, a receive ring that the other side writes into, and a
 * send ring.
 *
 * Any thread that is in a call handles, under rs.lock, what has happened for all threads. One
 * thread may read while another one writes: bytes are copied outside of that lock, under the lock
 * of their direction.
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
	STREAM_ADDR,     /* the other side's address is being resolved */
	STREAM_ROUTE,    /* the route to it is being resolved */
	STREAM_ASKED,    /* the connection request was sent */
	STREAM_ACCEPTED, /* a request of the other side was accepted */
	STREAM_CONNECTED,
	STREAM_OVER /* the connection has ended, or has failed to be made */
};

/* When those who do not wait look for events of rdma_cm again. Where calls come often, only each
 * sixteenth reads the clock. */
struct rs_look {
	int64_t next_us;
	unsigned int skip; /* how many calls look at the coarse clock alone, */
	unsigned int left; /* and how many of those are still to come */
};

enum {
	MAX_INLINE = 1024,
	WORTH_SENDING = 2048, /* a longer send waits until this many bytes can be sent */
	CONTROL_SQ = 4,       /* entries of the send queue that only controls and segments use */
	/* entries of the receive queue for controls and segments of the other side */
	CONTROL_RQ = 24,
	/* so many receives are posted together, so up to so many may be missing */
	REPOST_BATCH = 16
};

struct riomapping; /* mapping.h */

struct stream {
	struct rs rs;
	enum stream_state state;
	struct rdma_cm_id *id; /* on a channel of its own, which is rs.fd */
	struct rdma_event_channel *channel;
	union {
		struct {
			/* the other side sends no more: it has said SHUTDOWN or DISCONNECT, or the
			 * connection is gone */
			bool peer_done;
			bool peer_gone; /* the other side receives no more */
			bool read_shut, write_shut;
		};
		uint32_t ends; /* all of them: 0 while both sides send and receive */
	};
	bool is_asked_for; /* the program has not heard yet that its connection is made */
	int error;         /* what SO_ERROR reports */
	struct sockaddr_storage peer;
	struct sockaddr_storage bound; /* the name that rbind() gave, or AF_UNSPEC */
	/* how often the peer's address, or the route to it, was asked for */
	unsigned int questions;
	/* of a listener: streams that raccept() has not taken yet, at most BACKLOG; when a request
	 * that nobody takes was seen first, or 0 */
	STAILQ_HEAD(, stream) accepted;
	STAILQ_ENTRY(stream) in_accepted;
	int accepted_count, backlog;
	int64_t first_seen_us;
	struct rs_share share; /* of a listener, once the process has forked */
	bool is_lost;          /* nobody can listen any more */
	/* made before this process was forked, and without queues: the channel is the parent's */
	bool is_of_parent;
	bool has_peer;         /* accepted or connected: its peer has a name; read without a lock */
	struct rs_pause pause; /* of reading events of rdma_cm, which has failed */

	/* the completions of both directions */
	struct ibv_comp_channel *completions;
	struct ibv_cq *cq;
	bool is_armed;       /* the next completion makes an event */
	bool has_event;      /* an event of the channel was not taken yet */
	unsigned int events; /* events of the CQ that are not acknowledged yet */
	struct rs_look look;

	/* one registered piece of memory: what the other side announces (slots and mappings),
	 * then the receive ring, then the send ring */
	struct ibv_mr *mr;
	uint8_t *memory;
	size_t memory_size;
	struct wire_segment *slots;
	/* the other side's mappings: rs.options.mappings entries */
	struct wire_mapping *peer_mappings;
	unsigned int peer_mappings_room;

	struct cm_lock rx_lock; /* held while a call reads */
	struct rx_ring rx;
	uint8_t *rx_bytes;
	uint16_t rx_count;   /* messages received, of those that count */
	uint16_t rx_granted; /* how far the other side may count */
	unsigned int to_post;

	struct cm_lock tx_lock; /* held while a call writes */
	struct tx_ring tx;
	uint8_t *tx_bytes;
	/* poll reports room, and calls send, from so many bytes of room on */
	uint32_t tx_want;
	struct wire_segment target; /* where the next byte is written */
	unsigned int slot;          /* the slot in which the next target comes */
	uint16_t tx_count, tx_limit;
	/* counts of work requests, as tx_ring has them for bytes */
	uint32_t sq_put, sq_done, sq_marked;
	uint32_t inline_size;

	struct wire_peer remote;
	unsigned int remote_slot; /* the slot of the other side that is filled next */
	unsigned int controls;    /* controls that were posted and are not completed */
	bool must_shutdown, must_disconnect;
	bool keepalive_due;
	struct riomapping *mappings;
	unsigned int next_mapping;
};

static inline struct stream *to_stream(struct rs *rs)
{
	return (struct stream *)rs;
}

/* ---- stream.c ---- */

int rdmacm_stream_alloc(int domain, struct stream **out);
void rdmacm_stream_free(struct stream *stream);
/* Makes CQ, QP and memory. The id must have a device. */
int rdmacm_stream_equip(struct stream *stream);
void rdmacm_stream_unequip(struct stream *stream);
void rdmacm_stream_hello(struct stream *stream, struct wire_hello *hello);
/* Takes in the other side's hello, which PARAM has as private data. */
int rdmacm_stream_meet(struct stream *stream, const struct rdma_conn_param *param);

/* ---- conn.c: called with rs.lock held ---- */

void rdmacm_stream_cm_events(struct stream *stream);
/* The same for the library's threads, which leave a channel that they may not use to the program's,
 * and return EACCES. */
int rdmacm_stream_own_events(struct stream *stream);
void rdmacm_stream_fail(struct stream *stream, int error);
void rdmacm_stream_established(struct stream *stream);
/* Returns how many bytes are ahead of the hello in a connection request. */
size_t rdmacm_stream_request_header(const struct rdma_cm_id *id);
/* Makes the queues and sends this side's hello, in the request by rdma_connect() or in the answer
 * to one by rdma_accept(). The connection proceeds by itself from there, so the stream is at STATE
 * before CALL is made. */
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

/* Returns whether it is time to look for events of rdma_cm. */
static inline bool stream_look_is_due(struct stream *stream)
{
	if (stream->look.left) {
		stream->look.left--;
		if (rdmacm_rs_coarse_now_us() < stream->look.next_us)
			return false;
	}
	return rdmacm_stream_look_by_clock(&stream->look);
}

/* Looks for events of rdma_cm, for a call that does not wait. */
void rdmacm_stream_look(struct stream *stream);

/* Waits until the stream is READY. The lock is let go of while sleeping. It returns 0, EAGAIN if
 * NONBLOCKING, ETIMEDOUT, or EINTR. There is no deadline if DEADLINE_US is below 0. */
int rdmacm_stream_wait(struct stream *stream, bool (*ready)(struct stream *), bool nonblocking,
		       int64_t deadline_us);
/* Prepares for sleeping. It returns false if something has happened, so that the caller must not
 * sleep. */
bool rdmacm_stream_arm(struct stream *stream);
/* Sleeps without the lock until something may have changed; returns 0 or EINTR. */
int rdmacm_stream_sleep(struct stream *stream, int timeout_ms);
int rdmacm_stream_wake_fds(struct stream *stream, struct pollfd *fds);
void rdmacm_stream_woken(struct stream *stream, const struct pollfd *fds, int count);

/* ---- stream/io.c: what struct rs_kind points to ---- */

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

int rdmacm_keepalive_set(struct stream *stream, int seconds); /* SECONDS 0 ends it */

#endif
