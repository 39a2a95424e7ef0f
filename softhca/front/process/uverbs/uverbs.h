/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * uverbs.h - the part of the kernel's ib_uverbs: files, their objects, and ioctl calls with
 * attributes.
 *
 * A method is described by a table of its attributes; the call is checked against it before the
 * method's function runs, so that function finds mandatory attributes present, lengths in range and
 * handles turned into objects.
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

struct call;
struct object;
struct event_channel;
struct event_source;

/* ---- files ---- */

enum {
	UVERBS_FILE_UARS = 1024,
	UVERBS_FILE_EMULATION = UVERBS_FILE_UARS, /* doorbells of emulated devices begin here */
	UVERBS_FILE_MEMORY_PAGES = 256,
};

struct uverbs_file {
	LIST_ENTRY(uverbs_file) in_all;
	struct adapter *adapter;
	struct client *client; /* who opened it */
	/* Who calls: it may have inherited the descriptor, or have imported it. What it makes lies
	 * in its memory. NULL outside of calls. */
	struct client *caller;
	STAILQ_HEAD(, file_guest) guests; /* whose memory others' objects have come to lie in */
	int memfd;                        /* what the program's descriptor is: UAR pages */
	dev_t dev;
	ino_t ino;
	int watch; /* inotify: the last descriptor or mapping is gone */
	uint8_t *pages;
	uint8_t page_used[UVERBS_FILE_UARS];
	bool memory_page_used[UVERBS_FILE_MEMORY_PAGES]; /* see uverbs_file_memory() */
	bool has_context;
	uint32_t context_number; /* as RDMA netlink tells it */
	uint16_t uid; /* by which the device knows the program (DevX); 0: it may not command it */
	uint8_t cqe_version;         /* of the context */
	struct wqn_range *wqns;      /* mlx4: that WQs get numbers from; NULL: none is open */
	struct uar_page doorbells;   /* mlx4: of the context; without a page, there is none yet */
	struct event_channel *async; /* of objects that name no other */
	struct object **object;      /* by handle */
	uint32_t num_objects;
	uint32_t lowest_free; /* no handle below it is free */
};

/* Shows SEE each object that programs have of ADAPTER. */
void uverbs_objects_see(const struct adapter *adapter,
			void (*see)(const struct object *object, void *arg), void *arg);
/* Shows SEE each file of ADAPTER that has a context. */
void uverbs_contexts_see(const struct adapter *adapter,
			 void (*see)(const struct uverbs_file *file, void *arg), void *arg);
unsigned int uverbs_count_contexts(const struct adapter *adapter);

int uverbs_start(void);
void uverbs_stop(void);

/* Open the device file: the caller gets a descriptor. */
void uverbs_open(struct call *call, struct adapter *adapter, bool cloexec);
void uverbs_ioctl(struct call *call);
/* Copies of descriptors of the device file are in the filter's band too, or later calls on them
 * would not be seen. */
void uverbs_dup(struct call *call);
void uverbs_fcntl(struct call *call);

/* Finds the client that thread TID, which has called, belongs to: file->caller until the call ends.
 * Returns 0 or a positive errno. */
int uverbs_call_begin(struct uverbs_file *file, pid_t tid);
void uverbs_call_end(struct uverbs_file *file);

/* Returns the uverbs file with the identity in ST, or NULL. */
struct uverbs_file *uverbs_file_find(const struct stat *st);

/* Finds where page INDEX of the device memory that programs can map by this file is. */
void *uverbs_file_memory(const struct uverbs_file *file, uint32_t index);
/* Returns the number of that page in the file. */
uint32_t uverbs_file_memory_page(uint32_t index);

static inline struct adapter *uverbs_file_adapter(const struct uverbs_file *file)
{
	return file->adapter;
}

/* ---- objects ---- */

struct object {
	struct uverbs_file *file;
	uint16_t type; /* UVERBS_OBJECT_* or MLX5_IB_OBJECT_* */
	uint32_t handle;
	uint32_t users;       /* other objects that need it: EBUSY */
	struct client *maker; /* in whose memory it may lie; kept as long as the object is there */
	struct pinned pinned; /* memory that it keeps in place */
	/* The call gives back what the object holds in the device and elsewhere, but not its
	 * memory. TID is who asks. */
	int (*destroy)(struct object *object, pid_t tid);
};

/* Allocates zeroed memory of SIZE with the object first. It returns 0 or ENOMEM. */
int object_new(size_t size, struct uverbs_file *file, uint16_t type,
	       int (*destroy)(struct object *object, pid_t tid), void *object);
/* Frees an object that has not been published, nor made in the device. */
void object_free(struct object *object);
/* Gives the object a handle: it exists from here on. It returns 0 or ENOMEM. */
int object_publish(struct object *object);
/* Destroys and frees the object, unless it is in use or the device refuses. 0 or a positive
 * errno. */
int object_destroy(struct object *object, pid_t tid);
/* Destroys the object likewise, but its memory stays, with what the program is to be told of it,
 * until object_forget(). */
int object_take_down(struct object *object, pid_t tid);
/* Frees what DESTROY was already called for. */
void object_forget(struct object *object);
/* The caller gives the object memory of its own. The file keeps a caller that is not the maker,
 * until it is closed, as the object may lie in the memory of both. Returns 0 or ENOMEM. */
int object_will_move(const struct object *object);
/* Returns 0, ENOENT for a handle that is nothing, or EINVAL for one of another type (than
 * ANY_OBJECT, which all are). */
int object_find(const struct uverbs_file *file, uint16_t type, uint32_t handle, void *object);

/* ---- calls ---- */

enum attr_kind {
	ATTR_IN,      /* MIN to MAX bytes */
	ATTR_CONST,   /* a number of up to 32 bits, whatever its type; always 8 bytes */
	ATTR_CONST64, /* one of up to 64 bits */
	ATTR_STRUCT,  /* a struct that grows: MIN to MAX bytes, and more if those are zero */
	ATTR_ENUM,    /* one of OBJECT kinds; MIN to MAX bytes with the first, none with others */
	ATTR_OUT,     /* room for MIN to MAX bytes */
	ATTR_HANDLE,  /* an object of type OBJECT, or ANY_OBJECT */
	ATTR_HANDLES, /* MIN to MAX objects of type OBJECT, by a list of handles */
	ATTR_DESTROY, /* as ATTR_HANDLE; the method destroys it */
	ATTR_NEW,     /* room for the handle of a new object */
	ATTR_FD,      /* a descriptor in, of an object of the front's */
	ATTR_RAW_FD,  /* a descriptor in, of anything, or below 0; the method looks at it */
	ATTR_NEW_FD,  /* room for a descriptor */
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
	/* A method that an adapter does not have is not there; NULL: all have it. */
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

/* A command of the former write() interface, through INVOKE_WRITE. */
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

/* The header is struct ib_uverbs_ioctl_hdr without the attributes behind it. */
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
	struct client *client; /* the calling process */
	pid_t tid;
	const struct uverbs_method *method;
	const struct uverbs_write *write; /* of INVOKE_WRITE */
	struct uverbs_header hdr;
	struct ib_uverbs_attr attr[UVERBS_MAX_ATTRS];
	struct object *object[UVERBS_MAX_ATTRS]; /* of handle attributes */
	bool known[UVERBS_MAX_ATTRS];            /* attributes that the method has */
};

/* ---- call.c ---- */

/* Checks the attributes against the table of uc->method, and finds the objects of handles. It
 * returns 0 or the errno of the kernel. */
int uc_check_attrs(struct uverbs_call *uc);
/* Returns the attribute, or NULL when the call has it not. */
struct ib_uverbs_attr *uc_attr(struct uverbs_call *uc, uint16_t id);
/* Copies up to LEN bytes; the rest of BUF is zero, and so is all of it when the attribute is
 * absent. It returns 0 or EFAULT. */
int uc_in(struct uverbs_call *uc, uint16_t id, void *buf, size_t len);
size_t uc_len(struct uverbs_call *uc, uint16_t id);
/* Returns 0 if all bytes of the attribute behind its first KNOWN ones are zero, EOPNOTSUPP if one
 * is not, EFAULT if they cannot be read. */
int uc_check_tail(struct uverbs_call *uc, uint16_t id, size_t known);
/* Asks whether the attribute says something behind its first KNOWN bytes. */
bool uc_has_tail(struct uverbs_call *uc, uint16_t id, size_t known);
/* Reads flags, of which there are ALLOWED ones. It returns 0 (they are 0 when the attribute is
 * absent), EFAULT or EINVAL. */
int uc_flags(struct uverbs_call *uc, uint16_t id, uint64_t allowed, uint64_t *flags);
/* Returns the response length to report for SIZE bytes: SIZE, or the program's room if smaller. */
uint32_t uc_response_length(struct uverbs_call *uc, uint16_t id, size_t size);
/* Copies out as much as there is room for. It returns 0 or EFAULT; 0 when the attribute is
 * absent. */
int uc_out(struct uverbs_call *uc, uint16_t id, const void *data, size_t len);
/* Copies out the same, and zeroes in the rest of the room. */
int uc_out_padded(struct uverbs_call *uc, uint16_t id, const void *data, size_t len);
/* Returns a handle or descriptor that was made to the program. */
void uc_set(struct uverbs_call *uc, uint16_t id, uint64_t value);
/* Finds the object that a handle attribute names; NULL when absent. */
void *uc_object(struct uverbs_call *uc, uint16_t id);
/* Finds the objects of an attribute of several, which has room for MAX; how many comes back. */
unsigned int uc_objects(struct uverbs_call *uc, uint16_t id, struct object **objects,
			unsigned int max);
/* Pin LEN bytes of the caller's at ADDR, or the page there for none. All must be mapped, with the
 * right to write if WRITABLE. Return 0, EFAULT, or EPERM or ENOMEM as pinned_add() does. */
int uc_pin(struct uverbs_call *uc, uint64_t addr, uint64_t len, bool writable);
/* A doorbell record, which is written. */
int uc_pin_record(struct uverbs_call *uc, uint64_t addr, uint64_t len);
/* Gives OBJECT, which is made in the device, its handle; on failure it is destroyed. */
int uc_publish(struct uverbs_call *uc, struct object *object);
/* Publishes OBJECT likewise, and returns the handle in attribute ID. */
int uc_return_object(struct uverbs_call *uc, uint16_t id, struct object *object);
/* Publishes an object of which RET says whether it could be made; if not, its memory is freed. */
int uc_return_made(struct uverbs_call *uc, int ret, uint16_t id, struct object *object);
/* Ends a creation: RET says whether the program has got the answer, else OBJECT goes again. */
int uc_answered(struct uverbs_call *uc, int ret, struct object *object);
/* Ends an object that EVENTS come from: attribute ID tells how many the program has read (32
 * bits). */
int uc_destroy_reporting(struct uverbs_call *uc, struct object *object,
			 const struct event_source *events, uint16_t id);
/* For commands whose only argument is a handle. */
int uc_destroy_by_handle(struct uverbs_call *uc, uint16_t type);
/* Does for OBJECT, which has its handle, what a table of queues says first. */
void uc_epitaph_entry(const struct uverbs_call *uc, const struct object *object,
		      struct epitaph_entry *entry);
/* Finds the channel of a descriptor: attribute ID, or the file's own. EBADF: the descriptor is
 * none. */
int uc_async_channel(struct uverbs_call *uc, uint16_t id, struct event_channel **channel);

#endif
