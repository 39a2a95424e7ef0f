# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What this machine says of itself and of an adapter: sysfs, /proc, and ibv_doctor's findings.

Nothing here opens an adapter. Problem is raised with a text for the user and a cure.
"""
import errno
import fcntl
import os
import platform
import re
import resource
import socket
import struct
import subprocess

SYSFS = "/sys/class/infiniband"
PROVIDERS = {"mlx5_core": "mlx5", "mlx4_core": "mlx4"}


class Problem(Exception):
    """Something that keeps the tests from running, and its cure."""

    def __init__(self, text, cure):
        Exception.__init__(self, text)
        self.cure = cure


def read(*path):
    """Return the text of a file, without blanks at its ends; '' if there is none."""
    try:
        with open(os.path.join(*path)) as file:
            return file.read().strip()
    except (OSError, UnicodeDecodeError):
        return ""


def entries(*path):
    """Return the sorted names in a directory; [] if there is none."""
    try:
        return sorted(os.listdir(os.path.join(*path)))
    except OSError:
        return []


def adapters():
    """Return the names of all RDMA devices."""
    return entries(SYSFS)


def driver_of(name):
    """Return the kernel's driver of a device."""
    return os.path.basename(os.path.realpath(os.path.join(SYSFS, name, "device", "driver")))


def uverbs_of(name):
    """Return the path of the file by which programs reach a device, or ''."""
    for entry in entries("/sys/class/infiniband_verbs"):
        if read("/sys/class/infiniband_verbs", entry, "ibdev") == name:
            return "/dev/infiniband/" + entry
    return ""


def ipv4_of(interface):
    """Return the IPv4 address of a network interface, or ''."""
    request = struct.pack("256s", interface.encode()[:15])
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            answer = fcntl.ioctl(probe.fileno(), 0x8915, request)  # SIOCGIFADDR
    except OSError:
        return ""
    return socket.inet_ntoa(answer[20:24])


def gids_of(name, port=1):
    """Return (index, GID, type, interface) of each GID that is there."""
    base = os.path.join(SYSFS, name, "ports", str(port))
    found = []
    for index in sorted(entries(base, "gids"), key=int):
        gid = read(base, "gids", index)
        if gid.replace("0", "").replace(":", "") and not gid.endswith(":0000:0000:0000:0000"):
            found.append((int(index), gid, read(base, "gid_attrs", "types", index),
                          read(base, "gid_attrs", "ndevs", index)))
        elif len(found) and int(index) > found[-1][0] + 16:
            break  # tables have hundreds of places, and reading each asks the adapter
    return found


def best_gid(gids):
    """Return the index that programs are to use on RoCE: v2 with an IPv4 address, else v2, else 0."""
    v2 = [gid for gid in gids if "v2" in gid[2]]
    ipv4 = [gid for gid in v2 if gid[1].startswith("0000:0000:0000:0000:0000:ffff:")]
    return (ipv4 or v2 or gids or [(0,)])[0][0]


def facts_of(name):
    """Return what sysfs has of an adapter and its first port, as a dict of texts."""
    base = os.path.join(SYSFS, name)
    port = os.path.join(base, "ports", "1")
    device = os.path.join(base, "device")
    gids = gids_of(name)
    return {
        "name": name,
        "driver": driver_of(name),
        "firmware": read(base, "fw_ver"),
        "board id": read(base, "board_id"),
        "vendor": read(device, "vendor"),
        "PCI device": read(device, "device"),
        "hardware revision": read(base, "hw_rev"),
        "node GUID": read(base, "node_guid"),
        "system image GUID": read(base, "sys_image_guid"),
        "PCI address": os.path.basename(os.path.realpath(device)),
        "PCI link": "%s, width %s" % (read(device, "current_link_speed") or "unknown",
                                      read(device, "current_link_width") or "unknown"),
        "ports": str(len(entries(base, "ports"))),
        "link layer": read(port, "link_layer"),
        "state": read(port, "state"),
        "rate": read(port, "rate"),
        "LID": read(port, "lid"),
        "interfaces": " ".join(entries(device, "net")),
        "GIDs": "\n".join("%d: %s %s %s" % gid for gid in gids),
        "file": uverbs_of(name),
    }


def distribution():
    """Return the name of the distribution."""
    found = re.search(r'^PRETTY_NAME="?([^"\n]*)', read("/etc/os-release"), re.M)
    return found.group(1) if found else "unknown"


def processor():
    """Return the model of the processors and their number."""
    found = re.search(r"^(?:model name|Model)\s*: (.*)", read("/proc/cpuinfo"), re.M)
    return "%s, %d" % (found.group(1) if found else platform.machine(), os.cpu_count() or 1)


def facts_of_machine():
    """Return what the report says of the machine, as a dict of texts."""
    return {
        "kernel": "Linux " + platform.release() + " " + platform.version(),
        "distribution": distribution(),
        "processors": processor(),
        "architecture": platform.machine(),
        "memory": re.sub(r"^MemTotal: *", "", read("/proc/meminfo").split("\n")[0]),
        "pages of": "%d bytes" % os.sysconf("SC_PAGE_SIZE"),
        "user": "root" if os.geteuid() == 0 else "not root",
        "RDMA devices": " ".join(adapters()),
    }


def check_present(name):
    """Raise Problem unless the kernel has a device of that name with a driver that is ours to serve."""
    there = adapters()
    if not there:
        raise Problem("there is no adapter %s: this machine has no RDMA device at all (%s is empty)" % (name, SYSFS),
                      "lspci -d 15b3: shows whether a ConnectX is on the bus; modprobe mlx5_ib (mlx4_ib for ConnectX-3) "
                      "loads its driver. Without an adapter: ./quickstart and ./run-tests need none")
    if name not in there:
        raise Problem("there is no adapter %s; this machine has: %s" % (name, " ".join(there)),
                      "name one of those")
    if driver_of(name) not in PROVIDERS:
        raise Problem("%s is driven by %s: these libraries are for mlx5_core and mlx4_core" % (name, driver_of(name)),
                      "name another adapter; this machine has: " + " ".join(there))


def check_file(name):
    """Raise Problem unless this user can open the device's file."""
    path = uverbs_of(name)
    if not path:
        raise Problem("programs cannot reach %s: the kernel offers no uverbs file for it" % name, "sudo modprobe ib_uverbs")
    try:
        os.close(os.open(path, os.O_RDWR))
    except OSError as error:
        cure = "sudo udevadm trigger" if error.errno == errno.ENOENT else "sudo chmod 0666 %s, as Linux makes it" % path
        raise Problem("%s cannot be opened: %s" % (path, error.strerror), cure + "; in a container, start it with --device=" + path)


def check_port(name):
    """Raise Problem unless the first port is up."""
    state = read(SYSFS, name, "ports", "1", "state")
    if "ACTIVE" in state:
        return
    if read(SYSFS, name, "ports", "1", "link_layer") == "InfiniBand":
        cure = "cable and switch; a port that stays at INIT waits for a subnet manager: start opensm in the subnet"
    else:
        interfaces = " ".join(entries(SYSFS, name, "device", "net"))
        cure = "sudo ip link set %s up; then cable, and the other end" % (interfaces or "INTERFACE")
    raise Problem("port 1 of %s is not up: %s" % (name, state or "it has no state"), cure)


ENOUGH = 256 << 20  # bytes that a process may register; the largest trial takes about as much


def may_lock_all():
    """Return whether this process has CAP_IPC_LOCK, and not only in a user namespace of its own."""
    found = re.search(r"^CapEff:\s*(\w+)", read("/proc/self/status"), re.M)
    is_first = read("/proc/self/uid_map").split() == ["0", "0", "4294967295"]
    return bool(found and int(found.group(1), 16) >> 14 & 1) and is_first


def check_memlock():
    """Raise Problem unless this process may register enough memory; raise its own limit where it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (hard, hard))
    if hard == resource.RLIM_INFINITY or hard >= ENOUGH or may_lock_all():
        return
    raise Problem("a process may register %d KiB of memory only, and the tests need %d MiB (ulimit -l)" % (hard >> 10, ENOUGH >> 20),
                  'a line "* - memlock unlimited" in /etc/security/limits.conf and a new login; or sudo prlimit --pid $$ '
                  "--memlock=unlimited in this shell; in a container, --ulimit memlock=-1")


def check(name):
    """Raise Problem if something keeps the tests from running on that adapter."""
    check_present(name)
    check_file(name)
    check_port(name)
    check_memlock()


def doctor(program, env):
    """Return what ibv_doctor says, or why it says nothing."""
    try:
        done = subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        return done.stdout.decode(errors="replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        return "ibv_doctor does not answer: %s" % error


def problems_of(text, name):
    """Return the problems that ibv_doctor has found with an adapter, each with its cure."""
    lines = text.split("\n")
    found = []
    for index, line in enumerate(lines):
        if re.match(r"problem +(%s|%s/1|%s): " % (re.escape(name), re.escape(name), re.escape(uverbs_of(name))), line):
            found += [line] + [after for after in lines[index + 1:index + 2] if "cure:" in after]
    return found
