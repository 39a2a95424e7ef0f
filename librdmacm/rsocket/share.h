/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * share.h - what processes have in common that share a listener, as a server's workers do after
 * fork().
 *
 * Linux lets only the process that opened a channel of rdma_cm write to it, so one process, the
 * holder, reads the listener's events. It puts the requests into a pipe, from which any process
 * takes them: ids move to a channel of whoever accepts, for which the descriptor of the channel
 * that they are on is enough. That of the holder's channel lies in a socket, where all find it, and
 * which keeps the listener when its holder dies. Those of the holders before lie with it, as far as
 * requests may still be on them, or the listener, if the next holder has died on its way.
 *
 * The holder alone has the pipe's writing end, so the others see its end when the holder has closed
 * the listener or died. Whoever then locks the pipe first is the next holder.
 */
#ifndef RSOCKET_SHARE_H
#define RSOCKET_SHARE_H

#include <rdma/rdma_user_cm.h>
#include <stdbool.h>

struct rs_share {
	bool is_open;   /* for other threads, by rs_share_is_open() */
	bool is_making; /* a thread that is about to fork makes it, another one may be, too */
	bool holds;
	bool is_known; /* the threads of this process were told that it is open */
	/* the pipe's ends; [1] is -1 unless this process is the holder. Without a request and
	 * without a holder, poll() says POLLHUP of [0]. */
	int requests[2];
	int channel[2]; /* a pair of sockets; in it lie the descriptors of channels */
};

enum { SHARE_CHANNELS = 3 };

/* Copies of the descriptors that lie in the socket, that of the holder's channel first. */
struct rs_share_channels {
	int count;
	int fds[SHARE_CHANNELS];
};

static inline bool rs_share_is_open(const struct rs_share *share)
{
	return __atomic_load_n(&share->is_open, __ATOMIC_ACQUIRE);
}

/* Makes this process the holder of a listener on CHANNEL. It calls nothing but the system, as it is
 * called when the process is about to fork, and nothing if the share is open. It returns 0 or an
 * errno. */
int rdmacm_share_open(struct rs_share *share, int channel);
void rdmacm_share_close(struct rs_share *share);
/* In the child: its parent remains the holder. */
void rdmacm_share_forked(struct rs_share *share);

/* Whether the holder can put a request. */
bool rdmacm_share_has_room(const struct rs_share *share);
int rdmacm_share_put(const struct rs_share *share, const struct rdma_ucm_event_resp *request);
/* Returns EAGAIN if there is none, or another process was faster. */
int rdmacm_share_take(const struct rs_share *share, struct rdma_ucm_event_resp *request);

/* Tries to make this process the holder. Returns true if the former holder is gone and no other
 * process was faster; sets *ERROR to an errno on failure. */
bool rdmacm_share_hold(struct rs_share *share, int *error);
/* Gives back what rdmacm_share_hold() has got. */
void rdmacm_share_let_go(struct rs_share *share);
/* Returns 0 or an errno: EMFILE if there are no numbers for them, EIDRM after
 * rdmacm_share_lose(). */
int rdmacm_share_find_channels(const struct rs_share *share, struct rs_share_channels *channels);
void rdmacm_share_close_channels(struct rs_share_channels *channels);
/* The holder is about to have CHANNEL, which goes before those that have been found. Returns 0 or
 * an errno. */
int rdmacm_share_set_channel(const struct rs_share *share, int channel,
			     const struct rs_share_channels *before);
/* There will be no request any more, of which the kernel tells only who reads its events. Returns 0
 * or an errno. */
int rdmacm_share_lose(const struct rs_share *share);
/* How many requests wait. */
unsigned int rdmacm_share_count(const struct rs_share *share);

#endif
