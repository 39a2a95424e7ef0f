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
/* Map and unmap memory of CLIENT, or end all. */
int vfio_device_map(struct vfio_device *device, struct client *client, uint64_t iova, uint64_t size,
		    int prot, uint64_t addr);
int vfio_device_unmap(struct vfio_device *device, uint64_t iova, uint64_t size, uint64_t *unmapped);
void vfio_device_unmap_all(struct vfio_device *device);
/* Runs the adapter in the engine's thread. Returns the time of its next work; 0: at once. */
uint64_t vfio_device_progress(uint64_t now);

struct vfio_container;

void vfio_container_start(void);
void vfio_group_start(void);

/* Add and remove a user of the group. The last one takes it out of its container. */
void vfio_group_keep(void);
void vfio_group_put(void);

/* Returns the container of an open file, or NULL. */
struct vfio_container *vfio_container_of(const struct vfio_file *file);
/* Add a user of the container, which has a group then, or remove one. The last one frees it. */
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
	int memfd; /* the memory, as it was created */
	int watch;
	struct client *client;
	void *object; /* of the kind */
};

int vfio_start(struct daemon *daemon);
void vfio_stop(void);
/* Opens memory MEMFD, which stays the caller's, as a file of KIND, and answers the call with its
 * descriptor. Returns 0, or a positive errno without an answer. */
int vfio_file_open(struct call *call, const struct vfio_file_kind *kind, int memfd, void *object,
		   bool cloexec);
/* The same with an empty file. */
int vfio_file_open_empty(struct call *call, const struct vfio_file_kind *kind, void *object,
			 bool cloexec);
/* Closes what programs have closed by now, as Linux closes a file before close() returns, so the
 * next open() must find it closed. */
void vfio_files_settle(void);
struct vfio_file *vfio_file_find(const struct stat *st);

/* Answer calls on files of VFIO, and no others. */
void vfio_ioctl(struct call *call);
void vfio_pread(struct call *call);
void vfio_pwrite(struct call *call);

#endif
