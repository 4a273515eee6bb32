/**
 * The C library, called through koffi: the only access to system calls that Node does not offer.
 *
 * It is loaded on first use, since koffi is native code: if it cannot be loaded, the rest of the program still runs,
 * over `node:dgram`. The library is the one that Node itself uses (`load(null)`), glibc or musl.
 */
import { createRequire } from 'node:module';
import { arch, endianness, platform } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { describeError } from '../base/describe-error.ts';
import { heapTrimmer, returnFreedMemory } from './allocator.ts';
import { EIO } from './linux.ts';

/** An address in this process's memory, for fields and arguments that are pointers. */
export type Pointer = bigint;

/** Functions return -1 on failure; then `errno` has the reason until the next call. */
export interface Libc {
  socket(family: number, type: number, protocol: number): number;
  bind(fd: number, address: Uint8Array, length: number): number;
  connect(fd: number, address: Uint8Array, length: number): number;
  listen(fd: number, backlog: number): number;
  close(fd: number): number;
  dup2(fd: number, target: number): number;
  getsockname(fd: number, address: Uint8Array, length: Uint32Array): number;
  getsockopt(fd: number, level: number, option: number, value: Uint8Array, length: Uint32Array): number;
  setsockopt(fd: number, level: number, option: number, value: Uint8Array, length: number): number;
  poll(descriptors: Pointer, count: number, milliseconds: number): number;
  epoll_create1(flags: number): number;
  epoll_ctl(epoll: number, operation: number, fd: number, event: Uint8Array): number;
  epoll_wait(epoll: number, events: Pointer, count: number, milliseconds: number): number;
  /** @returns the number of octets read; 0: the peer has closed */
  recv(fd: number, into: Uint8Array, length: number, flags: number): number;
  /** @returns the number of octets accepted */
  send(fd: number, octets: Uint8Array, length: number, flags: number): number;
  /**
   * `send` on a thread of Node's pool, for a call that may wait in the kernel.
   *
   * @param octets unchanged until it resolves
   * @returns 0, or the error number
   */
  sendLater(fd: number, octets: Uint8Array, flags: number): Promise<number>;
  recvmmsg(fd: number, headers: Pointer, count: number, flags: number, timeout: null): number;
  sendmmsg(fd: number, headers: Pointer, count: number, flags: number): number;
  madvise(address: Pointer, length: number, advice: number): number;
  prctl(option: number, value: number, third: number, fourth: number, fifth: number): number;
  /** A system call with two numbers and a pointer. */
  syscall(number: number, first: number, second: number, third: Uint8Array): number;
  errno(): number;
  /** The symbol of an error number, `EADDRINUSE`. */
  errorName(errno: number): string;
  /** Returns memory that is free to the system, see `heapTrimmer`. */
  trimHeaps(): void;
  /** The address of the octets. Keep a reference to them while the pointer is in use. */
  toPointer(memory: ArrayBuffer): Pointer;
}

const PROTOTYPES = {
  socket: 'int socket(int, int, int)',
  bind: 'int bind(int, const void *, uint32_t)',
  connect: 'int connect(int, const void *, uint32_t)',
  listen: 'int listen(int, int)',
  close: 'int close(int)',
  dup2: 'int dup2(int, int)',
  getsockname: 'int getsockname(int, void *, void *)',
  getsockopt: 'int getsockopt(int, int, int, void *, void *)',
  setsockopt: 'int setsockopt(int, int, int, const void *, uint32_t)',
  poll: 'int poll(void *, unsigned long, int)',
  epoll_create1: 'int epoll_create1(int)',
  epoll_ctl: 'int epoll_ctl(int, int, int, void *)',
  epoll_wait: 'int epoll_wait(int, void *, int, int)',
  recv: 'long recv(int, void *, size_t, int)',
  send: 'long send(int, const void *, size_t, int)',
  recvmmsg: 'int recvmmsg(int, void *, unsigned int, int, void *)',
  sendmmsg: 'int sendmmsg(int, void *, unsigned int, int)',
  madvise: 'int madvise(void *, size_t, int)',
  prctl: 'int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)',
  syscall: 'long syscall(long, unsigned long, unsigned long, const void *)',
} as const;

const PROCESSORS: readonly string[] = ['x64', 'arm64', 'riscv64', 'loong64'];

let loaded: Libc | undefined;

/** The machine, in Node's terms. */
export interface Platform {
  readonly system: string;
  readonly processor: string;
  readonly endianness: 'LE' | 'BE';
}

const THIS_MACHINE: Platform = { system: platform(), processor: arch(), endianness: endianness() };

/**
 * Whether batches of packets work on this machine.
 *
 * @returns `true`, or the reason why not, as text
 */
export function batchesAvailable(machine = THIS_MACHINE): true | { readonly reason: string } {
  const { system, processor } = machine;
  if (system !== 'linux') return { reason: `the operating system is ${system}, not linux` };
  if (!PROCESSORS.includes(processor) || machine.endianness !== 'LE')
    return { reason: `packet layouts are not known for processor ${processor}` };
  try {
    libc();
    return true;
  } catch (error) {
    return {
      reason: `the C library cannot be called: ${describeError(error)}`,
    };
  }
}

/**
 * The C library of this thread.
 *
 * @throws Error if koffi or one of the functions is not available
 */
export function libc(): Libc {
  loaded ??= load();
  return loaded;
}

function load(): Libc {
  // A static import would fail the whole program where koffi has no build for the machine.
  const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
  const library = koffi.load(null);
  if (isMainThread) returnFreedMemory(library);
  const functions = Object.fromEntries(
    Object.entries(PROTOTYPES).map(([name, prototype]) => [name, library.func(prototype)]),
  );
  // The first of several names for one number is the usual one: EAGAIN, not EWOULDBLOCK.
  const names = new Map(
    Object.entries(koffi.os.errno)
      .map(([name, errno]) => [errno, name] as const)
      .reverse(),
  );
  const { send } = functions;
  return {
    // koffi types every function as (...any) => any; the prototypes above match the interface.
    ...(functions as unknown as Pick<Libc, keyof typeof PROTOTYPES>),
    sendLater: (fd, octets, flags) =>
      new Promise((resolve, reject) => {
        send?.async(fd, octets, octets.length, flags, (error: unknown, sent: number) => {
          // The error number is that of the call until this returns.
          if (error === null) resolve(sent < 0 ? koffi.errno() || EIO : 0);
          else reject(error instanceof Error ? error : new Error(String(error)));
        });
      }),
    errno: () => koffi.errno(),
    errorName: (errno) => names.get(errno) ?? `error ${errno}`,
    trimHeaps: heapTrimmer(library),
    toPointer: (memory) => koffi.address(new Uint8Array(memory)),
  };
}
