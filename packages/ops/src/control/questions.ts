/**
 * The verb `questions`: what each client asked for in some time, and what came of it, alike questions in one row. Memory is bounded: with
 * many rows they are sent at once, and counting starts with new ones.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { uint16At } from '@portolan/dns/header.ts';
import { typeName } from '@portolan/dns/mnemonics.ts';
import { toKey } from '@portolan/dns/name.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import { CLASS } from '@portolan/dns/types.ts';
import type { QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { sharedMonotonic } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { toStepOutcome } from './query-stream.ts';
import type { QuestionRow, QuestionsEnd } from './question-row.ts';
import type { ControlOrder } from './settings/control-order.ts';
import { inParts, WaitingEvents } from './waiting-events.ts';
import type { Watcher } from './watch-verbs.ts';

/** Some 4 MB. */
const MAX_ROWS = 10_000;

type CountedRow = { -readonly [Field in keyof QuestionRow]: QuestionRow[Field] };

export async function* countQuestions(
  { duration }: Extract<ControlOrder, { kind: 'questions' }>,
  { server, explainer, clock }: Watcher,
  signal: AbortSignal,
): AsyncIterable<QuestionRow | QuestionsEnd> {
  const { domain } = explainer;
  const since = clock.monotonic();
  const counts = new QuestionCounts(sharedMonotonic()());
  const waiting = new WaitingEvents((listener) => server.tap.follow(listener), signal);
  const left = () => Math.max(0, since + duration - clock.monotonic());
  let queries = 0;
  let notSeen = 0;
  try {
    for await (const { events, lost } of waiting.batches((run) => clock.after(left(), run))) {
      notSeen += lost;
      for await (const event of inParts(events)) {
        queries += 1;
        counts.add(event);
        if (counts.size >= MAX_ROWS) yield* counts.take();
      }
      if (left() === 0) break;
    }
    if (signal.aborted) return;
    yield* counts.take();
    yield { domain, seconds: (clock.monotonic() - since) / 1_000, queries, lost: notSeen };
  } finally {
    waiting.end();
  }
}

class QuestionCounts {
  readonly #rows = new Map<string, CountedRow>();
  readonly #begin: number;

  /** @param begin milliseconds of the clock of events */
  constructor(begin: number) {
    this.#begin = begin;
  }

  get size(): number {
    return this.#rows.size;
  }

  add(event: QueryEvent): void {
    const { client, question, sent, received } = event;
    if (question.length === 0) return;
    const outcome = toStepOutcome(event);
    const key = `${toText(client)}${outcome}${toText(question).toLowerCase()}`;
    const row = this.#rows.get(key) ?? readRow(event, outcome);
    if (row === undefined) return;
    this.#rows.set(key, row);
    row.count += 1;
    row.milliseconds += Math.max(0, sent - received);
    row.last = Math.max(row.last, received - this.#begin);
  }

  /** The rows so far, which are counted no longer. */
  take(): readonly QuestionRow[] {
    const rows = Array.from(this.#rows.values(), (row) => ({
      ...row,
      milliseconds: round(row.milliseconds),
      last: round(row.last),
    }));
    this.#rows.clear();
    return rows;
  }
}

/** @returns undefined for classes other than IN */
function readRow({ client, question }: QueryEvent, outcome: QuestionRow['outcome']): CountedRow | undefined {
  const { name, next } = readName(question, 0);
  if (uint16At(question, next + 2) !== CLASS.IN) return undefined;
  const type = typeName(uint16At(question, next));
  return {
    client: formatAddress(client),
    name: toKey(name),
    type,
    outcome,
    count: 0,
    milliseconds: 0,
    last: 0,
  };
}

function toText({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('latin1');
}

/** To microseconds. */
function round(milliseconds: number): number {
  return Math.round(milliseconds * 1_000) / 1_000;
}
