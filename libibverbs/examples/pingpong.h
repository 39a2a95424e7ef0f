/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong.h - the core that the pingpong programs share.
 *
 * A program says which options it takes and how its kind of queue pair is brought up; the core
 * parses, opens the adapter, meets the peer over TCP, bounces messages and reports. A run calls
 * pp_parse(), pp_open(), pp_create_qps(), pp_bounce() and pp_close(). Errors are told to the user
 * where they are found; functions return 0 or non-zero.
 */
#ifndef EXAMPLES_PINGPONG_H
#define EXAMPLES_PINGPONG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct pp_options {
	const char *host; /* NULL: we are the server */
	const char *device;
	unsigned int port; /* TCP */
	unsigned int ib_port;
	unsigned int size;
	unsigned int rx_depth;
	unsigned int iters;
	unsigned int num_qp;      /* pairs of queue pairs that bounce messages at the same time */
	unsigned int num_clients; /* a server waits for so many */
	unsigned int headroom;    /* bytes in front of a message in its buffer: a datagram's GRH */
	unsigned char fill;       /* what clients of this protocol have in their messages */
	enum ibv_mtu mtu;
	int sl;
	int gid_index; /* negative: none */
	bool events;
	bool odp;
	bool implicit_odp;
	bool prefetch;
	bool timestamps;
	bool check;
	bool device_memory;
	bool new_send;
	bool unprotected; /* memory that a confidential guest shares with its host */
};

/* A program has at most so many queue pairs. ibv_srq_pingpong tells about so many, used or not. */
#define PP_MAX_QPS 256

/* Each side tells the other where its queue pair can be reached. */
struct pp_address {
	uint16_t lid;
	uint32_t qpn;
	uint32_t psn;
	union ibv_gid gid;
};

/* A queue pair of ours and the one that it talks to. */
struct pp_peer {
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* with options->new_send: the same QP */
	struct ibv_ah *ah;       /* datagrams: to the remote one */
	struct pp_address local, remote;
	unsigned int sends_posted, sends_done, received;
};

struct pp {
	const struct pp_options *options;
	struct ibv_context *context;
	struct ibv_comp_channel *channel; /* with options->events */
	struct ibv_pd *pd;
	struct ibv_pd *base_pd; /* with options->unprotected: pd is a parent domain of this one */
	struct ibv_buf *shared; /* with options->unprotected: stands for buf */
	struct ibv_dm *dm;      /* with options->device_memory: has the messages instead of buf */
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex; /* with options->timestamps: the same CQ */
	struct ibv_srq *srq;     /* the one queue of receives, or NULL: each QP has its own */
	struct pp_peer peers[PP_MAX_QPS]; /* options->num_qp of them are in use */
	unsigned int records;             /* addresses on the wire: 1, or PP_MAX_QPS */
	bool names_qps;                   /* messages say which QP they are about */
	char *buf;
	size_t page_size;
	unsigned int send_flags;
	uint64_t timestamp_mask;
};

/* The call brings the queue pair to the state in which it can talk to peer->remote. */
typedef int pp_connect_fn(struct pp *pp, struct pp_peer *peer);

/* ---- pp_options.c ---- */

/* Returns the options when none are given; a program may change some before it parses. */
struct pp_options pp_defaults(void);
/* KEYS are the options that the program takes, in the order of its usage: their letters, or a digit
 * for one whose letter or text is special (see pp_options.c). On failure the usage has been printed
 * where that helps. */
int pp_parse(int argc, char **argv, const char *keys, struct pp_options *options);

/* ---- pp_open.c ---- */

/* pp_open() opens the device and makes PD, MR and CQ. A program that needs other queues calls
 * pp_open_memory(), which makes all but the CQ. */
int pp_open(const struct pp_options *options, struct pp *pp);
int pp_open_memory(const struct pp_options *options, struct pp *pp);
int pp_create_qps(struct pp *pp, enum ibv_qp_type type);
/* Fills in our addresses, but for the QP numbers. */
int pp_find_address(struct pp *pp);
int pp_close(struct pp *pp);
/* Prints MESSAGE and returns -1. */
int pp_fail(const char *message);

/* ---- pp_connect.c ---- */

/* Brings every QP to INIT. MASK says what is set besides state, P_Key index and port:
 * IBV_QP_ACCESS_FLAGS or IBV_QP_QKEY. */
int pp_to_init(struct pp *pp, int mask);
struct ibv_ah_attr pp_path_to(const struct pp *pp, const struct pp_address *remote);
pp_connect_fn pp_connect_rc, pp_connect_uc, pp_connect_ud;
#define PP_QKEY 0x11111111 /* the same in every implementation of these programs */

/* ---- pp_exchange.c ---- */

/* Tells the peer our addresses, learns its, and connects. Both sides are connected when this
 * returns 0. */
int pp_exchange(struct pp *pp, pp_connect_fn *connect);
/* The first returns a connected socket, the second a listening one; both -1 after a message. */
int pp_dial(const char *host, unsigned int port);
int pp_listen(unsigned int port);
/* Both return the number of bytes, fewer than LEN after end of file or an error. */
size_t pp_send_all(int fd, const void *data, size_t len);
size_t pp_recv_all(int fd, void *data, size_t len);

/* ---- pp_run.c ---- */

/* Does all that follows once the QPs exist: receives, addresses, connection, messages. INIT_MASK is
 * for pp_to_init(). */
int pp_bounce(struct pp *pp, int init_mask, pp_connect_fn *connect);

#endif
