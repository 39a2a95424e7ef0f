/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * private.h - shared by the files of libibverbs; providers only use driver.h.
 */
#ifndef LIBIBVERBS_PRIVATE_H
#define LIBIBVERBS_PRIVATE_H

#include "libibverbs/driver.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Marks an exported function, whose version is in libibverbs.map; all others are hidden. */
#define VERBS_EXPORT __attribute__((visibility("default")))

/* Target of verbs_context.priv, except in a context made by another library (bridge/). Hidden from
 * applications, so that it may change without a new ABI. */
struct verbs_ex_private {
	struct verbs_ops ops;
	/* the provider's operation, if explain/suspect_qp.c has replaced ops.modify_qp */
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask);
	uint32_t driver_id;    /* sent to the kernel with each command, which checks it */
	uint64_t core_support; /* IB_UVERBS_CORE_SUPPORT_* of the kernel */
	struct ibv_device_attr *limits;
	bool lost_is_destroyed;      /* RDMAV_ALLOW_DISASSOC_DESTROY: see verbs_cmd_destroy() */
	uint32_t legacy;             /* methods that the kernel lacks: see cmd/cmd_legacy.h */
	void *foreign;               /* state of foreign/ for a context, or NULL */
	struct check_context *check; /* NULL unless VERBS_CHECK is set: see check/README.md */
};

#ifdef VERBS_BRIDGE
struct verbs_ex_private *bridge_priv(struct ibv_context *context);

static inline struct verbs_ex_private *to_priv(struct ibv_context *context)
{
	return bridge_priv(context);
}

/* The host refuses to re-register a region of a kind that it does not know. As a user region,
 * device memory passes that check, and the kernel refuses it. */
static const enum verbs_mr_kind mr_kind_of_dm = VERBS_MR_USER;
#else
static inline struct verbs_ex_private *to_priv(struct ibv_context *context)
{
	return to_vctx(context)->priv;
}

static const enum verbs_mr_kind mr_kind_of_dm = VERBS_MR_DM;
#endif

static inline const struct verbs_ops *get_ops(struct ibv_context *context)
{
	return &to_priv(context)->ops;
}

static inline void *fail_null(int err)
{
	errno = err;
	return NULL;
}

static inline int fail_fd(int err)
{
	errno = err;
	return -1;
}

/* context.c: verbs_context_init() fills in the public part of a zeroed context, and installs the
 * default operations; verbs_context_cleanup() undoes that. */
int verbs_context_init(struct verbs_context *vctx, struct verbs_device *vdev, int cmd_fd);

static inline bool verbs_context_is_whole(const struct verbs_context *vctx)
{
	return vctx->sz >= sizeof(*vctx);
}

void verbs_ops_set_defaults(struct verbs_context *vctx);
void verbs_old_slots_fill(struct verbs_context *vctx);

/* Functions in public slots that check the input and then call the provider. */
int verbs_query_device_ex(struct ibv_context *context,
			  const struct ibv_query_device_ex_input *input,
			  struct ibv_device_attr_ex *attr, size_t attr_size);
struct ibv_cq_ex *verbs_create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr);
struct ibv_qp *verbs_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
struct ibv_srq *verbs_create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr);

/* Writes the texts A, B and C to TO, one behind the other. Returns whether they fit into SIZE
 * bytes; otherwise TO has the part that fits. */
bool verbs_text_join(char *to, size_t size, const char *a, const char *b, const char *c);
/* sysfs.c: read a file, and remove the newline at its end. */
int verbs_sysfs_read(const char *dir, const char *file, char *buf, size_t size);
int verbs_sysfs_read_ibdev(struct ibv_device *device, char *buf, size_t size, const char *format,
			   ...) __attribute__((format(printf, 4, 5)));
int verbs_sysfs_parse_gid(const char *text, union ibv_gid *gid);

int verbs_sysfs_fill_info(struct verbs_device_info *info);
int verbs_sysfs_find_devices(struct verbs_device_info **infos, unsigned int *count);
void verbs_sysfs_fill_pci(struct verbs_device_info *info);
bool verbs_sysfs_parse_modalias(const char *modalias, struct verbs_pci_id *id);

/* verbs_gid.c: reads one entry of a GID table. For an empty slot, returns ENODATA and a GID of
 * zeros. */
int verbs_query_gid(struct ibv_context *context, uint32_t port, uint32_t index,
		    struct ibv_gid_entry *entry);

/* netlink.c: after any error but ENOMEM, the caller tries sysfs. */
int verbs_netlink_find_devices(struct verbs_device_info **infos, unsigned int *count);
bool verbs_netlink_copies_on_fork(void);

void verbs_loader_load_drivers(void);
#ifdef VERBS_STATIC
void verbs_loader_set_default(const struct verbs_driver *const *all);
#endif
/* Returns where this library's plugins are, for foreign_calls.c. */
const char *verbs_loader_plugins(void);
/* Loads the distribution's provider of a kernel driver that none of ours serves. Returns whether
 * a plugin was loaded now; each is tried once, and again after a shortage. The caller holds the
 * lock of the device list. */
bool verbs_loader_load_foreign(uint32_t driver_id);
/* Returns a hint how to install a missing provider, for the end of a log line. */
const char *verbs_loader_cure(void);
/* Takes a lock. Returns false if the monotonic clock passes UNTIL first. */
bool verbs_loader_lock_until(pthread_mutex_t *lock, const struct timespec *until);
/* Handlers of fork(). Between the first call and one of the others, no other thread changes the
 * drivers, unless the first call timed out at UNTIL. */
void verbs_loader_before_fork(const struct timespec *until);
void verbs_loader_forked_in_parent(void);
void verbs_loader_forked_in_child(void);
const struct verbs_driver *verbs_loader_match(const struct verbs_device_info *info);

/* foreign.c: returns the distribution's provider for a kernel driver that no provider of this
 * project supports, or NULL. */
const char *verbs_foreign_provider(uint32_t driver_id);
/* Returns also those that this project has, whose packages may be missing. */
const char *verbs_foreign_plugin(uint32_t driver_id);
bool verbs_foreign_has(const char *name);
/* Returns whether verbs_foreign_plugin() knows the name. */
bool verbs_foreign_names(const char *name);

/* foreign_load.c: loads libforeign-rdmakit from PLUGINS, and then the distribution's plugin NAME, a
 * name or a path without suffix. */
enum verbs_foreign_result {
	VERBS_FOREIGN_ABSENT,  /* there is no such plugin */
	VERBS_FOREIGN_REFUSED, /* the reason is logged */
	/* the process lacks descriptors or memory; logged; a later call may succeed */
	VERBS_FOREIGN_SHORT,
	VERBS_FOREIGN_LOADED,
};
enum verbs_foreign_result verbs_foreign_load(const char *plugins, const char *name);
/* Returns whether libforeign-rdmakit is in PLUGINS. */
bool verbs_foreign_has_bridge(const char *plugins);
/* Loads libforeign-rdmakit alone, for the provider NAME. */
enum verbs_foreign_result verbs_foreign_open(const char *plugins, const char *name, void **bridge);
/* foreign_calls.c: leads the private nodes of this library on to libforeign-rdmakit, or, without
 * one, to functions that refuse. */
void verbs_foreign_connect(void *bridge);

/* fork.c: verbs_fork_keep() excludes a region's pages from child processes, if the program has
 * called ibv_fork_init() and the kernel does not copy the pages. verbs_fork_release() undoes
 * that. */
int verbs_fork_keep(void *addr, size_t length);
int verbs_fork_release(void *addr, size_t length);
extern bool verbs_fork_is_off;
/* Returns whether fork protection can never start any more, because unprotected memory was
 * registered; callers then need not take fork.c's lock. */
static inline bool verbs_fork_never_keeps(void)
{
	return __atomic_load_n(&verbs_fork_is_off, __ATOMIC_RELAXED);
}
void verbs_fork_init_from_environment(void);

/* Memory of ibv_alloc_buf(). The distribution's library reads all members when a provider runs
 * below it by a bridge. */
struct ibv_buf {
	char *addr;
	size_t size;
	struct ibv_pd *pd;
	int dmabuf_fd;
};

/* verbs_buf.c: returns EINVAL unless [addr, addr + length) lies in a buffer allocated for PD. */
int verbs_buf_check_range(struct ibv_pd *pd, const struct ibv_buf *buf, const void *addr,
			  size_t length);

/* device.c: verbs_device_find() finds the device with character device DEV, for an imported
 * context, and returns a reference. */
int verbs_device_find(uint64_t dev, struct verbs_device **vdev);
void verbs_device_get(struct verbs_device *vdev);
void verbs_device_put(struct verbs_device *vdev);

/* node.c: returns whether the device's file exists. If that cannot be determined, returns true. */
bool verbs_node_exists(const struct verbs_device_info *info);
/* Opens the file. Waits for udev if it does not exist yet, because a device appears before its
 * file. */
int verbs_node_open(const struct verbs_device_info *info, int *fd);

/* Returns whether an environment variable is set to anything but "0"; an empty value counts,
 * too. */
static inline bool verbs_env_is_on(const char *name)
{
	const char *value = getenv(name);

	return value && strcmp(value, "0") != 0;
}

/* events.c: waits until the application has acknowledged the events of an object that CALL
 * destroys. */
void verbs_event_wait_acked(const char *call, pthread_mutex_t *mutex, pthread_cond_t *cond,
			    uint32_t *acked, uint32_t reported);

/* Type of the object that an asynchronous event is about. */
enum element_kind {
	ELEMENT_PORT, /* or the device, whose element is 0 */
	ELEMENT_CQ,
	ELEMENT_QP,
	ELEMENT_SRQ,
	ELEMENT_WQ,
};
enum element_kind verbs_event_element(enum ibv_event_type type);
void verbs_event_forget_all(const struct ibv_context *context);

/* compat/verbs_1_0.c: returns the real context: CONTEXT itself, or the context inside the wrapper
 * that programs of release 1.0 have. */
#ifdef VERBS_STATIC
static inline struct ibv_context *verbs_compat_real_context(struct ibv_context *context)
{
	return context;
}
#else
struct ibv_context *verbs_compat_real_context(struct ibv_context *context);
#endif

/* explain/qp.c: log why the kernel refused a QP command with ERR. */
void verbs_qp_explain_create(struct ibv_context *context, const struct ibv_qp_init_attr_ex *attr,
			     int err);
void verbs_qp_explain_modify(struct ibv_qp *qp, const struct ibv_qp_attr *attr, int mask, int err);

/* Returns "RTS", for instance. */
const char *verbs_qp_state_name(enum ibv_qp_state state);

/* explain/suspect_qp.c: replaces the provider's modify_qp by a function that calls it, and then
 * logs values that were accepted although they cannot work. */
void verbs_qp_suspect_all(struct verbs_ex_private *priv);

/* check/: returns whether the environment asks for the checker. */
bool verbs_check_is_on(void);
/* Saves the provider's operations of a context, and returns the checker's operations, which call
 * the provider's. Returns NULL if there is no memory. */
const struct verbs_ops *verbs_check_context(struct verbs_context *vctx);
/* Forgets the queue pairs that the program leaves to a context, before the context is freed. */
void verbs_check_context_closes(const struct ibv_context *context);

/* explain/ah.c: logs why the kernel refused an address handle with ERR. */
void verbs_ah_explain_create(struct ibv_pd *pd, const struct ibv_ah_attr *attr, int err);
/* Writes the fault in an address to WHY, as "PREFIXfield value: rule". Returns false if it finds
 * none. */
bool verbs_ah_find_fault(struct ibv_context *context, const char *prefix,
			 const struct ibv_ah_attr *attr, char *why, size_t size);

#endif
