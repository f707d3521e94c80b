"""What a command is parted from by the kernel before it starts: the keyring of who started it, and refused calls."""

from __future__ import annotations

import ctypes
import os

_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_KEYCTL_JOIN_SESSION_KEYRING = 1
_INSTRUCTION_BYTES = 8

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def leave_keyring(keyctl: int) -> None:
    """Join a new, empty session keyring; `keyctl` is the call's number here. A kernel without keys, or a user who may
    have no more of them, is no fault: the filter refuses the call to the command anyway."""
    _libc.syscall(ctypes.c_long(keyctl), ctypes.c_long(_KEYCTL_JOIN_SESSION_KEYRING), None)


def install(instructions: bytes) -> None:
    """Have the kernel ask this filter at each call from now on, of this process and all that it starts. Raises OSError."""
    program = _Program(len(instructions) // _INSTRUCTION_BYTES, instructions)
    for arguments in (
        (_PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), ctypes.c_ulong(0), ctypes.c_ulong(0), ctypes.c_ulong(0)),
        (_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(program)),
    ):
        if _libc.prctl(*arguments) != 0:
            error = ctypes.get_errno()
            raise OSError(error, f"the kernel refuses the filter of calls: {os.strerror(error)}")
