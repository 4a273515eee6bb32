/**
 * Which of the sockets that share a port gets a packet: by a program of the kernel's classic packet filter, which says the place of the
 * socket among them. A new program takes the place of the old one at once, and no packet is lost.
 *
 * The program belongs to all sockets of the port, those of other processes included. Sockets have places in the order in which they
 * were bound; when one leaves, the last takes its place. A place beyond the last means that the kernel chooses by a hash of the
 * addresses of client and server, as without a program.
 *
 * A program is `struct sock_filter[]`: code (2), jumps (1 + 1), value (4). It is given as `struct sock_fprog`: their number (2), and
 * at octet 8 a pointer to them.
 */
import { libc } from './libc.ts';
import { SO_ATTACH_REUSEPORT_CBPF, SOL_SOCKET } from './linux.ts';

/** `by client`: the kernel's hash. `first`: all packets to the first socket. `random`: each to one of so many, drawn by chance. */
export type Spread =
  | { readonly kind: 'by client' }
  | { readonly kind: 'first' }
  | { readonly kind: 'random'; readonly sockets: number };

type Instruction = readonly [code: number, value: number];

const CODE = { LOAD_WORD: 0x20, MODULO: 0x94, RETURN_VALUE: 0x06, RETURN_REGISTER: 0x16 } as const;
/** Where the filter finds a random number: SKF_AD_OFF + SKF_AD_RANDOM. */
const RANDOM_WORD = 0xffff_f038;
const NO_PLACE = 0xffff_ffff;
const INSTRUCTION_OCTETS = 8;
const MAX_INSTRUCTIONS = 3;
const PROGRAM_OCTETS = 16;

/** The instructions of the program that is attached. The kernel copies them; until then they must stay where they are. */
const instructions = new ArrayBuffer(MAX_INSTRUCTIONS * INSTRUCTION_OCTETS);

function compile(spread: Spread): readonly Instruction[] {
  switch (spread.kind) {
    case 'by client':
      return [[CODE.RETURN_VALUE, NO_PLACE]];
    case 'first':
      return [[CODE.RETURN_VALUE, 0]];
    case 'random':
      return [
        [CODE.LOAD_WORD, RANDOM_WORD],
        [CODE.MODULO, spread.sockets],
        [CODE.RETURN_REGISTER, 0],
      ];
  }
}

/**
 * Says how packets are spread over the sockets that share the port of one of them.
 *
 * @returns 0, or the error number if the kernel refuses: then everything stays as it was
 */
export function steerPort(fd: number, spread: Spread): number {
  const program = compile(spread);
  const view = new DataView(instructions);
  for (const [index, [code, value]] of program.entries()) {
    view.setUint32(index * INSTRUCTION_OCTETS, code, true);
    view.setUint32(index * INSTRUCTION_OCTETS + 4, value, true);
  }
  const given = new Uint8Array(PROGRAM_OCTETS);
  const words = new DataView(given.buffer);
  words.setUint16(0, program.length, true);
  words.setBigUint64(8, libc().addressOf(instructions), true);
  const result = libc().setsockopt(fd, SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, given, given.length);
  return result === 0 ? 0 : libc().errno();
}
