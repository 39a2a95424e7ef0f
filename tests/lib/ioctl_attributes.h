/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * ioctl_attributes.h - the attributes of each uverbs ioctl that a library makes, as lines of text,
 * and beside what Linux declares (linux_attributes.h).
 *
 * A program that is linked with ioctl_attributes.c defines ioctl(), which goes before the C
 * library's for libraries, too; it must export its symbols (ENABLE_EXPORTS in CMake).
 */
#ifndef TESTS_LIB_IOCTL_ATTRIBUTES_H
#define TESTS_LIB_IOCTL_ATTRIBUTES_H

#include <stdbool.h>

/* From here on, ioctls are said, or no longer. What Linux would not take is a check that fails. */
void ioctl_attributes_say(bool on);

#endif
