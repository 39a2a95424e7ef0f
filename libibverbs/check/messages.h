/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * messages.h - the kinds of mistakes that the checker knows, each with the name of its message and
 * what it means. A name stays the same when its text changes, so that settings, tests and searches
 * can rely on it.
 *
 * The library and verbs-explain (libibverbs/messages) are made from this table, and
 * rdmakit_diagnostics(7) is compared with it.
 */
#ifndef LIBIBVERBS_CHECK_MESSAGES_H
#define LIBIBVERBS_CHECK_MESSAGES_H

/* X(kind, name, meaning) */
#define CHECK_MESSAGES(X)                                                                         \
	X(CHECK_KEY_DEAD, "VERBS-MR-001",                                                         \
	  "a request names the lkey of a region that is no longer registered")                    \
	X(CHECK_KEY_RANGE, "VERBS-MR-002", "a buffer is not all in its region")                   \
	X(CHECK_KEY_PD, "VERBS-MR-003", "a region is on another PD than the queue")               \
	X(CHECK_KEY_RIGHTS, "VERBS-MR-004",                                                       \
	  "a region lacks IBV_ACCESS_LOCAL_WRITE for a receive, a READ or an atomic")             \
	X(CHECK_KEY_BUSY, "VERBS-MR-005", "a region is deregistered while a request needs it")    \
	X(CHECK_BUFFER, "VERBS-MR-006",                                                           \
	  "a buffer changes while it is sent, or is posted for two receives at once (buffers)")   \
	X(CHECK_AH_DEAD, "VERBS-AH-001", "a datagram names an address handle that was destroyed") \
	X(CHECK_AH_PD, "VERBS-AH-002", "an address handle is on another PD than the QP")          \
	X(CHECK_CQ_SMALL, "VERBS-CQ-001",                                                         \
	  "a CQ has fewer places than requests that may complete to it")                          \
	X(CHECK_UNARMED, "VERBS-CQ-002", "a thread waits for an event of a CQ that is not armed") \
	X(CHECK_EVENTS, "VERBS-EVENT-001", "a call waits for events that were not acknowledged")  \
	X(CHECK_BATCH, "VERBS-WR-001",                                                            \
	  "the calls of a batch of ibv_wr_start(3) are in the wrong order, or one is missing")    \
	X(CHECK_PATH, "VERBS-QP-001",                                                             \
	  "an attribute of a path loses packets, or hides that a peer has gone")                  \
	X(CHECK_FORK, "VERBS-FORK-001",                                                           \
	  "a child uses objects of its parent, or fork(2) takes memory from the adapter")         \
	X(CHECK_THREADS, "VERBS-LOCK-001", "two threads use a queue without a lock")              \
	X(CHECK_DEAD, "VERBS-LIFE-001", "a queue is used or destroyed after it was destroyed")    \
	X(CHECK_LEAK, "VERBS-LIFE-002", "an object was never destroyed (leaks)")

/* Kinds of mistakes. The log has a limit of lines for each kind, so that a loop with one mistake
 * does not hide others. */
enum check_fault {
#define CHECK_MESSAGE_KIND(kind, name, meaning) kind,
	CHECK_MESSAGES(CHECK_MESSAGE_KIND)
#undef CHECK_MESSAGE_KIND
		CHECK_FAULTS
};

#endif
