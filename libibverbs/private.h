/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * private.h - what the files of libibverbs share among themselves; providers see driver.h alone.
 */
#ifndef LIBIBVERBS_PRIVATE_H
#define LIBIBVERBS_PRIVATE_H

#include "driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The macro marks an exported function, whose version is in libibverbs.map; all others are
 * hidden. */
#define VERBS_EXPORT __attribute__((visibility("default")))

/* verbs_context.priv points to this, but for a context that another library makes (bridge/).
 * Applications cannot look inside. */
struct verbs_ex_private {
	struct verbs_ops ops;
	uint32_t driver_id;             /* the kernel checks it in each command */
	uint64_t core_support;          /* IB_UVERBS_CORE_SUPPORT_* of the kernel */
	struct ibv_device_attr *limits; /* see verbs_limits() */
	bool lost_is_destroyed;         /* RDMAV_ALLOW_DISASSOC_DESTROY: see verbs_cmd_destroy() */
	uint32_t legacy;                /* methods that the kernel lacks: see cmd/cmd_legacy.h */
};

#ifdef VERBS_BRIDGE
struct verbs_ex_private *bridge_priv(struct ibv_context *context);

static inline struct verbs_ex_private *to_priv(struct ibv_context *context)
{
	return bridge_priv(context);
}
#else
static inline struct verbs_ex_private *to_priv(struct ibv_context *context)
{
	return to_vctx(context)->priv;
}
#endif

static inline const struct verbs_ops *get_ops(struct ibv_context *context)
{
	return &to_priv(context)->ops;
}

/* At the public edge a positive errno becomes errno and a NULL object. */
static inline void *fail_null(int err)
{
	errno = err;
	return NULL;
}

/* For calls that return a descriptor: an error becomes errno and -1. */
static inline int fail_fd(int err)
{
	errno = err;
	return -1;
}

/* context.c: the first fills the public part of a zeroed context, and gives it the default
 * operations; the second undoes that. */
int verbs_context_init(struct verbs_context *vctx, struct verbs_device *vdev, int cmd_fd);
void verbs_context_cleanup(struct verbs_context *vctx);

/* ops.c */
void verbs_ops_set_defaults(struct verbs_context *vctx);
/* Fills the slots of the public tables that are for programs with headers of their own
 * (old_slots.c). */
void verbs_old_slots_fill(struct verbs_context *vctx);

/* These stand in the public slots of operations whose input the library checks before the provider
 * is called. */
int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);

/* sysfs.c: both read one file, without the newline at its end. */
int verbs_sysfs_read(const char *dir, const char *file, char *buf, size_t size);
int verbs_sysfs_read_ibdev(struct ibv_device *device, char *buf, size_t size, const char *format,
			   ...) __attribute__((format(printf, 4, 5)));
int verbs_sysfs_parse_gid(const char *text, union ibv_gid *gid);

/* sysfs_device.c */
int verbs_sysfs_fill_info(struct verbs_device_info *info);
int verbs_sysfs_find_devices(struct verbs_device_info **infos, unsigned int *count);
bool verbs_sysfs_parse_modalias(const char *modalias, struct verbs_pci_id *id);

/* verbs_gid.c: reads one entry of a GID table. An empty slot is ENODATA and a GID of zeros. */
int verbs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
		    struct ibv_gid_entry *entry);

/* netlink.c: any error but ENOMEM means that sysfs is to be asked. */
int verbs_netlink_find_devices(struct verbs_device_info **infos, unsigned int *count);
bool verbs_netlink_copies_on_fork(void);

/* loader.c */
void verbs_loader_load_drivers(void);
/* Returns how a program gets a provider that it lacks, for the end of a line of the log. */
const char *verbs_loader_cure(void);
/* Takes a lock, or returns false once the monotonic clock has passed UNTIL. */
bool verbs_loader_lock_until(pthread_mutex_t *lock, const struct timespec *until);
/* The process forks: from the first to the second or third, no other thread changes the drivers,
 * unless the monotonic clock has passed UNTIL before. */
void verbs_loader_before_fork(const struct timespec *until);
void verbs_loader_forked_in_parent(void);
void verbs_loader_forked_in_child(void);
const struct verbs_driver *verbs_loader_match(const struct verbs_device_info *info);

/* foreign.c: the name of the distribution's provider for a kernel driver that none of ours is for,
 * or NULL. */
const char *verbs_foreign_provider(uint32_t driver_id);
bool verbs_foreign_has(const char *name);

/* fork.c: verbs_fork_keep() keeps a region's pages from child processes if the program has asked
 * for it and the kernel leaves it to us; otherwise it does nothing. verbs_fork_release() undoes
 * it. */
int verbs_fork_keep(void *addr, size_t length);
int verbs_fork_release(void *addr, size_t length);
extern bool verbs_fork_is_off;
/* Once memory has been registered that is not kept, none ever will be: no caller has to wait for
 * fork.c's lock. */
static inline bool verbs_fork_never_keeps(void)
{
	return __atomic_load_n(&verbs_fork_is_off, __ATOMIC_RELAXED);
}
void verbs_fork_init_from_environment(void);

/* verbs_buf.c: EINVAL unless [addr, addr + length) lies in a buffer that was allocated for PD. */
int verbs_buf_check_range(struct ibv_pd *pd, const struct ibv_buf *buf, const void *addr,
			  size_t length);

/* device.c: verbs_device_find() finds the device whose character device is DEV, for a context that
 * is imported, and gives the caller a reference. */
int verbs_device_find(uint64_t dev, struct verbs_device **vdev);
void verbs_device_get(struct verbs_device *vdev);
void verbs_device_put(struct verbs_device *vdev);

/* node.c: whether the device's file is where ibv_open_device() looks for it. One that cannot be
 * looked at counts as there. */
bool verbs_node_exists(const struct verbs_device_info *info);
/* Opens it, and waits for udev if it is not there yet. */
int verbs_node_open(const struct verbs_device_info *info, int *fd);

/* A variable of the environment switches on by any value but "0", an empty one too. */
static inline bool verbs_env_is_on(const char *name)
{
	const char *value = getenv(name);

	return value && strcmp(value, "0") != 0;
}

/* events.c: a destroyed object waits until the application has acknowledged what it read. */
void verbs_event_wait_acked(pthread_mutex_t *mutex, pthread_cond_t *cond, uint32_t *acked,
			    uint32_t reported);

/* An asynchronous event is about one of these. */
enum element_kind {
	ELEMENT_PORT, /* also the device, whose element is 0 */
	ELEMENT_CQ,
	ELEMENT_QP,
	ELEMENT_SRQ,
	ELEMENT_WQ,
};
enum element_kind verbs_event_element(enum ibv_event_type type);
/* The context goes, with events that threads had read when they were cancelled. */
void verbs_event_forget_all(const struct ibv_context *context);

/* compat_1_0.c: returns the context itself, or the one inside the wrapper that a program of release
 * 1.0 holds. */
#ifdef VERBS_STATIC
static inline struct ibv_context *verbs_compat_real_context(struct ibv_context *context)
{
	return context;
}
#else
struct ibv_context *verbs_compat_real_context(struct ibv_context *context);
#endif

/* explain_qp.c: these write one log line for a QP command that the kernel refused with ERR. */
void verbs_qp_explain_create(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			     int err);
void verbs_qp_explain_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err);

/* explain_ah.c: writes one log line for an address handle that the kernel refused with ERR. */
void verbs_ah_explain_create(struct ibv_pd *pd, const struct ibv_ah_attr *attr, int err);
/* Writes what is wrong with an address to WHY, as "PREFIXfield value: rule". It returns false when
 * it finds nothing. */
bool verbs_ah_find_fault(struct ibv_context *context, const char *prefix,
			 const struct ibv_ah_attr *attr, char *why, size_t size);

#endif
