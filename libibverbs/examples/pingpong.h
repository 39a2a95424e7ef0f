/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * pingpong.h - the core that the pingpong programs share.
 *
 * A program says which options it takes and how its kind of queue pair is brought up; the core parses, opens the adapter,
 * meets the peer over TCP, bounces messages and reports. Order of a run: pp_parse, pp_open, pp_create_qp,
 * pp_find_address, pp_exchange, pp_run, pp_close. Errors are told to the user where they are found; functions return 0 or
 * non-zero.
 */
#ifndef EXAMPLES_PINGPONG_H
#define EXAMPLES_PINGPONG_H

#include <stdbool.h>
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
};

/* Where a queue pair can be reached, as told to the peer. */
struct pp_address {
	uint16_t lid;
	uint32_t qpn;
	uint32_t psn;
	union ibv_gid gid;
};

struct pp {
	const struct pp_options *options;
	struct ibv_context *context;
	struct ibv_comp_channel *channel; /* with options->events */
	struct ibv_pd *pd;
	struct ibv_dm
		*dm; /* with options->device_memory; messages then live there and not in buf */
	struct ibv_mr *mr;
	struct ibv_cq *cq;
	struct ibv_cq_ex *cq_ex; /* with options->timestamps: the same CQ */
	struct ibv_qp *qp;
	struct ibv_qp_ex *qp_ex; /* with options->new_send: the same QP */
	char *buf;
	size_t page_size;
	unsigned int send_flags;
	uint64_t timestamp_mask;
	struct pp_address local;
};

/* Bring the queue pair to the state in which it can talk to REMOTE. */
typedef int pp_connect_fn(struct pp *pp, const struct pp_address *remote);

/* LETTERS are the short options the program takes. On failure the usage has been printed where that helps. */
int pp_parse(int argc, char **argv, const char *letters, struct pp_options *options);

/* Device, PD, MR and CQ. */
int pp_open(const struct pp_options *options, struct pp *pp);
int pp_create_qp(struct pp *pp, enum ibv_qp_type type);
/* Our own address but for the QP number. */
int pp_find_address(struct pp *pp);
int pp_close(struct pp *pp);

/* Post receives up to COUNT; how many were posted. */
unsigned int pp_post_recv(struct pp *pp, unsigned int count);

/* Tell the peer our address, learn its, connect. Both sides are connected when this returns 0. */
int pp_exchange(struct pp *pp, pp_connect_fn *connect);

/* Bounce messages and print the result. POSTED receives are outstanding. */
int pp_run(struct pp *pp, unsigned int posted);

#endif
