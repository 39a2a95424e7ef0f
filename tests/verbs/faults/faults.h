/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * faults.h - the parts of verbs-faults: lives of objects, and faults during them.
 *
 * A life creates, changes, uses and destroys objects of one kind in a fresh context. It runs once
 * without a fault, which counts its kernel commands, adapter commands, mappings and allocations;
 * then once for each of these, which fails. Afterwards no object may be left, and the context must
 * still transfer a message.
 */
#ifndef TESTS_VERBS_FAULTS_H
#define TESTS_VERBS_FAULTS_H

#include "tests/verbs/diff/diff.h"

enum fault_kind {
	FAULT_KERNEL,  /* a kernel command, with FAULT_ERRNO */
	FAULT_ADAPTER, /* a command of the adapter, below the kernel */
	FAULT_MAP,     /* an mmap() of the libraries */
	FAULT_MEMORY,  /* an allocation of theirs */
	FAULT_KINDS,
};

/* One that no library takes for an answer of its own, so that a test can tell it. */
#define FAULT_ERRNO EDQUOT

/* Connect with the server whose control socket the environment names as FAULTS_CONTROL. */
void fault_open(void);
/* Returns whether this build can make KIND fail. Sanitizers replace the allocator, so its calls
 * cannot; a comparison of libraries (FAULTS_COMMANDS_ONLY) makes only commands fail. */
bool fault_is_offered(enum fault_kind kind);
const char *fault_name(enum fault_kind kind);
/* Returns the number of operations of KIND so far, each of which could fail. */
uint64_t fault_count(enum fault_kind kind);
/* Makes the Nth operation of KIND from now on fail. It must happen before the next call. */
void fault_arm(enum fault_kind kind, uint64_t n);
/* The Nth kernel command fails likewise, with ERR. */
void fault_arm_errno(uint64_t n, int err);
/* Returns the adapters' number of objects of all kinds. */
uint64_t fault_objects(void);
/* Returns the number of blocks that this process has allocated and not freed. */
long fault_blocks(void);

/* How many faults of KIND a life may not hear of: unnoticed.c. */
int unnoticed_most(const char *life, enum fault_kind kind);
/* Lies in memlock.c. */
void check_memlock(void);

#define LIFE_KEEPS 40

struct life {
	struct rig
		rig; /* its context; opened before anything can fail, but in the life of contexts */
	int calls_failed;
	int first_errno;
	const char *first_call;
	unsigned int num_kept;
	struct {
		void *object;
		int (*undo)(void *object);
		const char *undo_call;
	} kept[LIFE_KEEPS];
};

/* Keeps an object that a call has returned, for destruction at the end of the life. Returns it, or
 * NULL if the call failed. */
void *life_keep(struct life *l, void *object, int (*undo)(void *object), const char *call,
		const char *undo_call);
/* A call that returns 0 or an errno. */
bool life_ok(struct life *l, int ret, const char *call);
/* Destroys the kept objects above NUM, the newest first. If that fails it tries again, which must
 * succeed. */
void life_undo(struct life *l, unsigned int num);

#define KEEP(l, call, undo) \
	(errno = 0, life_keep(l, (call), (int (*)(void *))(void *)(undo), #call, #undo))
#define OK(l, call) life_ok(l, (errno = 0, (call)), #call)

typedef void life_fn(struct life *l);

struct life_kind {
	const char *name;
	life_fn *live;
	bool opens;    /* its context by itself */
	bool eth_only; /* only on Ethernet */
	/* The device has none; or NULL. */
	bool (*lacks)(struct ibv_context *ctx, const struct ibv_device_attr_ex *attr);
};

/* Lists that end with an empty entry. */
extern const struct life_kind life_objects[], life_queues[], life_raw[], life_devx[], life_small[];

struct ibv_cq *life_cq(struct life *l);
struct ibv_pd *life_pd(struct life *l);
struct ibv_qp *life_qp(struct life *l, struct ibv_qp_init_attr_ex *attr);
/* Connects the QP to itself, from RESET to RTS. */
bool life_connect(struct life *l, struct ibv_qp *qp);

#endif
