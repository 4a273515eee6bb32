/**
 * Cached answers on their way to the process that takes over.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { toKey } from '@portolan/dns/name.ts';
import type { Message } from '@portolan/dns/types.ts';
import { WireError } from '@portolan/dns/wire-error.ts';
import type { QuestionKey } from '../forward/question-key.ts';

export interface HandoverAnswer {
  /** Kind of the answer, 0 to 255, as its keeper numbers them. */
  readonly kind: number;
  readonly dnssecOk: boolean;
  readonly checkingDisabled: boolean;
  /** Seconds since it was stored; and seconds from then until it expires. */
  readonly age: number;
  readonly lifetime: number;
  /** A whole response, with the TTLs at the time that it was stored. */
  readonly message: Uint8Array;
}

/** Keeps answers, in this process and then in the one that takes over. */
export interface AnswerKeeper {
  /**
   * The answers that it keeps; the table may change between two of them.
   *
   * @param isUsed true: answers that clients asked for again; false: all others
   */
  handOver(isUsed: boolean): Iterable<HandoverAnswer>;
  /** Stores an answer with its age, as if this keeper had stored it then. @throws WireError */
  adopt(answer: HandoverAnswer): void;
}

/** Reads the message of an answer. @throws WireError */
export function readHandover({ message: octets, dnssecOk, checkingDisabled }: HandoverAnswer): {
  readonly key: QuestionKey;
  readonly message: Message;
} {
  const message = decodeMessage(octets);
  const [question] = message.questions;
  if (question === undefined) throw new WireError('no question', 0);
  const { name, type, class: dnsClass } = question;
  const key = {
    name: toKey(name),
    type,
    class: dnsClass,
    dnssecOk,
    checkingDisabled,
    recursionDesired: true,
  };
  return { key, message };
}
