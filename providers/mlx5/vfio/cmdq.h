/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmdq.h - the command queue: its entries, and the mailboxes of what does not fit there.
 *
 * An entry runs one command at a time. Each thread takes a free entry for its command, and waits if
 * there is none, so as many commands are in flight as the queue has entries; the adapter may answer
 * them in any order. Pages have an entry of their own, since the adapter may need some to complete
 * a command of another. The answer is polled for. After a timeout the queue is dead: an entry whose
 * answer may still come is never used again, and its memory stays mapped until the device is
 * closed.
 */
#ifndef PROVIDERS_MLX5_VFIO_CMDQ_H
#define PROVIDERS_MLX5_VFIO_CMDQ_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "providers/mlx5/vfio/entry.h"

enum vfio_lane { VFIO_LANE_COMMANDS, VFIO_LANE_PAGES, VFIO_LANES };

enum { VFIO_MAX_ENTRIES = 32 /* the doorbell has a bit for each */ };

enum vfio_cmdq_state {
	VFIO_CMDQ_ALIVE,
	VFIO_CMDQ_DYING, /* the space is lost; when_dead runs */
	VFIO_CMDQ_DEAD,
};

struct vfio_cmdq {
	struct vfio_space *space;
	uint8_t *bar;
	struct vfio_dma entries;
	unsigned int log_stride;
	unsigned int command_ms;
	unsigned int health_ms;  /* limit: the health counter must change within this time */
	uint32_t health_counter; /* atomic: last value read from the device */
	uint32_t health_since;   /* atomic: time in ms at which that value was first read */
	uint32_t health_warned;  /* atomic: syndrome of the last warning in the log */
	uint8_t state;           /* atomic: of enum vfio_cmdq_state */
	pid_t process;           /* that opened the device */
	/* Called once, when a command is not answered, the device has left the bus or its health is
	 * bad. May be NULL. */
	void (*when_dead)(void *arg);
	void *dead_arg;
	/* Called repeatedly while a command of VFIO_LANE_COMMANDS runs, because firmware may ask
	 * for pages before it answers. May be NULL. */
	void (*while_waiting)(void *arg);
	void *waiting_arg;
	pthread_mutex_t lock;             /* guards free */
	pthread_cond_t freed[VFIO_LANES]; /* an entry of this lane is free again */
	uint32_t free;                    /* a bit for each entry that runs no command */
	struct cmdq_slot {
		struct vfio_chain in, out;
		uint8_t token;
	} slot[VFIO_MAX_ENTRIES];
};

/* Waits until firmware is ready, passes it the address of the queue, and waits again. */
int mlx5_vfio_cmdq_init(struct vfio_cmdq *cmdq, struct vfio_space *space, uint8_t *bar);
/* Frees the queue. Before, the device must be closed or reset, or the space must be lost
 * (vfio_space_lose()). */
void mlx5_vfio_cmdq_destroy(struct vfio_cmdq *cmdq);
/* Returns 0. Returns EIO, logged, if the queue is dead, the device has left the bus, is disabled or
 * requests a reset, or the health counter of its firmware no longer changes. The queue is dead
 * then. Logs a health syndrome without a request once, as a warning. */
int mlx5_vfio_cmdq_health(struct vfio_cmdq *cmdq);
/* Returns whether a parent of this process opened the device. A child of fork() has the locks and
 * the state as they were, without the threads that would change them and without the memory that
 * the device works on, and must not reset the device below its parent. */
bool mlx5_vfio_cmdq_is_inherited(const struct vfio_cmdq *cmdq);
/* Takes the device for lost, although it may answer. The caller has logged why. Returns EIO. */
int mlx5_vfio_cmdq_lose(struct vfio_cmdq *cmdq);

/* Runs a command. Returns 0, or an errno for the answer's status; EIO, ETIMEDOUT or ENOMEM if the
 * command was not delivered or not answered. OUT has the answer if 0 is returned or *IS_ANSWERED is
 * set; IS_ANSWERED may be NULL. */
int mlx5_vfio_cmdq_run(struct vfio_cmdq *cmdq, enum vfio_lane lane, const void *in, uint32_t inlen,
		       void *out, uint32_t outlen, bool *is_answered);

/* Returns what RET of a command that destroys an object means. A lost device was reset, which
 * destroyed all objects, so there is nothing left but the host's part, which can go. */
static inline int vfio_destroy_result(const struct vfio_cmdq *cmdq, int ret)
{
	if (ret && __atomic_load_n(&cmdq->state, __ATOMIC_ACQUIRE) == VFIO_CMDQ_DEAD)
		return 0;
	return ret;
}

#endif
