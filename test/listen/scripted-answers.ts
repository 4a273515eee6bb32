/**
 * Answers controlled by the first label of the question, so that a test can request any behaviour.
 *
 * `slow…` is for the main thread, `drop…` is not answered, `throw…` is a defect, `exit…` ends the thread, `toil…` takes long. The answer
 * to all other questions, and to `toil…`, is the question itself with the QR bit set.
 */
import type { InstantAnswers } from '@portolan/kernel/listen/types.ts';

const LABEL = 12;

export function readFirstLabel(packet: Uint8Array, start = 0): string {
  const length = packet[start + LABEL] ?? 0;
  return Buffer.from(packet.subarray(start + LABEL + 1, start + LABEL + 1 + length)).toString('latin1');
}

/** What a question takes that is much work: a batch of them is long enough for others to come meanwhile. */
const TOIL_MILLISECONDS = 0.5;

function toil(): void {
  for (const end = performance.now() + TOIL_MILLISECONDS; performance.now() < end; );
}

export class ScriptedAnswers implements InstantAnswers {
  enter(): void {}
  leave(): void {}
  setTime(): void {}

  answer(packet: Uint8Array, start: number, length: number): number {
    if (length < 12 || ((packet[start + 2] ?? 0) & 0x80) !== 0) return 0;
    const label = readFirstLabel(packet, start);
    if (label.startsWith('slow')) return -1;
    if (label.startsWith('drop')) return 0;
    if (label.startsWith('throw')) throw new Error('a defect, as asked for');
    if (label.startsWith('exit')) process.exit(3);
    if (label.startsWith('toil')) toil();
    packet[start + 2] = (packet[start + 2] ?? 0) | 0x80;
    return length;
  }
}

/** What the main thread answers to `slow…` questions: the question, with AA set to tell it apart. */
export function answerAuthoritatively(query: Uint8Array): Uint8Array {
  const response = Uint8Array.from(query);
  response[2] = (response[2] ?? 0) | 0x84;
  return response;
}

/** Slow answers that a test gives when it likes. */
export class HeldAnswers {
  readonly #held: (() => void)[] = [];

  readonly handleQuery = (query: Uint8Array): Promise<Uint8Array> =>
    new Promise((resolve) => this.#held.push(() => resolve(answerAuthoritatively(query))));

  get count(): number {
    return this.#held.length;
  }

  release(): void {
    for (const answer of this.#held.splice(0)) answer();
  }
}
