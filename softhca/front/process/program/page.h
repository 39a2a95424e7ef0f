/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * page.h - pages of the machine: their size, and which page is at an address of a program.
 */
#ifndef SOFTHCA_FRONT_PROCESS_PROGRAM_PAGE_H
#define SOFTHCA_FRONT_PROCESS_PROGRAM_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Checks that the host's page size is the adapter's, as programs map the adapter's pages at
 * multiples of that size. Returns 0, or logs the difference and returns ENOTSUP. */
int page_size_check(void);
/* Returns the physical page number of the page at ADDR of process PID. Returns 0 if there is no
 * page yet, or if Linux hides its number, which only root gets. */
uint64_t page_identity(pid_t pid, uint64_t addr);
/* Called when the page at ADDR has another number than before. Returns whether Linux itself may
 * have replaced it, which it would not do with pinned memory. */
bool page_may_move(pid_t pid, uint64_t addr);

#endif
