"""What a command is parted from by the kernel before it starts: the keyring of who started it, files, rights and calls."""

from __future__ import annotations

import ctypes
import os

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_KEYCTL_JOIN_SESSION_KEYRING = 1
_INSTRUCTION_BYTES = 8
_S_IFMT, _S_IFDIR, _S_IFLNK = 0o170000, 0o040000, 0o120000

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15
"""The rights that a rule about a file may give: to execute, write, read, truncate it, and to make requests of a device."""

_WRITTEN = 1 << 1 | 1 << 14
"""The rights to write and to truncate a file."""

_CAPABILITIES_VERSION = 0x2008_0522
_KEPT_CAPABILITIES = 1 << 0 | 1 << 1 | 1 << 3 | 1 << 4
"""Those by which root works with files of others: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_FSETID."""

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


class _CapabilityHeader(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def leave_keyring(keyctl: int) -> None:
    """Join a new, empty session keyring; `keyctl` is the call's number here. A kernel without keys, or a user who may
    have no more of them, is no fault: the filter refuses the call to the command anyway."""
    _libc.syscall(ctypes.c_long(keyctl), ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING), None)


def enclose(files: int, network: int, scopes: int, rules: list[tuple[str, int]]) -> None:
    """Enter a domain of Landlock, with all that is started from here. Raises OSError.

    Rights over `files` are refused but where a rule gives them below its path; what is asked of the `network` is refused;
    and nothing outside is reached in the `scopes`. A path that is gone, or is now a link, gives nothing.

    What the kernel tells of this process itself may be written, as far as its owner may: a library names threads there, and
    without that CUDA does not start.
    """
    _drop_capabilities()
    _no_new_privileges()
    wanted = _Ruleset(files, network, scopes)
    # Older kernels know less of it, and take no more than they know.
    size = 24 if scopes else 16 if network else 8
    ruleset = _checked(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))
    for path, rights in [*rules, (f"/proc/{os.getpid()}", _WRITTEN & files)]:
        try:
            place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        kind = os.fstat(place).st_mode & _S_IFMT
        if kind != _S_IFLNK:
            rule = _Beneath(rights if kind == _S_IFDIR else rights & _OF_FILES, place)
            _checked(
                _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0)
            )
        os.close(place)
    _checked(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def install(instructions: bytes) -> None:
    """Have the kernel ask this filter at each call from now on, of this process and all that it starts. Raises OSError."""
    _no_new_privileges()
    program = _Program(len(instructions) // _INSTRUCTION_BYTES, instructions)
    if _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program)) != 0:
        raise _refused("the filter of calls")


def _drop_capabilities() -> None:
    """Root reads the whole machine's memory by /proc/kcore, and more: what is not about files is given up, for good."""
    header = _CapabilityHeader(_CAPABILITIES_VERSION, 0)
    held = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable; then the same of capabilities above 31
    if _libc.capget(ctypes.byref(header), held) != 0:
        raise _refused("to tell the capabilities")
    for index in range(3):
        held[index] &= _KEPT_CAPABILITIES
        held[index + 3] = 0
    if _libc.capset(ctypes.byref(header), held) != 0:
        raise _refused("fewer capabilities")


def _no_new_privileges() -> None:
    one, nothing = ctypes.c_ulong(1), ctypes.c_ulong(0)
    if _libc.prctl(_PR_SET_NO_NEW_PRIVS, one, nothing, nothing, nothing) != 0:
        raise _refused("to give no new privileges")


def _checked(number: int, *arguments: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise _refused("a domain of Landlock")
    return result


def _refused(what: str) -> OSError:
    error = ctypes.get_errno()
    return OSError(error, f"the kernel refuses {what}: {os.strerror(error)}")
