/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * events.c - see events.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "prm/mlx5/cmd.h"
#include "prm/mlx5/eqc.h"
#include "prm/mlx5/eqe.h"
#include "prm/mlx5/pd.h"
#include "prm/mlx5/uar.h"
#include "providers/mlx5/vfio/events.h"
#include "util/barrier.h"
#include "util/log.h"
#include "util/mmio.h"

enum {
	LOG_SIZE = 8, /* log2 of the number of events that can wait in the ring */
	VECTOR = 0,
};

#define WANTED (UINT64_C(1) << PRM_EVENT_PAGE_REQUEST | UINT64_C(1) << PRM_EVENT_PORT_CHANGE)

int mlx5_vfio_uar_number_alloc(struct vfio_cmdq *cmdq, uint64_t bar_size, uint32_t *uar)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_ALLOC_UAR);
	ret = mlx5_vfio_cmdq_run(cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out, sizeof(out), NULL);
	if (ret)
		return ret;
	*uar = (uint32_t)fld_get(out, ALLOC_UAR_OUT_UAR);
	if (*uar < bar_size / PRM_UAR_SIZE)
		return 0;
	verbs_warn("VFIO: UAR %u lies beyond the registers", *uar);
	return EIO;
}

int mlx5_vfio_uar_number_dealloc(struct vfio_cmdq *cmdq, uint32_t uar)
{
	uint8_t in[PRM_CMD_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	int ret;

	fld_set(in, CMD_IN_OPCODE, PRM_OP_DEALLOC_UAR);
	fld_set(in, DEALLOC_UAR_IN_UAR, uar);
	ret = mlx5_vfio_cmdq_run(cmdq, VFIO_LANE_COMMANDS, in, sizeof(in), out, sizeof(out), NULL);
	return vfio_destroy_result(cmdq, ret);
}

/* Writes the consumer index to the register at OFFSET of the UAR, to tell the adapter which entries
 * have been read. */
static void store_ci(const struct vfio_events *events, uint32_t offset)
{
	uint8_t *page = events->cmdq->bar + (size_t)events->uar * PRM_UAR_SIZE;
	uint8_t word[4] = { 0 };
	__be32 raw;

	fld_set(word, UAR_EQ_EQN, events->eqn);
	fld_set(word, UAR_EQ_CI, events->ring.ci);
	memcpy(&raw, word, sizeof(raw));
	wc_start_barrier(); /* reads the entries before the index gives them back to the adapter */
	mmio_store_be32(page + offset, raw);
}

/* Asks for an interrupt with the next event. */
static void arm_eq(const struct vfio_events *events)
{
	store_ci(events, PRM_EQ_ARM);
}

static int create_eq(struct vfio_events *events)
{
	uint8_t in[PRM_CREATE_EQ_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];
	uint8_t *eqc = fld_at(in, CREATE_EQ_IN_EQC);
	int ret;

	fld_set(eqc, EQC_UAR_PAGE, events->uar);
	fld_set(eqc, EQC_INTR, VECTOR);
	fld_set64(fld_at(in, CREATE_EQ_IN_EVENT_BITMASK), 0, WANTED);
	ret = mlx5_vfio_eq_create(events->cmdq, &events->ring, in, sizeof(in), out, sizeof(out),
				  NULL);
	if (!ret)
		events->eqn = (uint32_t)fld_get(out, CREATE_EQ_OUT_EQ_NUMBER);
	return ret;
}

/* Serves a request for pages. The library drives function 0 only, and refuses pages for all
 * others. */
static int serve_pages(struct vfio_events *events, const uint8_t *entry)
{
	const uint32_t function = (uint32_t)fld_get(entry, EQE_PAGE_REQUEST_FUNC_ID);
	const int32_t count = (int32_t)fld_get(entry, EQE_PAGE_REQUEST_NUM_PAGES);

	if (!function)
		return mlx5_vfio_pages_change(events->pages, count);
	verbs_warn("VFIO: function %u asks for %d pages, which only function 0 gets", function,
		   count);
	if (count > 0)
		mlx5_vfio_pages_refuse(events->pages, function);
	return 0;
}

static int take_one(struct vfio_events *events, const uint8_t *entry)
{
	const enum prm_event type = (enum prm_event)fld_get(entry, EQE_TYPE);

	switch (type) {
	case PRM_EVENT_PAGE_REQUEST:
		return serve_pages(events, entry);
	case PRM_EVENT_PORT_CHANGE:
		verbs_info("VFIO: port %u: event %u", (unsigned int)fld_get(entry, EQE_PORT),
			   (unsigned int)fld_get(entry, EQE_SUB_TYPE));
		return 0;
	default:
		verbs_info("VFIO: an event of type %#x", type);
		return 0;
	}
}

static int serve_locked(struct vfio_events *events)
{
	unsigned int left = 1u << LOG_SIZE;
	uint8_t copy[PRM_EQE_SIZE];
	const uint8_t *entry;
	int ret = 0;

	while (left-- && (entry = mlx5_vfio_ring_next(&events->ring))) {
		int err;

		memcpy(copy, entry, sizeof(copy));
		store_ci(events, PRM_EQ_UPDATE); /* what it causes may bring further ones */
		err = take_one(events, copy);
		ret = ret ? ret : err;
	}
	arm_eq(events);
	return ret;
}

/* Lets the descriptor stay readable after a loss, for a thread that waits for it later. */
static void stay_readable(const struct vfio_events *events)
{
	const uint64_t one = 1;

	if (write(events->fd, &one, sizeof(one)) != sizeof(one))
		verbs_info("VFIO: the program is not told that the device is lost: %s",
			   strerror(errno));
}

/* Returns whether the host wants the device back. It waits until the program closes the device, so
 * this is a loss even if the registers are fine. */
static bool is_requested(const struct vfio_events *events)
{
	uint64_t count;

	return events->request_fd >= 0 &&
	       read(events->request_fd, &count, sizeof(count)) == sizeof(count);
}

int mlx5_vfio_events_process(struct vfio_events *events)
{
	uint64_t count;
	int ret = 0, err, cancel;

	if (mlx5_vfio_cmdq_is_inherited(events->cmdq))
		return EIO;
	/* the read would keep the lock; a health verdict resets the device */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	pthread_mutex_lock(&events->lock);
	if (read(events->fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		ret = errno;
	err = serve_locked(events);
	pthread_mutex_unlock(&events->lock);
	ret = ret ? ret : err;
	err = mlx5_vfio_cmdq_health(events->cmdq);
	if (!err && is_requested(events)) {
		verbs_warn("VFIO: the host wants the device back");
		err = mlx5_vfio_cmdq_lose(events->cmdq);
	}
	if (err)
		stay_readable(events);
	pthread_setcancelstate(cancel, NULL);
	return err ? err : ret;
}

/* Handles the events in the queue, because a command may wait for pages. Does nothing if another
 * thread holds the lock: that thread handles them. */
static void serve_waiting(void *arg)
{
	struct vfio_events *events = arg;

	if (pthread_mutex_trylock(&events->lock))
		return;
	if (mlx5_vfio_ring_has_next(&events->ring))
		serve_locked(events);
	pthread_mutex_unlock(&events->lock);
}

/* Makes the descriptor of the program: it is readable if one of the eventfds is. */
static int shown_open(struct vfio_events *events)
{
	struct epoll_event in = { .events = EPOLLIN };
	int ret;

	events->shown_fd = epoll_create1(EPOLL_CLOEXEC);
	if (events->shown_fd < 0)
		return errno;
	if (!epoll_ctl(events->shown_fd, EPOLL_CTL_ADD, events->fd, &in) &&
	    (events->request_fd < 0 ||
	     !epoll_ctl(events->shown_fd, EPOLL_CTL_ADD, events->request_fd, &in)))
		return 0;
	ret = errno;
	close(events->shown_fd);
	return ret;
}

int mlx5_vfio_events_start(struct vfio_events *events, struct vfio_cmdq *cmdq,
			   struct vfio_pages *pages, uint64_t bar_size, int fd, int request_fd)
{
	int ret;

	*events = (struct vfio_events){
		.cmdq = cmdq, .pages = pages, .fd = fd, .request_fd = request_fd
	};
	ret = shown_open(events);
	if (ret)
		return ret;
	ret = mlx5_vfio_ring_alloc(cmdq->space, LOG_SIZE, &events->ring);
	if (ret)
		goto close_shown;
	ret = mlx5_vfio_uar_number_alloc(cmdq, bar_size, &events->uar);
	if (ret)
		goto free_ring;
	ret = create_eq(events);
	if (ret)
		goto dealloc_uar;
	pthread_mutex_init(&events->lock, NULL);
	arm_eq(events);
	cmdq->while_waiting = serve_waiting;
	cmdq->waiting_arg = events;
	return 0;
dealloc_uar:
	mlx5_vfio_uar_number_dealloc(cmdq, events->uar);
free_ring:
	mlx5_vfio_dma_free(cmdq->space, &events->ring.dma);
close_shown:
	close(events->shown_fd);
	return ret;
}

void mlx5_vfio_events_stop(struct vfio_events *events)
{
	events->cmdq->while_waiting = NULL;
	mlx5_vfio_eq_destroy(events->cmdq, events->eqn);
	mlx5_vfio_uar_number_dealloc(events->cmdq, events->uar);
}

void mlx5_vfio_events_free(struct vfio_events *events)
{
	mlx5_vfio_dma_free(events->cmdq->space, &events->ring.dma);
	close(events->shown_fd);
	pthread_mutex_destroy(&events->lock);
}
