/**
 * The questions that both sides of a comparison are asked.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { className, parseType, typeName } from '@portolan/dns/mnemonics.ts';
import { NameError, parseName } from '@portolan/dns/name.ts';
import { CLASS, OPCODE, type Question, TYPE } from '@portolan/dns/types.ts';
import { ItemFault } from '@portolan/kernel/base/item-guard.ts';

export interface AskedQuestion extends Question {
  readonly recursionDesired: boolean;
  readonly authenticData: boolean;
  readonly checkingDisabled: boolean;
  /** Undefined: without an OPT record. Options of clients are never repeated. */
  readonly edns: { readonly udpSize: number; readonly dnssecOk: boolean } | undefined;
}

/** As a stub resolver asks. */
export const PLAIN = {
  recursionDesired: true,
  authenticData: false,
  checkingDisabled: false,
  edns: undefined,
} as const satisfies Partial<AskedQuestion>;

/** The question as people write it: `name type`, and between them a class that is not IN. */
export function textOfQuestion({ name, type, class: dnsClass }: Question): string {
  const words = dnsClass === CLASS.IN ? [] : [className(dnsClass)];
  return [name, ...words, typeName(type)].join(' ');
}

/**
 * Reads a line `NAME [TYPE]`, as in the input of dnsperf; the type is A if it is left out.
 *
 * @returns undefined for a comment and an empty line
 * @throws ItemFault
 */
export function readListLine(line: string): AskedQuestion | undefined {
  const text = line.trim();
  if (text === '' || text.startsWith('#') || text.startsWith(';')) return undefined;
  const [name = '', type = 'A', ...rest] = text.split(/\s+/);
  // dnsperf lets options follow, which only its own tests need.
  if (rest.length > 0) throw new ItemFault('malformed', 'more than a name and a type');
  return { ...PLAIN, name: readName(name), type: readType(type), class: CLASS.IN };
}

/** @throws ItemFault */
export function readName(text: string): AskedQuestion['name'] {
  try {
    return parseName(text);
  } catch (error) {
    if (error instanceof NameError) throw new ItemFault('malformed', `not a name: ${error.message}`);
    throw error;
  }
}

/** @throws ItemFault for no type, and for a zone transfer, which is no question for one answer */
export function readType(text: string): number {
  const type = parseType(text.toUpperCase());
  if (type === undefined) throw new ItemFault('malformed', `not a type: ${text.slice(0, 20)}`);
  if (!isComparable({ type })) throw new ItemFault('malformed', `not compared: type ${text}`);
  return type;
}

/** Whether a question has one answer: a zone transfer has not. */
export function isComparable({ type }: Pick<Question, 'type'>): boolean {
  return type !== TYPE.AXFR && type !== TYPE.IXFR && type !== TYPE.OPT;
}

/** @param id of the message, 0 to 65535 */
export function encodeQuestion(question: AskedQuestion, id: number): Uint8Array {
  const { name, type, class: dnsClass, recursionDesired, authenticData, checkingDisabled, edns } = question;
  return encodeMessage({
    header: {
      id,
      response: false,
      opcode: OPCODE.QUERY,
      authoritative: false,
      truncated: false,
      recursionDesired,
      recursionAvailable: false,
      authenticData,
      checkingDisabled,
      rcode: 0,
    },
    questions: [{ name, type, class: dnsClass }],
    answers: [],
    authorities: [],
    additionals: [],
    edns: edns && { version: 0, extendedRcode: 0, options: [], ...edns },
  });
}
