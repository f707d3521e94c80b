"""The one list of the kernel's calls: what a sandbox may ask for, what it may not, and their numbers.

A call is `name:number on x86_64:number on aarch64`, with `-` where the machine has no such call. What is allowed is what
Python, JAX, Rust, Cargo, git, compilers and a shell ask for; some of it only with some arguments (`program`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping

MACHINES = ("x86_64", "aarch64")

NEWEST = 462
"""The newest call that is listed. Newer ones do not exist for a sandbox, so that libraries take an older one."""

_ALLOWED: Mapping[str, str] = {
    "files": """
        read:0:63 write:1:64 open:2:- close:3:57 stat:4:- fstat:5:80 lstat:6:- poll:7:- lseek:8:62
        pread64:17:67 pwrite64:18:68 readv:19:65 writev:20:66 access:21:- pipe:22:- select:23:- dup:32:23
        dup2:33:- sendfile:40:71 fcntl:72:25 flock:73:32 fsync:74:82 fdatasync:75:83 truncate:76:45
        ftruncate:77:46 getdents:78:- getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 rename:82:-
        mkdir:83:- rmdir:84:- creat:85:- link:86:- unlink:87:- symlink:88:- readlink:89:- chmod:90:-
        fchmod:91:52 chown:92:- fchown:93:55 lchown:94:- umask:95:166 utime:132:- utimes:235:-
        futimesat:261:- mknod:133:- mknodat:259:33 statfs:137:43 fstatfs:138:44 ustat:136:- openat:257:56
        openat2:437:437 mkdirat:258:34 fchownat:260:54 newfstatat:262:79 unlinkat:263:35 renameat:264:38
        renameat2:316:276 linkat:265:37 symlinkat:266:36 readlinkat:267:78 fchmodat:268:53 fchmodat2:452:452
        faccessat:269:48 faccessat2:439:439 pselect6:270:72 ppoll:271:73 splice:275:76 tee:276:77
        vmsplice:278:75 sync:162:81 sync_file_range:277:84 syncfs:306:267 utimensat:280:88 fallocate:285:47
        dup3:292:24 pipe2:293:59 preadv:295:69 pwritev:296:70 preadv2:327:286 pwritev2:328:287
        copy_file_range:326:285 statx:332:291 close_range:436:436 readahead:187:213 fadvise64:221:223
        setxattr:188:5 lsetxattr:189:6 fsetxattr:190:7 getxattr:191:8 lgetxattr:192:9 fgetxattr:193:10
        listxattr:194:11 llistxattr:195:12 flistxattr:196:13 removexattr:197:14 lremovexattr:198:15
        fremovexattr:199:16 epoll_create:213:- epoll_ctl:233:21 epoll_wait:232:- epoll_create1:291:20
        epoll_pwait:281:22 epoll_pwait2:441:441 eventfd:284:- eventfd2:290:19 memfd_create:319:279
        ioctl:16:29
    """,
    "memory": """
        mmap:9:222 mprotect:10:226 munmap:11:215 brk:12:214 mremap:25:216 msync:26:227 mincore:27:232
        madvise:28:233 mlock:149:228 mlock2:325:284 munlock:150:229 mlockall:151:230 munlockall:152:231
        membarrier:324:283 pkey_mprotect:329:288 pkey_alloc:330:289 pkey_free:331:290
        map_shadow_stack:453:453 mseal:462:462 get_mempolicy:239:236
    """,
    "processes and threads": """
        fork:57:- vfork:58:- clone:56:220 execve:59:221 execveat:322:281 exit:60:93 exit_group:231:94
        wait4:61:260 waitid:247:95 kill:62:129 tkill:200:130 tgkill:234:131 getpid:39:172 getppid:110:173
        gettid:186:178 getpgrp:111:- getpgid:121:155 setpgid:109:154 getsid:124:156 setsid:112:157
        getrusage:98:165 times:100:153 getrlimit:97:163 setrlimit:160:164 prlimit64:302:261
        getpriority:140:141 setpriority:141:140 sched_yield:24:124 sched_setparam:142:118
        sched_getparam:143:121 sched_setscheduler:144:119 sched_getscheduler:145:120
        sched_get_priority_max:146:125 sched_get_priority_min:147:126 sched_rr_get_interval:148:127
        sched_setaffinity:203:122 sched_getaffinity:204:123 sched_setattr:314:274 sched_getattr:315:275
        prctl:157:167 arch_prctl:158:- set_tid_address:218:96 set_robust_list:273:99 get_robust_list:274:100
        futex:202:98 futex_waitv:449:449 futex_wake:454:454 futex_wait:455:455 futex_requeue:456:456
        rseq:334:293 restart_syscall:219:128 getcpu:309:168 pidfd_open:434:434 pidfd_send_signal:424:424
        ioprio_get:252:31 landlock_create_ruleset:444:444 landlock_add_rule:445:445
        landlock_restrict_self:446:446
    """,
    "signals and time": """
        rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136
        rt_sigtimedwait:128:137 rt_sigqueueinfo:129:138 rt_tgsigqueueinfo:297:240 rt_sigsuspend:130:133
        sigaltstack:131:132 pause:34:- alarm:37:- getitimer:36:102 setitimer:38:103 signalfd:282:-
        signalfd4:289:74 timer_create:222:107 timer_settime:223:110 timer_gettime:224:108
        timer_getoverrun:225:109 timer_delete:226:111 timerfd_create:283:85 timerfd_settime:286:86
        timerfd_gettime:287:87 nanosleep:35:101 clock_nanosleep:230:115 clock_gettime:228:113
        clock_getres:229:114 gettimeofday:96:169 time:201:-
    """,
    "who and where": """
        getuid:102:174 getgid:104:176 geteuid:107:175 getegid:108:177 setuid:105:146 setgid:106:144
        setreuid:113:145 setregid:114:143 setresuid:117:147 getresuid:118:148 setresgid:119:149
        getresgid:120:150 setfsuid:122:151 setfsgid:123:152 getgroups:115:158 setgroups:116:159
        capget:125:90 uname:63:160 sysinfo:99:179 getrandom:318:278
    """,
    "sockets": """
        socket:41:198 socketpair:53:199 connect:42:203 accept:43:202 accept4:288:242 sendto:44:206
        recvfrom:45:207 sendmsg:46:211 recvmsg:47:212 sendmmsg:307:269 recvmmsg:299:243 shutdown:48:210
        bind:49:200 listen:50:201 getsockname:51:204 getpeername:52:205 setsockopt:54:208 getsockopt:55:209
    """,
}
"""By purpose."""

_REFUSED: Mapping[str, str] = {
    "channels past a namespace": """
        add_key:248:217 request_key:249:218 keyctl:250:219 inotify_init:253:- inotify_init1:294:26
        inotify_add_watch:254:27 inotify_rm_watch:255:28 fanotify_init:300:262 fanotify_mark:301:263
        cachestat:451:451
    """,
    "other processes' memory and files": """
        ptrace:101:117 process_vm_readv:310:270 process_vm_writev:311:271 process_madvise:440:440
        process_mrelease:448:448 pidfd_getfd:438:438 kcmp:312:272 migrate_pages:256:238 move_pages:279:239
    """,
    "the kernel's rarer machinery": """
        bpf:321:280 perf_event_open:298:241 userfaultfd:323:282 io_uring_setup:425:425
        io_uring_enter:426:426 io_uring_register:427:427 io_setup:206:0 io_destroy:207:1 io_getevents:208:4
        io_submit:209:2 io_cancel:210:3 io_pgetevents:333:292 seccomp:317:277 memfd_secret:447:447
        modify_ldt:154:- remap_file_pages:216:234 personality:135:92 mbind:237:235 set_mempolicy:238:237
        set_mempolicy_home_node:450:450 get_thread_area:211:- set_thread_area:205:-
        lsm_get_self_attr:459:459 lsm_set_self_attr:460:460 lsm_list_modules:461:461
    """,
    "namespaces and mounts": """
        clone3:435:435 unshare:272:97 setns:308:268 mount:165:40 umount2:166:39 pivot_root:155:41
        chroot:161:51 open_tree:428:428 move_mount:429:429 fsopen:430:430 fsconfig:431:431 fsmount:432:432
        fspick:433:433 mount_setattr:442:442 statmount:457:457 listmount:458:458 name_to_handle_at:303:264
        open_by_handle_at:304:265
    """,
    "messages and memory of System V and POSIX queues": """
        shmget:29:194 shmat:30:196 shmctl:31:195 shmdt:67:197 semget:64:190 semop:65:193 semctl:66:191
        semtimedop:220:192 msgget:68:186 msgsnd:69:189 msgrcv:70:188 msgctl:71:187 mq_open:240:180
        mq_unlink:241:181 mq_timedsend:242:182 mq_timedreceive:243:183 mq_notify:244:184
        mq_getsetattr:245:185
    """,
    "the machine": """
        reboot:169:142 swapon:167:224 swapoff:168:225 sethostname:170:161 setdomainname:171:162
        settimeofday:164:170 clock_settime:227:112 adjtimex:159:171 clock_adjtime:305:266 iopl:172:-
        ioperm:173:- init_module:175:105 finit_module:313:273 delete_module:176:106 create_module:174:-
        get_kernel_syms:177:- query_module:178:- kexec_load:246:104 kexec_file_load:320:294 syslog:103:116
        acct:163:89 vhangup:153:58 quotactl:179:60 quotactl_fd:443:443 nfsservctl:180:42
        lookup_dcookie:212:18 sysfs:139:- uselib:134:- _sysctl:156:- capset:126:91 ioprio_set:251:30
    """,
    "names without a call behind them": """
        getpmsg:181:- putpmsg:182:- afs_syscall:183:- tuxcall:184:- security:185:- vserver:236:-
        epoll_ctl_old:214:- epoll_wait_old:215:-
    """,
}
"""By what they would open. With the allowed ones these are all calls that there are."""


def allowed(machine: str) -> dict[str, int]:
    """The calls that a sandbox may make on this machine, and their numbers."""
    return _numbers(_ALLOWED, machine)


def refused(machine: str) -> dict[str, int]:
    """The calls that no sandbox may make on this machine, and their numbers."""
    return _numbers(_REFUSED, machine)


def number(name: str) -> int | None:
    """The number of a listed call on the machine that we are on, or None where there is no such call."""
    machine = os.uname().machine
    return None if machine not in MACHINES else {**allowed(machine), **refused(machine)}.get(name)


def _numbers(groups: Mapping[str, str], machine: str) -> dict[str, int]:
    column = 1 + MACHINES.index(machine)
    rows = [entry.split(":") for text in groups.values() for entry in text.split()]
    return {row[0]: int(row[column]) for row in rows if row[column] != "-"}
