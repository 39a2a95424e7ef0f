/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * address_space.h - the address space of a process, by a handle that was opened once.
 *
 * The number of a process may be another's as soon as it has ended, and stays the same when it
 * executes a program, while /proc/PID/mem and /proc/PID/maps are of the address space that was
 * there when they were opened: once it has gone, they reach nothing. Linux: proc_mem_open()
 * Decision: docs/adr/0045.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_ADDRESS_SPACE_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct address_space {
	int bytes, maps; /* descriptors */
};

/* Opens the address space of thread TID, of process PID. Returns 0 or a positive errno. */
int space_open(pid_t pid, pid_t tid, struct address_space *space);
void space_close(struct address_space *space);
/* Asks whether a process still has it. */
bool space_is_there(const struct address_space *space);

/* Copy LEN bytes at ADDR, whatever rights the process has to them: it had them when it gave the
 * memory to an adapter. Return 0, ESRCH for an address space that has gone, or EFAULT. */
int space_read(const struct address_space *space, uint64_t addr, void *buf, size_t len);
int space_write(const struct address_space *space, uint64_t addr, const void *buf, size_t len);

/* Asks whether all of LEN bytes at ADDR are mapped, readable, and writable if WRITABLE. Returns 0
 * or EFAULT. */
int space_check_range(const struct address_space *space, uint64_t addr, uint64_t len,
		      bool writable);

#endif
