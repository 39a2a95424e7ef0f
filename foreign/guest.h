/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * guest.h - the guest: a provider of the distribution, which runs on our libibverbs through this
 * library as if on the distribution's.
 *
 * bridge/Tables.cmake generates the structures that guest and library share, host_tables.h, from
 * the tables of a private number. Every file here is compiled once per number. Functions for the
 * guest are defined as GUEST_CALL; others that files share get the number behind their names.
 */
#ifndef FOREIGN_GUEST_H
#define FOREIGN_GUEST_H

#include <assert.h>
#include <sys/types.h>
#include <time.h>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl.h>

#include "libibverbs/private.h"
#include "util/bits.h"

#include <host_tables.h>

#define GUEST_TEXT_OF(number)    #number
#define GUEST_TEXT(number)       GUEST_TEXT_OF(number)
#define GUEST_NODE               "IBVERBS_PRIVATE_" GUEST_TEXT(HOST_NUMBER)
#define GUEST_JOIN(a, b, number) a##b##_##number
#define GUEST_NAME(a, b, number) GUEST_JOIN(a, b, number)

/* Defines function NAME in the guest's private version node; the function's body must follow. The
 * version is not the default one, so programs that link with -lforeign-rdmakit do not get the
 * function. */
#define GUEST_CALL(type, name, params)                                                        \
	__asm__(".symver " GUEST_TEXT(GUEST_NAME(guest_, name, HOST_NUMBER)) ", " #name       \
									     "@" GUEST_NODE); \
	VERBS_EXPORT type GUEST_NAME(guest_, name, HOST_NUMBER) params;                       \
	VERBS_EXPORT type GUEST_NAME(guest_, name, HOST_NUMBER) params

/* In both libraries, a context ends with its public part, struct ibv_context. Our struct may have
 * slots in front of it that the guest's struct lacks. Those slots lie outside the guest's object,
 * and are never used (verbs_context_is_whole()). */
#define CONTEXT_AT \
	(offsetof(struct verbs_context, context) - offsetof(struct host_context, context))

static inline struct verbs_context *guest_to_vctx(struct host_context *context)
{
	return (struct verbs_context *)((char *)context - CONTEXT_AT);
}

static_assert(sizeof(struct verbs_context) == CONTEXT_AT + sizeof(struct host_context), "end");
static_assert(offsetof(struct verbs_context, sz) == CONTEXT_AT + offsetof(struct host_context, sz),
	      "sz");
static_assert(offsetof(struct verbs_context, priv) ==
		      CONTEXT_AT + offsetof(struct host_context, priv),
	      "priv");
static_assert(offsetof(struct verbs_context, query_port) ==
		      CONTEXT_AT + offsetof(struct host_context, query_port),
	      "slots lie at the same distance from the end");

static_assert(offsetof(struct verbs_device, driver) == offsetof(struct host_device, ops), "ops");
static_assert(offsetof(struct verbs_device, foreign.refcount_of_host) ==
		      offsetof(struct host_device, refcount),
	      "refcount");
static_assert(offsetof(struct verbs_device, foreign.vdev) == offsetof(struct host_device, entry),
	      "entry");
static_assert(offsetof(struct verbs_mr, kind) == offsetof(struct host_mr, mr_type), "kind");
static_assert(offsetof(struct verbs_mr, access) == offsetof(struct host_mr, access), "access");

/* This struct and those below are the same in all releases, and begin with the public object. The
 * tables of bridge/ lack them. */
struct guest_srq {
	struct ibv_srq srq;
	uint32_t type;
	struct ibv_xrcd *xrcd;
	struct ibv_cq *cq;
	uint32_t srq_num;
};
static_assert(sizeof(struct guest_srq) == 160, "SRQ");
static_assert(offsetof(struct guest_srq, srq_num) == 152, "number of an SRQ");

struct guest_xrcd {
	struct ibv_xrcd xrcd;
	uint32_t handle_of_ours, handle;
};
static_assert(offsetof(struct guest_xrcd, handle_of_ours) == offsetof(struct verbs_xrcd, handle),
	      "our commands find the handle of an XRC domain");

struct guest_dm {
	struct ibv_dm dm;
	uint32_t handle;
};
static_assert(offsetof(struct guest_dm, handle) == 32, "device memory");

/* Attributes that a guest adds to a command, or a complete command of the guest. */
struct guest_buffer {
	struct guest_buffer *next; /* next buffer with attributes */
	struct ib_uverbs_attr *next_attr, *last_attr;
	uint8_t uhw[4];
	uint8_t bits; /* GUEST_BUFFER_FAILED */
	struct ib_uverbs_ioctl_hdr hdr;
};
#define GUEST_BUFFER_FAILED 1
static_assert(offsetof(struct guest_buffer, bits) == 28, "buffer");
static_assert(offsetof(struct guest_buffer, hdr) == 32, "buffer");

/* A guest's registered driver */
struct guest_driver {
	struct verbs_driver driver;
	const struct host_device_ops *ops;
	struct guest_driver *before; /* the one that was registered before */
	/* A file's name tells that the guest is of a known release. */
	bool is_known;
	/* Its file has registered others. */
	bool has_others;
	/* Command of the library that the guest has in another operation's slot, so its table is of
	 * another release than ours. No context is opened then. */
	const char *_Atomic misplaced;
	/* Why its table of operations cannot be one of a known release. No context is opened then,
	 * either. HOW is set last. */
	const char *_Atomic fault_name, *_Atomic fault_how;
};

/* What a guest's table has and should not have, in words: HOW, and which operation. HOW is NULL if
 * nothing is wrong. */
struct guest_fault {
	const char *how, *name;
};

static inline struct guest_driver *guest_driver_of(struct ibv_context *context)
{
	return (struct guest_driver *)(uintptr_t)to_vdev(context->device)->driver;
}

/* Returns the operations that the guest has installed in a context. */
static inline struct host_context_ops *guest_table(struct ibv_context *context)
{
	return to_priv(context)->foreign;
}

/* Returns the errno of a guest's call that returned NULL, or EINVAL if the guest has set none. */
static inline int guest_error(void)
{
	return errno ? errno : EINVAL;
}

/* Sets errno as the guest's callers expect, and returns ERR. */
static inline int guest_result(int err)
{
	return verbs_result(err);
}

/* Returns the driver's part of a command's buffers, which follows the header and the core's
 * part. */
static inline struct verbs_udata guest_udata(const void *cmd, size_t cmd_size, size_t cmd_core,
					     void *resp, size_t resp_size, size_t resp_core)
{
	struct verbs_udata udata = { 0 };

	if (cmd && cmd_size > cmd_core) {
		udata.req = (const char *)cmd + cmd_core;
		udata.req_len = cmd_size - cmd_core;
	}
	if (resp && resp_size > resp_core) {
		udata.resp = (char *)resp + resp_core;
		udata.resp_len = resp_size - resp_core;
	}
	return udata;
}

/* Bytes in front of the driver's part of a command: its header, in the write() format or the
 * extended format, and the core's part. */
#define WRITE_CORE(core)    (8 + sizeof(core))
#define EXTENDED_CORE(core) (24 + sizeof(core))

/* Attributes of a guest's buffers, converted to ours */
#define GUEST_MAX_ATTRS 24
struct guest_attrs {
	struct verbs_attr attrs[GUEST_MAX_ATTRS];
	unsigned int count;
};

#define guest_attrs_of     GUEST_NAME(guest_attrs, _of, HOST_NUMBER)
#define guest_alloc        GUEST_NAME(guest_context, _alloc, HOST_NUMBER)
#define guest_alloc_as     GUEST_NAME(guest_context, _alloc_as, HOST_NUMBER)
#define guest_import       GUEST_NAME(guest_context, _import, HOST_NUMBER)
#define guest_free         GUEST_NAME(guest_context, _free, HOST_NUMBER)
#define guest_release_fits GUEST_NAME(guest_release, _fits, HOST_NUMBER)
#define guest_refuse       GUEST_NAME(guest, _refuse, HOST_NUMBER)
#define guest_other_node   GUEST_NAME(guest_other, _node, HOST_NUMBER)
#define guest_no_function  GUEST_NAME(guest_no, _function, HOST_NUMBER)
#define guest_same_file    GUEST_NAME(guest_same, _file, HOST_NUMBER)
#define guest_unproved     GUEST_NAME(guest, _unproved, HOST_NUMBER)

/* exec.c: collects the attributes of BUFFER and those behind it. Returns EINVAL for too many. */
int guest_attrs_of(const struct guest_buffer *buffer, struct guest_attrs *attrs);
/* release.c: returns whether the guest may be of a release whose tables are known. Logs why not.
 * IS_KNOWN becomes whether a file's name tells the release. */
bool guest_release_fits(const struct host_device_ops *ops, bool *is_known);
/* proof.c: returns the private node of another number that the guest needs, too, or NULL. */
const char *guest_other_node(const struct host_device_ops *ops);
/* proof.c: returns the name of the first field that leads to nothing of the guest, or NULL. */
const char *guest_no_function(const struct host_device_ops *ops);
/* proof.c: returns whether both lie in one file. */
bool guest_same_file(const struct host_device_ops *a, const struct host_device_ops *b);
/* proof.c: returns why a table of operations cannot be one of the known layout. */
struct guest_fault guest_unproved(const struct guest_driver *guest,
				  const struct host_context_ops *table);
/* exec.c: logs that a function is not supported here, and returns EOPNOTSUPP. */
int guest_refuse(const char *name);

int guest_alloc(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
int guest_alloc_as(struct verbs_device *vdev, int cmd_fd, const void *how,
		   struct verbs_context **vctx);
int guest_import(struct verbs_device *vdev, int cmd_fd, struct verbs_context **vctx);
void guest_free(struct verbs_context *vctx);

#endif
