/**
 * The failures of one minute, by name, client and reason, in bounded memory. What has no room is counted by client, so that names at
 * random neither grow the server nor hide the failures of others.
 */
import type { HistoryPlan } from '../plan/history-plan.ts';
import { hideText } from './hide-text.ts';
import { cutText, type FailureRecord, MANY_NAMES, MAX_ABOUT } from './history-record.ts';

/** A failed or slow answer. */
export interface SeenFailure {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** In presentation format, with its final dot. */
  readonly name: string;
  readonly type: string;
  readonly client: string;
  /** As in `FailureRecord`. */
  readonly rcode: string;
  readonly milliseconds: number;
  /** How many queries it represents. */
  readonly weight: number;
}

/** Why it failed, found while it did. */
export interface FoundReason {
  readonly reason: string | undefined;
  readonly sentence: string | undefined;
  readonly about: readonly string[];
  /** Whether the answer is as it should be: of a name that a search list made, or that has records of other types. */
  readonly isExpected: boolean;
}

export interface FailureRow extends Omit<SeenFailure, 'at' | 'milliseconds' | 'weight'> {
  readonly from: number;
  to: number;
  count: number;
  slow: number;
  slowest: number;
  found: FoundReason | undefined;
}

/** Rows of a minute, and those that are not left to denials: they come in floods. */
const MAX_ROWS = 2_000;
const KEPT_FOR_ERRORS = 500;
/** Octets of all rows: clients choose their names. A row has its name twice, and its reason. */
const MAX_OCTETS = 3 * 2 ** 20;
const ROW_OCTETS = 1_000;
/** Clients whose further names are counted together, by response code. */
const MAX_CLIENTS = 256;
/** Milliseconds. */
const SLOW = 1_000;
const DENIALS: readonly string[] = ['NODATA', 'NXDOMAIN', 'REFUSED'];

export class FailureMinute {
  readonly #rows = new Map<string, FailureRow>();
  readonly #perClient = new Map<string, number>();
  /** For the names without rows of their own. */
  readonly #further = new Map<string, FailureRow>();
  #leftOut = 0;
  #octets = 0;

  /** @returns its row if it is new, for its reason to be found */
  add(failure: SeenFailure): FailureRow | undefined {
    const { name, type, client, rcode } = failure;
    const key = `${rcode} ${type} ${client} ${name}`;
    const known = this.#rows.get(key);
    if (known !== undefined) {
      count(known, failure);
      return undefined;
    }
    if (!this.#hasRoom(client, rcode)) {
      this.#addToFurther(failure);
      return undefined;
    }
    const row = makeRow(failure, name);
    this.#rows.set(key, row);
    this.#octets += ROW_OCTETS + 2 * key.length;
    this.#perClient.set(client, (this.#perClient.get(client) ?? 0) + 1);
    return row;
  }

  /** Queries that nobody saw. */
  lose(queries: number): void {
    this.#leftOut += queries;
  }

  /** Failed queries without a record. */
  get leftOut(): number {
    return this.#leftOut;
  }

  get size(): number {
    return this.#rows.size + this.#further.size;
  }

  records(names: HistoryPlan['names']): readonly FailureRecord[] {
    const rows = [...this.#rows.values(), ...this.#further.values()].filter(
      ({ found }) => found?.isExpected !== true,
    );
    return names === 'none' ? joinNames(rows) : rows.map((row) => toRecord(row, names));
  }

  /** One client holds at most half of the places that are left. */
  #hasRoom(client: string, rcode: string): boolean {
    if (this.#octets >= MAX_OCTETS) return false;
    const max = DENIALS.includes(rcode) ? MAX_ROWS - KEPT_FOR_ERRORS : MAX_ROWS;
    return (this.#perClient.get(client) ?? 0) < max - this.#rows.size;
  }

  #addToFurther(failure: SeenFailure): void {
    const key = `${failure.rcode} ${failure.client}`;
    const known = this.#further.get(key);
    if (known !== undefined) count(known, failure);
    else if (this.#further.size < MAX_CLIENTS) this.#further.set(key, makeRow(failure, MANY_NAMES));
    else this.#leftOut += failure.weight;
  }
}

function makeRow(failure: SeenFailure, name: string): FailureRow {
  const { at, type, client, rcode } = failure;
  const kind = name === MANY_NAMES ? MANY_NAMES : type;
  const none = { count: 0, slow: 0, slowest: 0, found: undefined };
  const row = { from: at, to: at, name, type: kind, client, rcode, ...none };
  count(row, failure);
  return row;
}

function count(row: FailureRow, { at, weight, milliseconds }: SeenFailure): void {
  row.to = Math.max(row.to, at);
  row.count += weight;
  if (milliseconds >= SLOW) row.slow += weight;
  row.slowest = Math.max(row.slowest, Math.round(milliseconds));
}

/** Reasons have names of objects in their sentences. */
function toRecord(row: FailureRow, names: HistoryPlan['names']): FailureRecord {
  const { from, to, name, type, client, rcode, slow, slowest, found } = row;
  const { reason, sentence, about = [] } = found ?? { reason: undefined, sentence: undefined };
  const hide = (text: string) => (names === 'hashed' && text !== MANY_NAMES ? hideText(text) : text);
  return {
    kind: 'failure',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    name: hide(name),
    type,
    client: hide(client),
    rcode,
    ...(reason !== undefined && { reason }),
    ...(sentence !== undefined && names === 'plain' && { sentence: cutText(sentence) }),
    about: about
      .slice(0, MAX_ABOUT)
      .map(cutText)
      .filter((what) => names === 'plain' || !isOfName(what)),
    count: row.count,
    slow,
    slowest,
  };
}

/** Whether a thing that a failure is about tells the name that was asked for. */
function isOfName(what: string): boolean {
  return what.startsWith('service ') || what.startsWith('namespace ');
}

/** The failures with the same reason, whatever their names and clients. */
function joinNames(rows: readonly FailureRow[]): readonly FailureRecord[] {
  const joined = new Map<string, FailureRow>();
  for (const row of rows) {
    const key = `${row.rcode} ${row.type} ${row.found?.reason ?? ''} ${row.found?.about.join(' ') ?? ''}`;
    const known = joined.get(key);
    if (known === undefined) joined.set(key, { ...row, name: '', client: '' });
    else {
      known.to = Math.max(known.to, row.to);
      known.count += row.count;
      known.slow += row.slow;
      known.slowest = Math.max(known.slowest, row.slowest);
    }
  }
  return [...joined.values()].map((row) => toRecord(row, 'none'));
}
