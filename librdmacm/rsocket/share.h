/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share.h - state shared by the processes that have a listener in common, as a server's workers do
 * after fork().
 *
 * Linux lets only the process that opened an rdma_cm channel write to it, so one process, the
 * holder, reads the listener's events. It writes the requests to a pipe, from which any process
 * takes one. Their ids move to the channel of the accepting process; for that, it needs the
 * descriptor of the channel that they are on. The descriptor of the holder's channel is queued in a
 * socket, where all processes find it, and which keeps the listener alive when its holder dies.
 * Descriptors of former holders' channels are queued with it as long as requests may be on them, or
 * the listener, if a new holder died while taking over.
 *
 * Only the holder has the pipe's write end, so the others see end of file when the holder has
 * closed the listener or died. The first process that then locks the pipe becomes the holder.
 */
#ifndef RSOCKET_SHARE_H
#define RSOCKET_SHARE_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>

struct rs_share {
	bool is_open;   /* for other threads; read by rs_share_is_open() */
	bool is_making; /* a forking thread is creating the share */
	bool holds;
	bool is_known; /* the threads of this process were woken after the share was opened */
	/* pipe; [1] is -1 unless this process is the holder. With neither request nor holder,
	 * poll() reports POLLHUP on [0]. */
	int requests[2];
	int channel[2]; /* socket pair whose queue holds the descriptors of the holders' channels */
};

enum { SHARE_CHANNELS = 3 };

/* Duplicates of the queued descriptors, the holder's channel first. */
struct rs_share_channels {
	int count;
	int fds[SHARE_CHANNELS];
};

static inline bool rs_share_is_open(const struct rs_share *share)
{
	return __atomic_load_n(&share->is_open, __ATOMIC_ACQUIRE);
}

/* Makes this process the holder of a listener on CHANNEL; does nothing if the share is open. Only
 * makes system calls, because it runs before fork(). Returns 0 or an errno. */
int rdmacm_share_open(struct rs_share *share, int channel);
void rdmacm_share_close(struct rs_share *share);
void rdmacm_share_forked(struct rs_share *share);

/* Returns whether the holder can write a request. A write to a full pipe would lose it. */
bool rdmacm_share_has_room(const struct rs_share *share);
int rdmacm_share_put(const struct rs_share *share, const struct rdma_ucm_event_resp *request);
int rdmacm_share_take(const struct rs_share *share, struct rdma_ucm_event_resp *request);

/* Tries to make this process the holder. Returns true on success: the former holder is gone, and no
 * other process was faster. On failure returns false, and sets *ERROR to an errno, or to 0 if there
 * is a holder. */
bool rdmacm_share_hold(struct rs_share *share, int *error);
void rdmacm_share_let_go(struct rs_share *share);
/* Returns 0 or an errno: EMFILE without free descriptors, EIDRM after rdmacm_share_lose(). */
int rdmacm_share_find_channels(const struct rs_share *share, struct rs_share_channels *channels);
void rdmacm_share_close_channels(struct rs_share_channels *channels);
/* Queues CHANNEL, the holder's new channel, and behind it the channels of BEFORE. Returns 0 or an
 * errno. */
int rdmacm_share_set_channel(const struct rs_share *share, int channel,
			     const struct rs_share_channels *before);
/* Records for all processes that no more requests will arrive: the kernel informs only the holder.
 * Returns 0 or an errno. */
int rdmacm_share_lose(const struct rs_share *share);
unsigned int rdmacm_share_count(const struct rs_share *share);

#endif
