/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * vfio.h - an adapter that programs drive themselves: /dev/vfio/vfio, /dev/vfio/GROUP and the
 * device's file. See README.md.
 */
#ifndef SOFTHCA_FRONT_PROCESS_VFIO_VFIO_H
#define SOFTHCA_FRONT_PROCESS_VFIO_VFIO_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "softhca/fault.h"
#include "softhca/front/process/last_close.h"

struct adapter;
struct call;
struct client;
struct daemon;
struct vfio_device;
struct vfio_file;

enum { VFIO_FIRST_GROUP = 1000 }; /* high, as no machine has as many groups of its own */

/* Creates the adapter of --vfio. Returns 0 or a positive errno. */
int vfio_device_create(struct daemon *daemon);
void vfio_device_destroy(void);
/* Returns the adapter's description for sysfs, or NULL without --vfio. */
struct adapter *vfio_device_shown(void);
struct vfio_device *vfio_device_get(void);
void vfio_device_open(struct call *call, struct vfio_device *device);
/* Map memory of CLIENT for the adapter's DMA, and unmap it, or unmap all. */
int vfio_device_map(struct vfio_device *device, struct client *client, uint64_t iova, uint64_t size,
		    int prot, uint64_t addr);
int vfio_device_unmap(struct vfio_device *device, uint64_t iova, uint64_t size, uint64_t *unmapped);
void vfio_device_unmap_all(struct vfio_device *device);
/* Lets the adapter die, or takes it off the bus and tells the program by the request interrupt.
 * Does nothing without --vfio, or while no program has the adapter. */
void vfio_device_suffer(enum fault_event event);
/* Runs the adapter in the engine's thread. Returns the time of its next work; 0: at once. */
uint64_t vfio_device_progress(uint64_t now);

struct vfio_container;

void vfio_container_start(void);
void vfio_group_start(void);

/* Add and remove a user of the group. Removing the last user takes the group out of its
 * container. */
void vfio_group_keep(void);
void vfio_group_put(void);

/* Returns the container of an open file, or NULL. */
struct vfio_container *vfio_container_of(const struct vfio_file *file);
/* Add the group to the container as a user, and remove it. Removing the last user frees the
 * container. */
void vfio_container_attach(struct vfio_container *container);
void vfio_container_detach(struct vfio_container *container);
bool vfio_container_has_iommu(const struct vfio_container *container);

struct vfio_request {
	uint32_t number;
	int (*answer)(struct vfio_file *file, struct call *call);
};

struct vfio_file_kind {
	const char *name;
	const struct vfio_request *requests;
	unsigned int num_requests;
	void (*close)(struct vfio_file *file);
	int (*read)(struct vfio_file *file, struct call *call);  /* may be NULL */
	int (*write)(struct vfio_file *file, struct call *call); /* may be NULL */
};

struct vfio_file {
	LIST_ENTRY(vfio_file) in_all;
	const struct vfio_file_kind *kind;
	dev_t dev;
	ino_t ino;
	int memfd; /* duplicate of the descriptor that created the memory */
	struct last_close last_close;
	struct client *client;
	void *object; /* OBJECT of vfio_file_open(): data of the kind */
};

int vfio_start(struct daemon *daemon);
void vfio_stop(void);
/* Opens memory MEMFD, which stays the caller's, as a file of KIND, and answers the call with its
 * descriptor. Returns 0, or a positive errno without an answer. */
int vfio_file_open(struct call *call, const struct vfio_file_kind *kind, int memfd, void *object,
		   bool cloexec);
/* Does the same as vfio_file_open(), with an empty memfd of its own. */
int vfio_file_open_empty(struct call *call, const struct vfio_file_kind *kind, void *object,
			 bool cloexec);
/* Closes the files that programs have closed by now. Linux closes a file before close() returns, so
 * the next open() must find it closed here, too. */
void vfio_files_settle(void);
/* Returns the file that was opened last, which is still open. */
struct vfio_file *vfio_file_newest(void);
struct vfio_file *vfio_file_find(const struct stat *st);

/* Answer calls on VFIO files. Calls on other files are left unanswered, for the next handler or the
 * kernel. */
void vfio_ioctl(struct call *call);
void vfio_pread(struct call *call);
void vfio_pwrite(struct call *call);

#endif
