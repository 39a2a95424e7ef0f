/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ioctl_attributes.h - prints the attributes of each uverbs ioctl that a library makes, as lines of
 * text, and compares them with Linux' declarations (linux_attributes.h).
 *
 * A program that is linked with ioctl_attributes.c defines ioctl(), which overrides the C library's
 * for the libraries, too; it must export its symbols (ENABLE_EXPORTS in CMake).
 */
#ifndef TESTS_LIB_KERNEL_IOCTL_ATTRIBUTES_H
#define TESTS_LIB_KERNEL_IOCTL_ATTRIBUTES_H

#include <stdbool.h>

/* Starts or stops printing ioctls. An ioctl that Linux would not accept is a failed check. */
void ioctl_attributes_say(bool on);

/* Judges the answers to printed ioctls from now on: a kernel that has the method and all attributes
 * that it may not ignore answers ERR, 0 for success; an older one, EPROTONOSUPPORT. */
void ioctl_attributes_judge(int err);

#endif
