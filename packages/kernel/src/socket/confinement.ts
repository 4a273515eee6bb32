/**
 * Takes rights away from the whole process that a running server never uses: to run programs, to look into other processes, and to open
 * sockets of rare kinds. The kernel then answers such calls with EPERM; it never ends the process. Nothing gives the rights back.
 *
 * The means is a seccomp filter (`linux/seccomp.h`), which all threads get at once (TSYNC), and later threads from the one that starts
 * them. The filter sees numbers, not what a pointer points to:
 *
 *     struct seccomp_data   0 number of the call (4)  4 processor (4)  8 instruction (8)  16 six arguments (8 each)
 */
import { arch } from 'node:os';
import { batchesAvailable, libc } from './libc.ts';
import { AF_INET, AF_INET6, AF_NETLINK, AF_UNIX, EINVAL, ENOSYS, EPERM } from './linux.ts';
import { CODE, type Instruction, layOut } from './packet-program.ts';
import { SYSTEM_CALLS, type SystemCalls } from './system-calls.ts';

const NUMBER_AT = 0;
const PROCESSOR_AT = 4;
const FIRST_ARGUMENT_AT = 16;
/** What a filter returns. */
const ALLOW = 0x7fff_0000;
const FAIL_WITH = 0x0005_0000;
/** Of `linux/sched.h`: `clone` starts a thread of this process. */
const CLONE_THREAD = 0x0001_0000;
/** NETLINK is how libc lists the interfaces. */
const FAMILIES = [AF_UNIX, AF_INET, AF_INET6, AF_NETLINK];

const PR_SET_NO_NEW_PRIVS = 38;
const SECCOMP_SET_MODE_FILTER = 1;
const SECCOMP_FILTER_FLAG_TSYNC = 1;
/** Kernels before 5.16 else slow down speculation in filtered processes, to guard code that we do not have. Since 4.17. */
const SECCOMP_FILTER_FLAG_SPEC_ALLOW = 4;

/**
 * Confines the process.
 *
 * @returns `true`, or the reason why it has all its rights still, as text
 */
export function confine(processor: string = arch()): true | { readonly reason: string } {
  const calls = SYSTEM_CALLS.get(processor);
  if (calls === undefined) return { reason: `system calls are not known for processor ${processor}` };
  const available = batchesAvailable();
  if (available !== true) return available;
  // Without it, only a privileged process may install a filter.
  if (libc().prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) !== 0) return refusal('prctl');
  let result = install(calls, SECCOMP_FILTER_FLAG_TSYNC | SECCOMP_FILTER_FLAG_SPEC_ALLOW);
  if (result < 0 && libc().errno() === EINVAL) result = install(calls, SECCOMP_FILTER_FLAG_TSYNC);
  if (result === 0) return true;
  return result > 0 ? { reason: `thread ${result} has another filter` } : refusal('seccomp');
}

/** @returns 0, the number of a thread that cannot have the filter, or -1 */
function install(calls: SystemCalls, flags: number): number {
  return libc().syscall(
    calls.seccomp,
    SECCOMP_SET_MODE_FILTER,
    flags,
    layOut(createConfinementFilter(calls)),
  );
}

function refusal(call: string): { readonly reason: string } {
  return { reason: `the kernel refuses ${call}: ${libc().errorName(libc().errno())}` };
}

/**
 * The filter. Threads may start, processes may not: `clone` says which in its first argument. `clone3` says it in memory, which a filter
 * does not see, so it is answered as by a kernel without it, and libc takes `clone`.
 */
export function createConfinementFilter(calls: SystemCalls): readonly Instruction[] {
  const { architecture, foreignFrom, refused, clone, clone3, sockets } = calls;
  const isSocket: readonly Instruction[] = [
    [CODE.LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT],
    ...FAMILIES.map((family, index): Instruction => {
      return [CODE.JUMP_IF_EQUAL, FAMILIES.length - index, 0, family];
    }),
    [CODE.RETURN, 0, 0, FAIL_WITH | EPERM],
    [CODE.RETURN, 0, 0, ALLOW],
  ];
  const isClone: readonly Instruction[] = [
    [CODE.LOAD_WORD, 0, 0, FIRST_ARGUMENT_AT],
    [CODE.JUMP_IF_ANY_BIT, 1, 0, CLONE_THREAD],
    [CODE.RETURN, 0, 0, FAIL_WITH | EPERM],
    [CODE.RETURN, 0, 0, ALLOW],
  ];
  return [
    [CODE.LOAD_WORD, 0, 0, PROCESSOR_AT],
    ...unless(CODE.JUMP_IF_EQUAL, architecture, [[CODE.RETURN, 0, 0, FAIL_WITH | EPERM]]),
    [CODE.LOAD_WORD, 0, 0, NUMBER_AT],
    ...(foreignFrom === undefined ? [] : when(CODE.JUMP_IF_AT_LEAST, foreignFrom, FAIL_WITH | EPERM)),
    ...refused.flatMap((number) => when(CODE.JUMP_IF_EQUAL, number, FAIL_WITH | EPERM)),
    ...when(CODE.JUMP_IF_EQUAL, clone3, FAIL_WITH | ENOSYS),
    [CODE.JUMP_IF_EQUAL, 0, isClone.length, clone],
    ...isClone,
    ...sockets.flatMap((number): readonly Instruction[] => [
      [CODE.JUMP_IF_EQUAL, 0, isSocket.length, number],
      ...isSocket,
    ]),
    [CODE.RETURN, 0, 0, ALLOW],
  ];
}

/** Returns a verdict if the loaded word meets a condition. */
function when(condition: number, operand: number, verdict: number): readonly Instruction[] {
  return [
    [condition, 0, 1, operand],
    [CODE.RETURN, 0, 0, verdict],
  ];
}

/** Skips instructions if the loaded word meets a condition. */
function unless(
  condition: number,
  operand: number,
  instructions: readonly Instruction[],
): readonly Instruction[] {
  return [[condition, instructions.length, 0, operand], ...instructions];
}
