/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs.h - emulation of the kernel's ib_uverbs: files, their objects, and ioctl calls with
 * attributes.
 *
 * A table describes a method's attributes. The call is checked against it before the method runs,
 * so the method finds mandatory attributes present, lengths in range and handles resolved to
 * objects.
 */
#ifndef SOFTHCA_FRONT_PROCESS_UVERBS_UVERBS_H
#define SOFTHCA_FRONT_PROCESS_UVERBS_UVERBS_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/holder/epitaph.h"
#include "softhca/front/process/last_close.h"

struct call;
struct object;
struct event_channel;
struct event_source;

enum {
	UVERBS_FILE_UARS = 1024,
	UVERBS_FILE_EMULATION = UVERBS_FILE_UARS, /* first doorbell of emulated devices */
	UVERBS_FILE_MEMORY_PAGES = 256,
};

struct uverbs_file {
	LIST_ENTRY(uverbs_file) in_all; /* open files */
	TAILQ_ENTRY(uverbs_file) in_closing;
	struct adapter *adapter;
	struct client *client; /* process that opened it; referenced until the file is closed */
	/* The calling process, which may have inherited or imported the descriptor; objects that it
	 * creates are in its memory. NULL outside of calls. */
	struct client *caller;
	/* other processes in whose memory objects are; the file holds a reference to each, until it
	 * is closed */
	STAILQ_HEAD(, file_guest) guests;
	/* UAR pages, which this process maps at pages; the program's descriptor is a second open of
	 * it */
	int memfd;
	dev_t dev;
	ino_t ino;
	struct last_close last_close;
	uint8_t *pages;
	uint8_t page_used[UVERBS_FILE_UARS];
	bool memory_page_used[UVERBS_FILE_MEMORY_PAGES]; /* see uverbs_file_memory() */
	bool has_context;
	uint32_t context_number; /* number in RDMA netlink */
	uint16_t uid; /* device's user id of the program (DevX); 0: it may send no commands */
	uint8_t cqe_version;
	struct wqn_range *wqns;    /* mlx4: open range of WQ numbers, or NULL */
	struct uar_page doorbells; /* mlx4: of the context; its page is unset until it is opened */
	struct event_channel *async; /* default for objects that name no event file */
	/* indexed by handle; NULL: the handle is free. destroy_objects() frees it */
	struct object **object;
	uint32_t num_objects;
	/* all handles below it are used, so the search for the lowest free one, which Linux gives,
	 * starts here */
	uint32_t lowest_free;
	/* A file that is being closed: number of the round, objects below which handle remain to be
	 * looked at in it, and whether it has destroyed one */
	unsigned int close_round;
	uint32_t close_at;
	bool close_progress;
};

/* A place in an adapter's list of objects. Zero: before the first one. */
struct object_place {
	bool begun;
	uint32_t context_number; /* of the file */
	uint32_t handle;
};

void uverbs_objects_see(const struct adapter *adapter,
			void (*see)(const struct object *object, void *arg), void *arg);
/* Pass the adapter's objects, or its files with a context, to SEE, from PLACE on, until SEE returns
 * false. PLACE then names the object or file that SEE refused. Objects may come and go between
 * two calls. Return whether SEE saw all. */
bool uverbs_objects_see_from(const struct adapter *adapter, struct object_place *place,
			     bool (*see)(const struct object *object, void *arg), void *arg);
bool uverbs_contexts_see_from(const struct adapter *adapter, struct object_place *place,
			      bool (*see)(const struct uverbs_file *file, void *arg), void *arg);
unsigned int uverbs_count_contexts(const struct adapter *adapter);

int uverbs_start(void);
void uverbs_stop(void);

void uverbs_ioctl(struct call *call);
/* Intercept dup() and fcntl(), so that copies of the descriptor are in the filter's band too;
 * otherwise calls on the copies would go unseen. */
void uverbs_dup(struct call *call);
void uverbs_fcntl(struct call *call);

/* Finds the client of the calling thread and sets file->caller until uverbs_call_end(). Returns
 * 0 or a positive errno. */
int uverbs_call_begin(struct uverbs_file *file, const struct call *call);
void uverbs_call_end(struct uverbs_file *file);

/* Returns the uverbs file with ST's device and inode, or NULL. */
struct uverbs_file *uverbs_file_find(const struct stat *st);

/* Returns the address of page INDEX of this file's mappable device memory. */
void *uverbs_file_memory(const struct uverbs_file *file, uint32_t index);
/* Returns the page number in the file of page INDEX of device memory. */
uint32_t uverbs_file_memory_page(uint32_t index);

struct object {
	struct uverbs_file *file;
	uint16_t type; /* UVERBS_OBJECT_* or MLX5_IB_OBJECT_* */
	enum object_kind kind;
	bool scarce; /* an adapter has few of these, so it goes first when the file is closed */
	uint32_t handle;
	uint32_t users; /* objects that use it; it cannot be destroyed (EBUSY) before them */
	/* Process in whose memory it may be; referenced while the object exists */
	struct client *maker;
	struct pinned pinned;
	/* Frees the object's resources in the device and elsewhere, but not the struct. TID is the
	 * calling thread. */
	int (*destroy)(struct object *object, pid_t tid);
};

/* Allocates SIZE zeroed bytes that begin with an object. Returns 0 or ENOMEM. */
int object_new(size_t size, struct uverbs_file *file, uint16_t type,
	       int (*destroy)(struct object *object, pid_t tid), void *object);
/* Does the same as object_new(), for an object whose TYPE does not tell its KIND. */
int object_new_kind(size_t size, struct uverbs_file *file, uint16_t type, enum object_kind kind,
		    int (*destroy)(struct object *object, pid_t tid), void *object);
/* Frees an object that has no handle and is not in the device. */
void object_free(struct object *object);
/* Gives the object a handle, by which programs can use it from now on. Returns 0 or ENOMEM. The
 * handle is the lowest free one, as in Linux. */
int object_publish(struct object *object);
/* Destroys and frees the object, unless it is in use or the device refuses. Returns 0 or a positive
 * errno. */
int object_destroy(struct object *object, pid_t tid);
/* Destroys the object but keeps the struct until object_forget(), as it has results for the
 * program. */
int object_take_down(struct object *object, pid_t tid);
void object_forget(struct object *object);
/* Notes that the caller replaces the object's memory by its own. If the caller did not create the
 * object, the file keeps a reference to the caller's process, as the object may be in the memory of
 * both. Returns 0 or ENOMEM. */
int object_will_move(const struct object *object);
/* Finds an object. Returns 0, ENOENT for an unused handle, or EINVAL for another type; ANY_OBJECT
 * matches all. */
int object_find(const struct uverbs_file *file, uint16_t type, uint32_t handle, void *object);

enum attr_kind {
	ATTR_IN,      /* MIN to MAX bytes */
	ATTR_CONST,   /* a number of up to 32 bits; always 8 bytes */
	ATTR_CONST64, /* a number of up to 64 bits; always 8 bytes */
	ATTR_STRUCT,  /* an extensible struct: MIN to MAX bytes; more if those are zero */
	ATTR_ENUM,    /* one of OBJECT values; the first has MIN to MAX bytes, others none */
	ATTR_OUT,     /* buffer for MIN to MAX bytes */
	ATTR_HANDLE,  /* an object of type OBJECT, or ANY_OBJECT */
	ATTR_HANDLES, /* list of MIN to MAX handles of type OBJECT */
	ATTR_DESTROY, /* like ATTR_HANDLE; the method destroys the object */
	ATTR_NEW,
	ATTR_FD,     /* a descriptor that this front has made */
	ATTR_RAW_FD, /* any descriptor, or below 0; the method checks it */
	ATTR_NEW_FD,
};

struct uverbs_attr {
	uint16_t id;
	enum attr_kind kind;
	bool mandatory;
	uint16_t min, max;
	uint16_t object;
};

#define MANDATORY true
#define OPTIONAL  false
#define ANY_SIZE  UINT16_MAX

enum { ANY_OBJECT = UINT16_MAX };

struct uverbs_call;

struct uverbs_method {
	const char *name;
	uint16_t object, method;
	int (*run)(struct uverbs_call *uc);
	const struct uverbs_attr *attrs;
	unsigned int num_attrs;
	/* Returns whether the adapter has the method; NULL: all have it. */
	bool (*exists)(const struct adapter *adapter);
};

#define METHOD_IF(exists, name, object, method, run, attrs)                                  \
	{                                                                                    \
		name, object, method, run, attrs, sizeof(attrs) / sizeof((attrs)[0]), exists \
	}
#define METHOD(name, object, method, run, attrs) METHOD_IF(NULL, name, object, method, run, attrs)
#define UHW_ATTRS                                                       \
	{ UVERBS_ATTR_UHW_IN, ATTR_IN, OPTIONAL, 0, ANY_SIZE, 0 },      \
	{                                                               \
		UVERBS_ATTR_UHW_OUT, ATTR_OUT, OPTIONAL, 0, ANY_SIZE, 0 \
	}

struct uverbs_methods {
	const struct uverbs_method *method;
	unsigned int count;
};

#define METHODS(table)                                    \
	{                                                 \
		table, sizeof(table) / sizeof((table)[0]) \
	}

/* A command of the former write() interface, run by INVOKE_WRITE. */
struct uverbs_write {
	const char *name;
	uint32_t command; /* with IB_USER_VERBS_CMD_FLAG_EXTENDED */
	uint16_t in_size, out_size;
	int (*run)(struct uverbs_call *uc);
};

struct uverbs_writes {
	const struct uverbs_write *write;
	unsigned int count;
};

enum { UVERBS_MAX_ATTRS = 32 };

struct uverbs_header {
	uint16_t length, object_id, method_id, num_attrs;
	uint64_t reserved1;
	uint32_t driver_id, reserved2;
};
static_assert(sizeof(struct uverbs_header) == sizeof(struct ib_uverbs_ioctl_hdr),
	      "the header of the kernel's");

struct uverbs_call {
	struct call *call;
	struct uverbs_file *file;
	struct adapter *adapter;
	struct client *client;
	pid_t tid;
	const struct uverbs_method *method;
	const struct uverbs_write *write; /* only in INVOKE_WRITE */
	struct uverbs_header hdr;
	struct ib_uverbs_attr attr[UVERBS_MAX_ATTRS];
	struct object *object[UVERBS_MAX_ATTRS]; /* objects of handle attributes */
	bool known[UVERBS_MAX_ATTRS];            /* attributes in the method's table */
};

/* Checks the attributes against the table of uc->method, and finds the objects of handles. Returns
 * 0 or the kernel's errno. */
int uc_check_attrs(struct uverbs_call *uc);
/* Returns the attribute, or NULL if the call does not have it. */
struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id);
/* Copies up to LEN bytes of the attribute; fills BUF with zeroes where it is shorter or absent.
 * Returns 0 or EFAULT. */
int uc_in(struct uverbs_call *uc, uint16_t id, void *buf, size_t len);
size_t uc_len(struct uverbs_call *uc, uint16_t id);
/* Checks that the attribute is zero behind its first KNOWN bytes. Returns 0, EOPNOTSUPP if not, or
 * EFAULT if it cannot be read. */
int uc_check_tail(struct uverbs_call *uc, uint16_t id, size_t known);
/* Returns whether the attribute has a byte other than zero behind its first KNOWN bytes. */
bool uc_has_tail(struct uverbs_call *uc, uint16_t id, size_t known);
/* Reads flags; an absent attribute means 0. Returns 0, EFAULT, or EINVAL for bits not in
 * ALLOWED. */
int uc_flags(struct uverbs_call *uc, uint16_t id, uint64_t allowed, uint64_t *flags);
/* Returns the response length to report for SIZE bytes: SIZE, or the attribute's room if
 * smaller. */
uint32_t uc_response_length(struct uverbs_call *uc, uint16_t id, size_t size);
/* Copies out as many bytes as fit. Returns 0 or EFAULT; 0 if the attribute is absent. */
int uc_out(struct uverbs_call *uc, uint16_t id, const void *data, size_t len);
/* Copies out as uc_out() does, and fills the remaining room with zeroes. */
int uc_out_padded(struct uverbs_call *uc, uint16_t id, const void *data, size_t len);
void uc_set(struct uverbs_call *uc, uint16_t id, uint64_t value);
/* Returns the object of a handle attribute; NULL if it is absent. */
void *uc_object(struct uverbs_call *uc, uint16_t id);
/* Fills OBJECTS, which has room for MAX, from an attribute with several handles. Returns their
 * number. */
unsigned int uc_objects(struct uverbs_call *uc, uint16_t id, struct object **objects,
			unsigned int max);
/* Pins LEN bytes of the caller's memory at ADDR; for 0 bytes, the page there. All must be mapped,
 * and writable if WRITABLE. Returns 0, EFAULT, or EPERM or ENOMEM as pinned_add() does. */
int uc_pin(struct uverbs_call *uc, uint64_t addr, uint64_t len, bool writable);
/* Pins a doorbell record, which the device writes. */
int uc_pin_record(struct uverbs_call *uc, uint64_t addr, uint64_t len);
/* Gives OBJECT, which is in the device, its handle; destroys it on failure. */
int uc_publish(struct uverbs_call *uc, struct object *object);
int uc_return_object(struct uverbs_call *uc, uint16_t id, struct object *object);
/* Publishes an object if RET says that it was made; otherwise frees it. */
int uc_return_made(struct uverbs_call *uc, int ret, uint16_t id, struct object *object);
/* Ends a creation: if RET says that the program did not get the answer, destroys OBJECT. */
int uc_answered(struct uverbs_call *uc, int ret, struct object *object);
/* Destroys an object with events: attribute ID returns how many of them the program has read (32
 * bits). */
int uc_destroy_reporting(struct uverbs_call *uc, struct object *object,
			 const struct event_source *events, uint16_t id);
int uc_destroy_by_handle(struct uverbs_call *uc, uint16_t type);
/* Fills the common fields of OBJECT's entry in the holder's table; the object has its handle. */
void uc_epitaph_entry(const struct uverbs_call *uc, const struct object *object,
		      struct epitaph_entry *entry);
/* Finds the event channel in attribute ID, or the file's default. EBADF: the descriptor is no
 * channel. */
int uc_async_channel(struct uverbs_call *uc, uint16_t id, struct event_channel **channel);

#endif
