/**
 * A kernel filter that passes only a part of some clients' packets. Dropped packets take no space in the receive
 * buffer, and cost only their sender's time.
 *
 * It is a program of the packet filter (`SO_ATTACH_FILTER`), which needs no privilege.
 */
import { libc } from './libc.ts';
import { SO_ATTACH_FILTER, SO_DETACH_FILTER, SOL_SOCKET } from './linux.ts';
import { attachProgram, CODE, type Instruction, RANDOM_WORD } from './packet-program.ts';

/** A client that is limited to one in `share` of its packets. */
export interface LimitedClient {
  /** 4 octets for IPv4, 16 for IPv6, in network order. */
  readonly address: Uint8Array;
  /** A power of two. */
  readonly share: number;
}

/** Maximum of clients in a filter: each costs every packet up to eight instructions. */
export const MAX_LIMITED_CLIENTS = 16;

/** `SKF_NET_OFF`: offsets from here on count from the IP header. */
const IP_HEADER = 0xfff0_0000;
const IPV4_SOURCE = 12;
const IPV6_SOURCE = 8;
const PASS = 0xffff_ffff;
const DROP = 0;

/**
 * Limits exactly these clients at a socket; an empty list removes the filter. The change is atomic.
 *
 * @param clients at most `MAX_LIMITED_CLIENTS`, each address once
 * @returns whether the kernel accepted the filter
 */
export function limitClients(fd: number, clients: readonly LimitedClient[]): boolean {
  if (clients.length === 0) {
    // Fails if there is no filter, which is the desired state.
    libc().setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, new Uint8Array(4), 4);
    return true;
  }
  const instructions = [...clients.flatMap(instructionsFor), [CODE.RETURN, 0, 0, PASS] as const];
  return attachProgram(fd, SO_ATTACH_FILTER, instructions) === 0;
}

/** The instructions for packets of one client; packets of others continue after them. */
function instructionsFor({ address, share }: LimitedClient): readonly Instruction[] {
  const first = IP_HEADER + (address.length === 4 ? IPV4_SOURCE : IPV6_SOURCE);
  const view = new DataView(address.buffer, address.byteOffset, address.length);
  const limit: readonly Instruction[] = [
    [CODE.LOAD_WORD, 0, 0, RANDOM_WORD],
    [CODE.AND, 0, 0, share - 1],
    [CODE.JUMP_IF_EQUAL, 0, 1, 0],
    [CODE.RETURN, 0, 0, PASS],
    [CODE.RETURN, 0, 0, DROP],
  ];
  const words = address.length / 4;
  const comparisons = Array.from({ length: words }, (_, word): readonly Instruction[] => [
    [CODE.LOAD_WORD, 0, 0, first + word * 4],
    // Skip the remaining words, and the instructions that limit the client.
    [CODE.JUMP_IF_EQUAL, 0, (words - 1 - word) * 2 + limit.length, view.getUint32(word * 4)],
  ]);
  return [...comparisons.flat(), ...limit];
}
