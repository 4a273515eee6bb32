/**
 * A question that waits for its answer on the main thread: its octets, where the answer goes, and how it gets there.
 *
 * They are used again and again, since there are as many as questions that readers could not answer.
 */

import type { Asker } from '../chain/asker.ts';
import { ENVELOPE } from '../socket/envelope.ts';
import type { QuestionRoom } from './question-ring.ts';

/** What a waiting question says to those who took it out of its ring. */
export interface WaitingEvents {
  /** @param length octets of the response; 0 if there is none */
  answered(question: WaitingQuestion, response: Uint8Array, length: number): void;
  /** It is to be answered slowly after all. */
  handedOver(question: WaitingQuestion): void;
  /** Answering it threw, which is a defect. */
  failed(question: WaitingQuestion, error: unknown): void;
}

/** What nearly every query fits into. */
const USUAL_QUERY_OCTETS = 512;

export class WaitingQuestion implements QuestionRoom, Asker {
  octets = new Uint8Array(ENVELOPE.OCTETS + USUAL_QUERY_OCTETS);
  view = new DataView(this.octets.buffer);
  readonly start = ENVELOPE.OCTETS;
  socket = 0;
  length = 0;
  client = '';
  /** The descriptor that it came by. */
  fd = -1;
  readonly #events: WaitingEvents;

  constructor(events: WaitingEvents) {
    this.#events = events;
  }

  /** Whether its memory is what nearly every question needs. */
  get isUsual(): boolean {
    return this.octets.length === ENVELOPE.OCTETS + USUAL_QUERY_OCTETS;
  }

  enlarge(octets: number): void {
    this.octets = new Uint8Array(octets);
    this.view = new DataView(this.octets.buffer);
  }

  /** A copy of the query. */
  query(): Uint8Array {
    return this.octets.slice(this.start, this.start + this.length);
  }

  respond(response: Uint8Array, length: number): void {
    this.#events.answered(this, response, length);
  }

  handOver(): void {
    this.#events.handedOver(this);
  }

  fail(error: unknown): void {
    this.#events.failed(this, error);
  }
}
