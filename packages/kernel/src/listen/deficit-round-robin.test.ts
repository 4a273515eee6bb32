/**
 * Clients in turn: work with a limit of time.
 */
import { describe, expect, it } from 'vitest';
import { BATCH, CROWDED, DeficitRoundRobin, type LimitedWork } from './deficit-round-robin.ts';

interface Question extends LimitedWork {
  readonly name: string;
}

const WAIT = 5_000;

/** Turns, and the names of the works that they dropped. */
function makeTurns() {
  const dropped: string[] = [];
  const turns = new DeficitRoundRobin<Question>(({ name }) => dropped.push(name));
  const add = (client: string, name: string, arrived: number) =>
    turns.add(client, { name, arrived, expires: arrived + WAIT });
  /** Does all work that waits at this time, each for nearly nothing. @returns the names in order */
  const serveAll = (now: number): readonly string[] => {
    const done: string[] = [];
    for (let works = turns.take(now); works.length > 0; works = turns.take(now)) {
      done.push(...works.map(({ name }) => name));
      turns.charge(1);
    }
    return done;
  };
  return { turns, dropped, add, serveAll };
}

describe('work with a limit of time', () => {
  it('is dropped at its turn once nobody waits for it', () => {
    const { turns, dropped, add, serveAll } = makeTurns();
    add('one', 'a', 0);
    add('one', 'b', 1);
    add('other', 'c', 0);
    add('other', 'd', 2);
    expect(serveAll(WAIT + 1)).toEqual(['d']);
    expect(dropped).toEqual(['a', 'b', 'c']);
    expect(turns.waiting).toBe(0);
  });

  it('leaves nothing behind when all of it is dropped', () => {
    const { turns, dropped, add, serveAll } = makeTurns();
    for (let count = 0; count < 3_000; count += 1) add('one', 'old', 0);
    expect(serveAll(WAIT)).toEqual([]);
    expect(dropped).toHaveLength(3_000);
    add('one', 'new', WAIT);
    expect(turns.waiting).toBe(1);
    expect(serveAll(WAIT)).toEqual(['new']);
  });

  it('comes in the order of arrival while the oldest has not waited for long', () => {
    const { add, serveAll } = makeTurns();
    for (const name of ['a', 'b', 'c']) add('one', name, 0);
    expect(serveAll(CROWDED)).toEqual(['a', 'b', 'c']);
  });

  it('comes newest first once the oldest has waited for long', () => {
    const { add, serveAll } = makeTurns();
    for (const [arrived, name] of ['a', 'b', 'c'].entries()) add('one', name, arrived);
    add('other', 'x', CROWDED);
    add('other', 'y', CROWDED);
    const done = serveAll(CROWDED + 1);
    expect(done.filter((name) => name < 'x')).toEqual(['c', 'b', 'a']);
    expect(done.filter((name) => name >= 'x')).toEqual(['x', 'y']);
  });

  it('does not keep work without a limit waiting', () => {
    const { turns, add } = makeTurns();
    turns.add('one', { name: 'connection' });
    for (let count = 0; count < 100; count += 1) add('one', 'question', 0);
    const [first] = turns.take(WAIT - 1);
    expect(first?.name).toBe('connection');
  });

  it('makes room for newer work', () => {
    const { turns, add, serveAll } = makeTurns();
    turns.add('one', { name: 'connection' });
    for (const name of ['a', 'b', 'c']) add('one', name, 0);
    expect(turns.takeOut('one')?.name).toBe('a');
    expect(turns.takeOut('other')).toBeUndefined();
    expect(turns.waiting).toBe(3);
    expect(serveAll(0)).toEqual(['connection', 'b', 'c']);
    expect(turns.takeOut('one')).toBeUndefined();
  });

  it('is taken out by all ways without loss or repetition', () => {
    const { turns, dropped, add } = makeTurns();
    const seen: string[] = [];
    let added = 0;
    for (let now = 0; now < 20_000; now += 100) {
      for (let count = 0; count < 20; count += 1) add(`client ${count % 3}`, `${added++}`, now);
      if (now % 300 === 0) seen.push(turns.takeOut('client 1')?.name ?? '');
      seen.push(...turns.take(now).map(({ name }) => name));
      turns.charge(1);
    }
    for (let works = turns.take(25_000); works.length > 0; works = turns.take(25_000)) turns.charge(1);
    const all = [...seen, ...dropped];
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength(added);
    expect(BATCH).toBeLessThan(20);
  });
});
