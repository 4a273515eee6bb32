/**
 * Which of the sockets that share a port gets a packet: by a program of the kernel's classic packet filter, which says the place of the
 * socket among them. A new program takes the place of the old one at once, and no packet is lost.
 *
 * The program belongs to all sockets of the port, those of other processes included. Sockets have places in the order in which they
 * were bound; when one leaves, the last takes its place. A place beyond the last means that the kernel chooses by a hash of the
 * addresses of client and server, as without a program.
 */
import { SO_ATTACH_REUSEPORT_CBPF } from './linux.ts';
import { attachProgram, CODE, type Instruction, RANDOM_WORD } from './packet-program.ts';

/** `by client`: the kernel's hash. `first`: each packet to one of the first so many sockets, drawn by chance. */
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
 * Says how packets are spread over the sockets that share the port of one of them.
 *
 * @returns 0, or the error number if the kernel refuses: then everything stays as it was
 */
export function steerPort(fd: number, spread: Spread): number {
  return attachProgram(fd, SO_ATTACH_REUSEPORT_CBPF, compile(spread));
}
