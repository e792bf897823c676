"""Runs a unit file where no systemd user manager runs, with what the unit forbids.

usage: service-launcher.py UNIT [Setting=value ...]     (settings replace those of the unit)

It applies the command line, the environment, UMask, Nice, NoNewPrivileges, RestrictAddressFamilies, RestrictNamespaces,
SystemCallFilter, Restart, RestartSec and RestartPreventExitStatus. Like systemd, it filters system calls with libseccomp,
and reads the names in a group from systemd-analyze. It prints "started PID" for each start. SIGTERM stops the program.
"""

import ctypes
import errno
import os
import re
import signal
import socket
import subprocess
import sys
import time

ALLOW = 0x7FFF0000


def refuse(error):
    return 0x00050000 | error


class Compare(ctypes.Structure):
    _fields_ = [("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


# Operators of libseccomp.
EQUAL, MASKED_EQUAL = 4, 7
# Of linux/sched.h: cgroup, uts, ipc, user, pid, net, mount, time.
NAMESPACES = [0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x00000080]


def read_unit(path, replaced):
    settings = {}
    for line in open(path, encoding="utf-8"):
        name, equals, value = line.rstrip("\n").partition("=")
        if equals and not line.startswith("#"):
            settings.setdefault(name, []).append(value)
    for setting in replaced:
        name, _, value = setting.partition("=")
        settings[name] = [value]
    return settings


def words_of(line):
    """Words in double quotes, with escapes as in C and %% for %."""
    words = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    short = {"n": "\n", "t": "\t"}

    def unescape(match):
        letter = match[1]
        return chr(int(letter[1:], 16)) if letter[0] == "u" else short.get(letter, letter)

    return [re.sub(r"\\(u[0-9a-f]{4}|.)", unescape, word).replace("%%", "%") for word in words]


def calls_of(group):
    lines = subprocess.run(["systemd-analyze", "syscall-filter", group], check=True, capture_output=True, text=True).stdout
    names = set()
    for line in lines.splitlines()[1:]:
        name = line.strip()
        if name.startswith("@"):
            names |= calls_of(name)
        elif name and not name.startswith("#"):
            names.add(name)
    return names


def filters_of(settings):
    """Loads the filters into this process. Where several apply, the kernel takes the strictest."""
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    seccomp.seccomp_init.argtypes = [ctypes.c_uint32]
    seccomp.seccomp_load.argtypes = [ctypes.c_void_p]
    seccomp.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(Compare)]
    number_of = lambda name: seccomp.seccomp_syscall_resolve_name(name.encode())

    def add(context, action, name, *compares):
        number = number_of(name)
        if number < 0:
            # This processor does not have it.
            return
        array = (Compare * len(compares))(*compares)
        failed = seccomp.seccomp_rule_add_array(context, action, number, len(compares), array)
        if failed:
            raise OSError(-failed, f"no rule for {name}")

    calls = seccomp.seccomp_init(refuse(getattr(errno, settings["SystemCallErrorNumber"][0])))
    for name in {name for group in settings["SystemCallFilter"][0].split() for name in calls_of(group)}:
        add(calls, ALLOW, name)

    families = seccomp.seccomp_init(ALLOW)
    allowed = {getattr(socket, name) for name in settings["RestrictAddressFamilies"][0].split()}
    for family in range(64):
        if family not in allowed:
            add(families, refuse(errno.EAFNOSUPPORT), "socket", Compare(0, EQUAL, family, 0))

    namespaces = seccomp.seccomp_init(ALLOW)
    if settings["RestrictNamespaces"] == ["yes"]:
        # The flags of clone3 are in memory, where a filter cannot read them.
        add(namespaces, refuse(errno.ENOSYS), "clone3")
        for flag in NAMESPACES:
            add(namespaces, refuse(errno.EPERM), "unshare", Compare(0, MASKED_EQUAL, flag, flag))
            add(namespaces, refuse(errno.EPERM), "clone", Compare(0, MASKED_EQUAL, flag, flag))

    # The first filter may forbid to load the next.
    for context in [families, namespaces, calls]:
        failed = seccomp.seccomp_load(context)
        if failed:
            raise OSError(-failed, "the filter was not loaded")


def start(settings):
    environment = {name: os.environ[name] for name in ["HOME", "PATH", "XDG_RUNTIME_DIR"] if name in os.environ}
    for line in settings.get("Environment", []):
        name, _, value = words_of(line)[0].partition("=")
        environment[name] = value
    first, *others = words_of(settings["ExecStart"][0])
    command = [first] + [word.replace("$$", "$") for word in others]
    pid = os.fork()
    if pid > 0:
        return pid
    try:
        os.umask(int(settings["UMask"][0], 8))
        os.nice(int(settings["Nice"][0]))
        filters_of(settings)
        os.execve(command[0], command, environment)
    except BaseException as error:
        print(f"not started: {error}", file=sys.stderr, flush=True)
        os._exit(127)


def main():
    settings = read_unit(sys.argv[1], sys.argv[2:])
    final = [int(code) for code in settings["RestartPreventExitStatus"][0].split()]
    running = {"pid": 0, "stopping": False}

    def stop(*_):
        running["stopping"] = True
        os.kill(running["pid"], signal.SIGTERM)

    signal.signal(signal.SIGTERM, stop)
    while True:
        running["pid"] = start(settings)
        print(f"started {running['pid']}", flush=True)
        _, status = os.waitpid(running["pid"], 0)
        code = os.waitstatus_to_exitcode(status)
        print(f"ended {code}", flush=True)
        if running["stopping"] or code == 0 or code in final or settings["Restart"] != ["on-failure"]:
            sys.exit(max(code, 0))
        time.sleep(float(settings["RestartSec"][0]))


main()
