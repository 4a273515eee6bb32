/**
 * Derived answers: an answer never predates a change that was complete when the query arrived.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TableReader } from './reader.ts';
import { addressBody, cachedAddress, query } from './testing/table-answers.ts';
import { type AnswerSources, type PublicationId, VERDICT } from './types.ts';
import { TableWriter } from './writer.ts';

const START = 1_800_000_000_000;
const LIFETIME = 60;

function makeTable() {
  const table = new TableWriter({ readers: 1, reservation: 2 ** 20, cacheOctets: 2 ** 16, seed: 7 });
  const reader = new TableReader(table.memory, 0);
  reader.setTime(START);
  /** The last address of the answer, or the rcode; undefined if the chain is asked. */
  const ask = (name: string, type = 'A'): string | undefined => {
    const { packet, length } = query(name, type);
    const end = reader.answer(packet, 0, length, packet.length, 'udp');
    if (end === VERDICT.ASK) return undefined;
    return packet[7] === 0 ? `rcode ${(packet[3] ?? 0) & 15}` : packet.subarray(end - 4, end).join('.');
  };
  return { table, reader, ask };
}

/** A query in the chain: the sources noted on arrival, and the values that its answer is made from. */
interface Running {
  readonly sources: AnswerSources;
  readonly used: readonly number[];
  versions: readonly number[];
}

/** Sources of three kinds: the plan, and two publications. Each changes first, and completes its change later. */
class Interleaving {
  readonly #table;
  readonly #reader;
  readonly #ask;
  readonly #publications: readonly PublicationId[];
  readonly #versions = [0, 0, 0];
  readonly #whole = [0, 0, 0];
  readonly #running: Running[] = [];
  #stored: Running | undefined;
  #storedAt = 0;
  #now = START;

  constructor() {
    const { table, reader, ask } = makeTable();
    this.#table = table;
    this.#reader = reader;
    this.#ask = ask;
    this.#publications = [table.definePublication(), table.definePublication()];
  }

  change(source: number): void {
    this.#versions[source] = (this.#versions[source] ?? 0) + 1;
  }

  finishChange(source: number): void {
    this.#whole[source] = this.#versions[source] ?? 0;
    const publication = this.#publications[source - 1];
    if (publication === undefined) this.#table.planChanged();
    else this.#table.publicationChanged(publication);
  }

  begin(used: readonly number[]): void {
    const publications = used.flatMap((source) => this.#publications[source - 1] ?? []);
    this.#running.push({
      sources: this.#table.readAnswerSources(publications),
      used: [0, ...used],
      versions: [...this.#versions],
    });
  }

  compute(): void {
    const running = this.#running.at(-1);
    if (running !== undefined) running.versions = [...this.#versions];
  }

  store(): void {
    const running = this.#running.shift();
    if (running === undefined) return;
    const body = addressBody([`10.${running.versions.join('.')}`], LIFETIME);
    const answer = { ...cachedAddress('x.test', '0.0.0.0', LIFETIME), body, sources: running.sources };
    expect(this.#table.cache(answer, this.#now)).toBe(true);
    this.#stored = running;
    this.#storedAt = this.#now;
  }

  pass(seconds: number): void {
    this.#now += seconds * 1000;
    this.#reader.setTime(this.#now);
  }

  check(): void {
    const said = this.#ask('x.test');
    const stored = this.#stored;
    const isCurrent =
      stored !== undefined &&
      this.#now < this.#storedAt + LIFETIME * 1000 &&
      JSON.stringify(stored.sources) ===
        JSON.stringify(this.#table.readAnswerSources(stored.sources.publications.map(({ id }) => id)));
    expect(said !== undefined).toBe(isCurrent);
    if (said === undefined || stored === undefined) return;
    const versions = said.split('.').slice(1).map(Number);
    for (const source of stored.used)
      expect(versions[source]).toBeGreaterThanOrEqual(this.#whole[source] ?? 0);
  }
}

describe('derived answers', () => {
  it('are never from before a change that was whole, in any order of events', () => {
    const source = fc.nat(2);
    const event = fc.oneof(
      fc.record({ kind: fc.constantFrom('change', 'finish'), source }),
      fc.record({ kind: fc.constantFrom('begin', 'compute', 'store', 'pass', 'check'), source }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const run = new Interleaving();
        for (const { kind, source: which } of events) {
          if (kind === 'change') run.change(which);
          else if (kind === 'finish') run.finishChange(which);
          else if (kind === 'begin') run.begin([[], [1], [1, 2]][which] ?? []);
          else if (kind === 'compute') run.compute();
          else if (kind === 'store') run.store();
          else if (kind === 'pass') run.pass(which * 10);
          run.check();
        }
      }),
      { numRuns: 300 },
    );
  });

  it('are never read back, and outlive no publication', () => {
    const { table, ask } = makeTable();
    const publication = table.definePublication();
    const answer = {
      ...cachedAddress('x.test', '192.0.2.1', LIFETIME),
      sources: table.readAnswerSources([publication]),
    };
    table.cache(answer, START);
    // A resolver finds no entry to refetch or to serve stale.
    expect([ask('x.test'), table.readCached(answer)]).toEqual(['192.0.2.1', undefined]);
    expect([...table.cachedEntries()]).toEqual([]);
    expect(table.scanCached(0, 10, () => true).found).toEqual([]);
    const { sources: _, ...upstreams } = answer;
    table.cache(upstreams, START);
    expect([ask('x.test'), table.scanCached(0, 10, () => true).found.length]).toEqual(['192.0.2.1', 1]);
    table.cache(answer, START);
    for (const _ of table.dropPublication(publication)) expect(ask('x.test')).toBe('192.0.2.1');
    table.collect();
    expect(ask('x.test')).toBeUndefined();
    expect(table.definePublication()).toBe(publication);
    expect(ask('x.test')).toBeUndefined();
  });
});
