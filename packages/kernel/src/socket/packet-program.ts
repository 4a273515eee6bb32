/**
 * Programs of the kernel's classic packet filter (BPF), laid out as in `linux/filter.h`:
 *
 *     struct sock_filter   0 code (2)  2 jump if true (1)  3 jump if false (1)  4 operand (4)
 *     struct sock_fprog    0 number of instructions (2)  8 pointer to them (8)
 */
import { libc } from './libc.ts';
import { SOL_SOCKET } from './linux.ts';

export type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, operand: number];

export const CODE = {
  LOAD_WORD: 0x20,
  AND: 0x54,
  MODULO: 0x94,
  JUMP_IF_EQUAL: 0x15,
  JUMP_IF_AT_LEAST: 0x35,
  JUMP_IF_ANY_BIT: 0x45,
  RETURN: 0x06,
  RETURN_REGISTER: 0x16,
} as const;
/** The operand that loads a random number: `SKF_AD_OFF + SKF_AD_RANDOM`. */
export const RANDOM_WORD = 0xffff_f038;

/** Instructions of the longest program. */
const MAX_INSTRUCTIONS = 256;
const INSTRUCTION_OCTETS = 8;
const PROGRAM_OCTETS = 16;

/** The instructions of the program that was laid out last. The kernel copies them; until then they must not move. */
const memory = new ArrayBuffer(MAX_INSTRUCTIONS * INSTRUCTION_OCTETS);

/**
 * Attaches a program to a socket. It replaces the previous one atomically.
 *
 * @param option of `setsockopt`: the kind of decision that the program makes
 * @param instructions at most 256
 * @returns 0, or the error number if the kernel refuses: then the previous program stays
 */
export function attachProgram(fd: number, option: number, instructions: readonly Instruction[]): number {
  const program = layOut(instructions);
  return libc().setsockopt(fd, SOL_SOCKET, option, program, program.length) === 0 ? 0 : libc().errno();
}

/** @returns a `sock_fprog`, valid until the next call @param instructions at most 256 */
export function layOut(instructions: readonly Instruction[]): Uint8Array {
  const view = new DataView(memory);
  for (const [index, [code, ifTrue, ifFalse, operand]] of instructions.entries()) {
    const at = index * INSTRUCTION_OCTETS;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, ifTrue);
    view.setUint8(at + 3, ifFalse);
    view.setUint32(at + 4, operand, true);
  }
  const program = new Uint8Array(PROGRAM_OCTETS);
  const words = new DataView(program.buffer);
  words.setUint16(0, instructions.length, true);
  words.setBigUint64(8, libc().toPointer(memory), true);
  return program;
}
