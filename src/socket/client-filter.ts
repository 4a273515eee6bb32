/**
 * A filter of the kernel that lets through only a part of some clients' packets: what it drops takes no place in the receive buffer, and
 * the time of its sender alone.
 *
 * It is a program of classic BPF (`SO_ATTACH_FILTER`, which needs no privilege), laid out as in `linux/filter.h`:
 *
 *     struct sock_filter   0 code (2)  2 jump if true (1)  3 jump if false (1)  4 operand (4)
 *     struct sock_fprog    0 number of instructions (2)  8 pointer to them (8)
 */
import { libc } from './libc.ts';
import { AF_INET, SO_ATTACH_FILTER, SO_DETACH_FILTER, SOL_SOCKET } from './linux.ts';

/** A client of whose packets one in `share` is let through. */
export interface LimitedClient {
  readonly family: number;
  /** 4 octets for IPv4, 16 for IPv6, in network order. */
  readonly address: Uint8Array;
  /** A power of two. */
  readonly share: number;
}

/** Clients that a filter can know: each costs every packet up to eight instructions. */
export const MAX_LIMITED_CLIENTS = 16;

const INSTRUCTION_OCTETS = 8;
/** For a client with an address of IPv6. */
const MAX_INSTRUCTIONS = 13;
const PROGRAM_OCTETS = 16;
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_IF_EQUAL = 0x15;
const RETURN = 0x06;
/** `SKF_NET_OFF`: offsets from here on count from the IP header. */
const IP_HEADER = 0xfff0_0000;
/** `SKF_AD_OFF + SKF_AD_RANDOM`: loads a random number. */
const RANDOM = 0xffff_f000 + 56;
const IPV4_SOURCE = 12;
const IPV6_SOURCE = 8;
const PASS = 0xffff_ffff;
const DROP = 0;

/** The instructions of the filter that is attached. The kernel copies them; until then they must stay where they are. */
const code = new ArrayBuffer((MAX_LIMITED_CLIENTS * MAX_INSTRUCTIONS + 1) * INSTRUCTION_OCTETS);

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

/**
 * Limits these clients at a socket, and no others; no client at all removes the filter. The change is whole at once.
 *
 * @param clients at most `MAX_LIMITED_CLIENTS`, each address once
 * @returns whether the kernel took the filter
 */
export function limitClients(fd: number, clients: readonly LimitedClient[]): boolean {
  if (clients.length === 0) {
    // It fails where there is no filter, which is what was asked for.
    libc().setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, new Uint8Array(4), 4);
    return true;
  }
  const instructions = [...clients.flatMap(instructionsFor), [RETURN, 0, 0, PASS] as const];
  const view = new DataView(code);
  for (const [index, [operation, ifTrue, ifFalse, operand]] of instructions.entries()) {
    const at = index * INSTRUCTION_OCTETS;
    view.setUint16(at, operation, true);
    view.setUint8(at + 2, ifTrue);
    view.setUint8(at + 3, ifFalse);
    view.setUint32(at + 4, operand, true);
  }
  const program = new DataView(new ArrayBuffer(PROGRAM_OCTETS));
  program.setUint16(0, instructions.length, true);
  program.setBigUint64(8, libc().addressOf(code), true);
  const value = new Uint8Array(program.buffer);
  return libc().setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, value, PROGRAM_OCTETS) === 0;
}

/** What is done with a packet of one client; those of others go on to what stands behind. */
function instructionsFor({ family, address, share }: LimitedClient): readonly Instruction[] {
  const first = IP_HEADER + (family === AF_INET ? IPV4_SOURCE : IPV6_SOURCE);
  const view = new DataView(address.buffer, address.byteOffset, address.length);
  const limit: readonly Instruction[] = [
    [LOAD_WORD, 0, 0, RANDOM],
    [AND, 0, 0, share - 1],
    [JUMP_IF_EQUAL, 0, 1, 0],
    [RETURN, 0, 0, PASS],
    [RETURN, 0, 0, DROP],
  ];
  const words = address.length / 4;
  const comparisons = Array.from({ length: words }, (_, word): readonly Instruction[] => [
    [LOAD_WORD, 0, 0, first + word * 4],
    // Past the words that are left, and past what limits the client.
    [JUMP_IF_EQUAL, 0, (words - 1 - word) * 2 + limit.length, view.getUint32(word * 4)],
  ]);
  return [...comparisons.flat(), ...limit];
}
