/**
 * The format of cached answers passed between processes: a sequence of length-prefixed records.
 *
 *     octets 0 to 3   the number of octets that follow
 *     octet  4        the kind: KEEPER, ANSWER or END
 *     KEEPER          a text that identifies the keeper of the answers that follow
 *     ANSWER          octet 5 kind, 6 flags, 7 to 10 age, 11 to 14 lifetime, then the message
 *
 * Numbers are in network byte order, times in seconds.
 */
import type { HandoverAnswer } from '@portolan/kernel/chain/handover-answer.ts';

const LENGTH_OCTETS = 4;
const RECORD = { KEEPER: 1, ANSWER: 2, END: 3 } as const;
const FLAG = { DNSSEC_OK: 1, CHECKING_DISABLED: 2 } as const;
const ANSWER_OCTETS = 11;
/** The maximum record: the longest answer, which also exceeds any keeper's text. */
const MAX_OCTETS = ANSWER_OCTETS + 0xffff;

export type HandoverRecord =
  | { readonly kind: 'keeper'; readonly text: string }
  | { readonly kind: 'answer'; readonly answer: HandoverAnswer }
  /** The end of the records. */
  | { readonly kind: 'end' };

export class HandoverFormatError extends Error {
  override readonly name = 'HandedRecordError';
}

export function writeRecord(record: HandoverRecord): Buffer {
  switch (record.kind) {
    case 'keeper':
      return withLength(RECORD.KEEPER, Buffer.from(record.text));
    case 'answer':
      return withLength(RECORD.ANSWER, writeAnswer(record.answer));
    case 'end':
      return withLength(RECORD.END, Buffer.alloc(0));
  }
}

function withLength(kind: number, content: Uint8Array): Buffer {
  const octets = Buffer.alloc(LENGTH_OCTETS + 1 + content.length);
  octets.writeUInt32BE(1 + content.length, 0);
  octets[LENGTH_OCTETS] = kind;
  octets.set(content, LENGTH_OCTETS + 1);
  return octets;
}

function writeAnswer({ kind, dnssecOk, checkingDisabled, age, lifetime, message }: HandoverAnswer): Buffer {
  const octets = Buffer.alloc(ANSWER_OCTETS - 1 + message.length);
  octets[0] = kind;
  octets[1] = (dnssecOk ? FLAG.DNSSEC_OK : 0) | (checkingDisabled ? FLAG.CHECKING_DISABLED : 0);
  octets.writeUInt32BE(age, 2);
  octets.writeUInt32BE(lifetime, 6);
  octets.set(message, ANSWER_OCTETS - 1);
  return octets;
}

/** Parses records from octets that arrive in pieces. */
export class HandoverReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The records completed by this piece. @throws HandedRecordError */
  *read(piece: Uint8Array): Generator<HandoverRecord> {
    const octets = Buffer.concat([this.#rest, piece]);
    let at = 0;
    while (octets.length - at >= LENGTH_OCTETS) {
      const length = octets.readUInt32BE(at);
      if (length < 1 || length > MAX_OCTETS) throw new HandoverFormatError(`a record of ${length} octets`);
      const start = at + LENGTH_OCTETS;
      if (octets.length - start < length) break;
      at = start + length;
      yield readRecord(octets.subarray(start, at));
    }
    this.#rest = octets.subarray(at);
  }
}

function readRecord(octets: Buffer): HandoverRecord {
  switch (octets[0]) {
    case RECORD.KEEPER:
      return { kind: 'keeper', text: octets.toString('utf8', 1) };
    case RECORD.ANSWER:
      return { kind: 'answer', answer: readAnswer(octets) };
    case RECORD.END:
      return { kind: 'end' };
    default:
      throw new HandoverFormatError(`a record of kind ${octets[0]}`);
  }
}

function readAnswer(octets: Buffer): HandoverAnswer {
  if (octets.length < ANSWER_OCTETS) throw new HandoverFormatError(`an answer of ${octets.length} octets`);
  const flags = octets.readUInt8(2);
  return {
    kind: octets.readUInt8(1),
    dnssecOk: (flags & FLAG.DNSSEC_OK) !== 0,
    checkingDisabled: (flags & FLAG.CHECKING_DISABLED) !== 0,
    age: octets.readUInt32BE(3),
    lifetime: octets.readUInt32BE(7),
    message: octets.subarray(ANSWER_OCTETS),
  };
}
