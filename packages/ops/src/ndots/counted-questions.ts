/**
 * The questions of a time, as servers count them for `portolan ndots`: alike ones in one row.
 */
import { asList, asRecord, asText, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import { STEP_OUTCOMES } from '@portolan/server/reasons/search-walk.ts';
import type { QuestionRow } from '../control/question-row.ts';

/** Rows that are kept of all servers: some 60 MB, beside a server in its container. */
const MAX_ROWS = 200_000;

/** Rows of several parts of a time, and of several servers, as one. */
export class CountedQuestions {
  readonly #rows = new Map<string, QuestionRow>();
  #domain = 'cluster.local.';
  #servers = 0;
  #seconds = 0;
  #queries = 0;
  #lost = 0;

  /** Data of the order `questions`: a row, or the end. @returns whether it is one of them */
  add(data: unknown): boolean {
    const record = asRecord(data);
    if (record === undefined) return false;
    const row = readRow(record);
    if (row !== undefined) this.#addRow(row);
    return row !== undefined || this.#addEnd(record);
  }

  get rows(): readonly QuestionRow[] {
    return [...this.#rows.values()];
  }

  get domain(): string {
    return this.#domain;
  }

  /** Servers whose rows are complete. */
  get servers(): number {
    return this.#servers;
  }

  /** The longest time of a server. */
  get seconds(): number {
    return this.#seconds;
  }

  get queries(): number {
    return this.#queries;
  }

  get lost(): number {
    return this.#lost;
  }

  #addRow(row: QuestionRow): void {
    const key = `${row.client} ${row.name} ${row.type} ${row.outcome}`;
    const known = this.#rows.get(key);
    if (known === undefined && this.#rows.size >= MAX_ROWS) {
      this.#lost += row.count;
      return;
    }
    const { count, milliseconds, last } = known ?? { count: 0, milliseconds: 0, last: 0 };
    this.#rows.set(key, {
      ...row,
      count: count + row.count,
      milliseconds: milliseconds + row.milliseconds,
      last: Math.max(last, row.last),
    });
  }

  #addEnd(record: JsonRecord): boolean {
    const domain = asText(record['domain']);
    const seconds = asCount(record['seconds']);
    const queries = asCount(record['queries']);
    const lost = asCount(record['lost']);
    if (domain === undefined || seconds === undefined || queries === undefined || lost === undefined)
      return false;
    this.#domain = domain;
    this.#servers += 1;
    this.#seconds = Math.max(this.#seconds, seconds);
    this.#queries += queries;
    this.#lost += lost;
    return true;
  }
}

function readRow(record: JsonRecord): QuestionRow | undefined {
  const client = asText(record['client']);
  const name = asText(record['name']);
  const type = asText(record['type']);
  const outcome = STEP_OUTCOMES.find((each) => each === record['outcome']);
  if (client === undefined || name === undefined || type === undefined || outcome === undefined)
    return undefined;
  const count = asCount(record['count']);
  const milliseconds = asCount(record['milliseconds']);
  const last = asCount(record['last']);
  if (count === undefined || milliseconds === undefined || last === undefined) return undefined;
  return { client, name, type, outcome, count, milliseconds, last };
}

function asCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** Rows that several servers gave, in documents `{"portolanQuestions":[...]}` among other evidence. */
export function readQuestions(evidence: readonly unknown[]): CountedQuestions | undefined {
  const parts = evidence.map((document) => asRecord(document)?.['portolanQuestions']);
  if (parts.every((part) => part === undefined)) return undefined;
  const questions = new CountedQuestions();
  for (const part of parts) for (const data of asList(part)) questions.add(data);
  return questions;
}
