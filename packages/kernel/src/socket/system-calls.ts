/**
 * The numbers of the system calls that a confined process may not make, of `asm/unistd.h` for each processor.
 */

export interface SystemCalls {
  /** `AUDIT_ARCH_…` of `linux/audit.h`: how the kernel names the processor's own calls. */
  readonly architecture: number;
  /** Calls from this number on belong to another interface of the processor (x32); undefined: there is none. */
  readonly foreignFrom: number | undefined;
  /** Calls that run a program, take over another process, or change what the process may do or see. */
  readonly refused: readonly number[];
  /** Start a thread, or a process. */
  readonly clone: number;
  readonly clone3: number;
  /** Open a socket, or two: the first argument is the family. */
  readonly sockets: readonly number[];
  readonly seccomp: number;
}

/** By the processor, in Node's terms. */
export const SYSTEM_CALLS: ReadonlyMap<string, SystemCalls> = new Map([
  [
    'x64',
    {
      architecture: 0xc000_003e,
      foreignFrom: 0x4000_0000,
      refused: [
        59,
        322, // execve, execveat
        ...[57, 58], // fork, vfork
        ...[101, 310, 311, 438], // ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
        ...[425, 321, 298, 323], // io_uring_setup, bpf, perf_event_open, userfaultfd
        ...[272, 308, 165, 166, 155, 161], // unshare, setns, mount, umount2, pivot_root, chroot
        ...[175, 313, 246, 320], // init_module, finit_module, kexec_load, kexec_file_load
        ...[248, 249, 250], // add_key, request_key, keyctl
      ],
      clone: 56,
      clone3: 435,
      sockets: [41, 53],
      seccomp: 317,
    },
  ],
  [
    'arm64',
    {
      architecture: 0xc000_00b7,
      foreignFrom: undefined,
      refused: [
        221,
        281, // execve, execveat; there is no fork
        ...[117, 270, 271, 438], // ptrace, process_vm_readv, process_vm_writev, pidfd_getfd
        ...[425, 280, 241, 282], // io_uring_setup, bpf, perf_event_open, userfaultfd
        ...[97, 268, 40, 39, 41, 51], // unshare, setns, mount, umount2, pivot_root, chroot
        ...[105, 273, 104, 294], // init_module, finit_module, kexec_load, kexec_file_load
        ...[217, 218, 219], // add_key, request_key, keyctl
      ],
      clone: 220,
      clone3: 435,
      sockets: [198, 199],
      seccomp: 277,
    },
  ],
]);
