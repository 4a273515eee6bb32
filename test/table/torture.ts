/**
 * Writers and readers in separate threads: answers are never torn, stale after their replacement was published, or missing
 * while their entry exists. Meanwhile nodes are changed, removed and added again; cached answers are replaced and evicted; the
 * index grows and shrinks; views are replaced; blocks are reclaimed and reused.
 */
import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import {
  addressBody,
  addressNode,
  cachedAddress,
  node,
  query,
  settings,
  wire,
} from '@portolan/kernel/table/testing/table-answers.ts';
import {
  DEFAULT_VIEW,
  DEFAULT_VIEW_SETTINGS,
  type ViewId,
  type ZoneId,
} from '@portolan/kernel/table/types.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { FIELD, GROUPS, progressWord, type Verdicts, WORDS_PER_NAME } from './torture-plan.ts';

const READERS = 3;
const NODES = 150;
const CACHED = 50;
const NOW = 1_000_000;
/** Changes until each reader must have gone on: what waits to be reclaimed is bounded, however the kernel shares the processors. */
const CHANGES_AT_A_STRETCH = 500;

const makeName = (index: number): string =>
  index < NODES ? `s${index}.shop.cluster.local` : `c${index}.example.com`;
const versioned = (version: number, count: number): string[] =>
  Array<string>(count).fill(`10.${version >> 16}.${(version >> 8) & 255}.${version & 255}`);

class Torturer {
  readonly table = new TableWriter({ readers: READERS, reservation: 128 * 2 ** 20, cacheOctets: 2 ** 18 });
  readonly notes = new SharedArrayBuffer(progressWord(NODES + CACHED, READERS) * 4);
  readonly #words = new Int32Array(this.notes);
  readonly #zone: ZoneId;
  #views: readonly ViewId[] = [];
  #version = 0;
  #random = 1;

  constructor() {
    this.#zone = this.table.defineZone(settings('cluster.local'));
    this.table.put(node('cluster.local', this.#zone));
    this.table.put(node('shop.cluster.local', this.#zone));
    for (let index = 0; index < NODES + CACHED; index++) this.change(index);
  }

  stop(): void {
    Atomics.store(this.#words, 0, 1);
  }

  /** Any number below `count`. */
  pick(count: number): number {
    this.#random = (Math.imul(this.#random, 1103515245) + 12345) >>> 0;
    return (this.#random >>> 8) % count;
  }

  change(index: number): void {
    const version = ++this.#version & 0xffffff;
    const base = 1 + index * WORDS_PER_NAME;
    Atomics.store(this.#words, base + FIELD.ANNOUNCED, version);
    if (index < NODES)
      this.table.put(addressNode(makeName(index), this.#zone, versioned(version, 1 + this.pick(20))));
    else if (!this.#cache(index, version)) return;
    Atomics.store(this.#words, base + FIELD.PUBLISHED, version);
  }

  removeAndReturn(index: number): void {
    const base = 1 + index * WORDS_PER_NAME;
    Atomics.add(this.#words, base + FIELD.REMOVALS, 1);
    this.table.remove(wire(makeName(index)));
    this.change(index);
    Atomics.add(this.#words, base + FIELD.REMOVALS, 1);
  }

  /** Other views take the place of those before, found by other groups, prefixes and zones. They show the same. */
  changeViews(): void {
    const askRules = Array.from({ length: this.pick(50) }, (_, index) => ({
      name: { kind: 'suffix', name: wire(`asked${index}.example`) } as const,
      types: 'all' as const,
    }));
    const shown = { ...DEFAULT_VIEW_SETTINGS, askRules };
    const views = Array.from({ length: 1 + this.pick(4) }, () => this.table.defineView(shown, DEFAULT_VIEW));
    const zones = ['.', 'com', 'example.com', 'local', 'shop.cluster.local', 'cluster.local'];
    const makeViews = (count: number) => ({
      kind: 'views' as const,
      zones: zones.slice(0, count).map((zone) => ({ zone: wire(zone), view: this.#pickView(views) })),
    });
    const prefixes = Array.from({ length: this.pick(20) }, () => ({
      range: { address: `10.${this.pick(256)}.0.0`, prefix: this.pick(33) },
      views: makeViews(1 + this.pick(zones.length)),
    }));
    this.table.showViews(
      Array.from({ length: GROUPS }, () => ({ prefixes, others: makeViews(1 + this.pick(zones.length)) })),
    );
    for (const view of this.#views) this.table.removeView(view);
    this.#views = views;
  }

  #pickView(views: readonly ViewId[]): ViewId {
    return views[this.pick(views.length)] ?? DEFAULT_VIEW;
  }

  /** Other names come and go, so that the index fills, is rebuilt and moves. */
  crowd(turn: number): void {
    for (let index = 0; index < 2500; index++) {
      const name = `crowd${turn}-${index}.shop.cluster.local`;
      if (turn % 2 === 0) this.table.put(addressNode(name, this.#zone, ['10.0.0.1']));
      else this.table.remove(wire(`crowd${turn - 1}-${index}.shop.cluster.local`));
    }
  }

  /** Blocks until each reader has ended a batch. */
  waitForReaders(): void {
    for (let reader = 0; reader < READERS; reader++) {
      const word = progressWord(NODES + CACHED, reader);
      const before = Atomics.load(this.#words, word);
      if (Atomics.wait(this.#words, word, before, 30_000) === 'timed-out')
        throw new Error(`a reader stands still: ${reader}`);
    }
  }

  #cache(index: number, version: number): boolean {
    const answer = cachedAddress(makeName(index), '10.0.0.0', 1000);
    const body = { ...addressBody(versioned(version, 1 + this.pick(20)), 1000), authoritative: false };
    const ttlOffsets = Array.from({ length: body.answerCount }, (_, each) => each * 16 + 6);
    return this.table.cache({ ...answer, body, ttlOffsets }, NOW);
  }
}

/** Changes the table `changes` times while readers look names up, and holds all that they saw against what was published. */
export async function expectWholeAnswers(changes: number): Promise<void> {
  const torturer = new Torturer();
  const thread = await bundleThread('test/table/torture-reader.ts');
  const queries = Array.from({ length: NODES + CACHED }, (_, index) => {
    const { packet, length } = query(makeName(index), 'A', {
      additionals: [{ type: 'OPT', name: '.', udpPayloadSize: 1232, flags: 0 } as never],
    });
    return packet.slice(0, length);
  });
  const readers = Array.from({ length: READERS }, (_, reader) => {
    const { memory } = torturer.table;
    return new Worker(thread, {
      workerData: { memory, notes: torturer.notes, queries, reader, seed: reader + 1 },
    });
  });
  await Promise.all(readers.map((reader) => once(reader, 'message')));

  for (let change = 0; change < changes; change++) {
    const index = torturer.pick(NODES + CACHED);
    if (index < NODES && torturer.pick(10) === 0) torturer.removeAndReturn(index);
    else torturer.change(index);
    if (change % CHANGES_AT_A_STRETCH === 0) torturer.waitForReaders();
    if (change % 20 === 0) torturer.changeViews();
    if (change % 5000 === 0) {
      torturer.crowd(change / 5000);
      await turn();
    }
  }
  torturer.stop();
  const verdicts = await Promise.all(
    readers.map(async (reader) => (await once(reader, 'message'))[0] as Verdicts),
  );
  for (const verdict of verdicts) {
    expect(verdict).toMatchObject({ torn: 0, stale: 0, missing: 0, ghosts: 0, wrong: 0 });
    expect(verdict.answers).toBeGreaterThan(changes / 10);
  }
  expect(torturer.table.statistics().touchedOctets).toBeLessThan(16 * 2 ** 20);
}
