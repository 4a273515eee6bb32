/**
 * Chooses which of the sockets that share a port gets a packet: a classic BPF program returns the position of the
 * socket. A new program replaces the old one at once, without packet loss.
 *
 * The program belongs to all sockets of the port, those of other processes included. Sockets have positions in the
 * order in which they were bound; when one leaves, the last takes its position. For a position beyond the last, the
 * kernel chooses by a hash of the client and server addresses, as without a program.
 */
import { SO_ATTACH_REUSEPORT_CBPF } from './linux.ts';
import { attachProgram, CODE, type Instruction, RANDOM_WORD } from './packet-program.ts';

/** `by client`: the kernel's hash. `first`: a random one of the first `sockets` sockets for each packet. */
export type Spread = { readonly kind: 'by client' } | { readonly kind: 'first'; readonly sockets: number };

const NO_PLACE = 0xffff_ffff;

function compile(spread: Spread): readonly Instruction[] {
  switch (spread.kind) {
    case 'by client':
      return [[CODE.RETURN, 0, 0, NO_PLACE]];
    case 'first':
      if (spread.sockets === 1) return [[CODE.RETURN, 0, 0, 0]];
      return [
        [CODE.LOAD_WORD, 0, 0, RANDOM_WORD],
        [CODE.MODULO, 0, 0, spread.sockets],
        [CODE.RETURN_REGISTER, 0, 0, 0],
      ];
  }
}

/**
 * Sets how packets are spread over all sockets that share the port of this one.
 *
 * @returns 0, or the error number if the kernel refuses: then the previous program stays
 */
export function steerPort(fd: number, spread: Spread): number {
  return attachProgram(fd, SO_ATTACH_REUSEPORT_CBPF, compile(spread));
}
