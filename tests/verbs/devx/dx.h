/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dx.h - creates queues and keys by the device's own commands (DevX), in memory registered for
 * them. This code posts and polls by itself, without libibverbs.
 */
#ifndef TESTS_VERBS_DEVX_DX_H
#define TESTS_VERBS_DEVX_DX_H

#include <infiniband/mlx5dv.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/cmd.h"

enum {
	DX_LOG_CQ = 6, /* CQEs */
	DX_LOG_SQ = 4, /* WQEBBs */
	DX_LOG_RQ = 4, /* WQEs of 16 bytes */
	DX_PAGE = 4096,
	DX_OUT = 1024,
};

/* A command as it is built, and its answer. */
struct dx_command {
	uint8_t in[1024], out[DX_OUT];
	size_t in_len;
};

void dx_command(struct dx_command *cmd, uint32_t opcode, size_t in_len);
/* "...: ok" or the errno, with the status of a device that has refused. */
int dx_say(int err, const struct dx_command *cmd, const char *what);
struct mlx5dv_devx_obj *dx_create(struct ibv_context *ctx, struct dx_command *cmd);
struct mlx5dv_devx_obj *dx_must_create(struct ibv_context *ctx, struct dx_command *cmd,
				       uint32_t *number);

struct dx_memory {
	uint8_t *addr;
	size_t size;
	struct mlx5dv_devx_umem *umem;
	size_t offset; /* of ADDR in the registered memory */
};

void dx_memory_open(struct ibv_context *ctx, size_t size, struct dx_memory *memory);
void dx_memory_close(struct dx_memory *memory);

struct dx_device {
	struct ibv_context *ctx;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	uint32_t pdn, eqn;
	struct mlx5dv_devx_uar *uar;
	size_t ring_offset; /* of the rings of queues, in their memory */
};

void dx_device_open(struct dx_device *device);
void dx_device_close(struct dx_device *device);

struct dx_cq {
	struct mlx5dv_devx_obj *obj;
	struct dx_memory ring, record;
	uint32_t cqn, ci;
	uint8_t arms; /* each for one event */
};

void dx_cq_command(const struct dx_device *device, const struct dx_memory *ring,
		   const struct dx_memory *record, struct dx_command *cmd);
void dx_cq_open(const struct dx_device *device, struct dx_cq *cq);
void dx_cq_close(struct dx_cq *cq);
/* Waits for a CQE, up to 20 seconds. NULL: none has come. */
const struct mlx5_cqe64 *dx_cq_poll(struct dx_cq *cq);
void dx_cq_arm(const struct dx_device *device, struct dx_cq *cq);

struct dx_qp {
	const struct dx_device *device;
	struct mlx5dv_devx_obj *obj;
	struct dx_memory rings, record;
	struct dx_cq *cq;
	uint32_t qpn;
	uint16_t sq_pi, rq_pi;
};

void dx_qp_command(const struct dx_device *device, uint32_t cqn, const struct dx_memory *rings,
		   const struct dx_memory *record, struct dx_command *cmd);
void dx_qp_open(const struct dx_device *device, struct dx_cq *cq, struct dx_qp *qp);
void dx_qp_close(struct dx_qp *qp);
void dx_qp_connect(struct dx_qp *qp, const struct dx_device *peer_device, uint32_t peer);

struct dx_key {
	struct mlx5dv_devx_obj *obj;
	uint32_t key;
};

void dx_key_command(const struct dx_device *device, const struct dx_memory *memory,
		    struct dx_command *cmd);
void dx_key_open(const struct dx_device *device, const struct dx_memory *memory,
		 struct dx_key *key);

struct dx_piece {
	const void *addr;
	uint32_t len, key;
};

void dx_post_recv(struct dx_qp *qp, const struct dx_piece *piece);
void dx_post_send(struct dx_qp *qp, uint8_t opcode, const struct dx_piece *piece, uint64_t remote,
		  uint32_t rkey);

/* A QP with all that it needs, and memory with a key */
struct dx_end {
	struct dx_device device;
	struct dx_cq cq;
	struct dx_qp qp;
	struct dx_memory memory;
	struct dx_key key;
};

void dx_end_open(size_t size, struct dx_end *end);
/* Both rings begin RING_OFFSET bytes behind the beginning of their memory. */
void dx_end_open_at(size_t size, size_t ring_offset, struct dx_end *end);
void dx_end_close(struct dx_end *end);

void dx_pair(void);
void dx_places(void);
void dx_objects(void);
void dx_foreign(void);
void dx_umems(void);
void dx_general(void);
void dx_of_verbs(void);
void dx_indirect(void);
void dx_answers(void);
void dx_short_answers(void);
void dx_events(void);
void dx_bad_eventfds(void);
void dx_foreign_channels(void);
void dx_left(void);
void dx_without(void);
void dx_operations(void);

#endif
