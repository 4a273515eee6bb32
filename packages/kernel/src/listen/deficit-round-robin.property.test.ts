/**
 * Clients in turn, in virtual time: work costs what the test says.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BATCH, DeficitRoundRobin, type LimitedWork, MAX_DEBT, QUANTUM } from './deficit-round-robin.ts';

interface Cost extends LimitedWork {
  readonly client: string;
  readonly microseconds: number;
}

class World {
  /** Microseconds of work done so far. */
  now = 0;
  readonly #turns = new DeficitRoundRobin<Cost>();
  readonly #served = new Map<string, number>();
  readonly #waiting = new Map<string, number>();

  add(client: string, microseconds: number): void {
    this.#turns.add(client, { client, microseconds });
    this.#waiting.set(client, this.countWaiting(client) + 1);
  }

  countWaiting(client: string): number {
    return this.#waiting.get(client) ?? 0;
  }

  /** Microseconds of work done for a client. */
  servedTo(client: string): number {
    return this.#served.get(client) ?? 0;
  }

  /** @returns the clients of the works that were done, which are one client's */
  serve(): readonly string[] {
    const works = this.#turns.take();
    let cost = 0;
    for (const { client, microseconds } of works) {
      cost += microseconds;
      this.#waiting.set(client, this.countWaiting(client) - 1);
    }
    for (const { client, microseconds } of works)
      this.#served.set(client, this.servedTo(client) + microseconds);
    this.now += cost;
    this.#turns.charge(cost);
    return works.map(({ client }) => client);
  }
}

const DEAREST = 1_000;
const costs = fc.array(fc.integer({ min: 1, max: DEAREST }), { minLength: 1, maxLength: 20 });
/** The costs of each hostile client's work, again and again. */
const hostileCosts = fc.array(costs, { minLength: 1, maxLength: 6 });

/** Clients that always have more work than is done. */
function keepBusy(world: World, hostile: readonly (readonly number[])[], sent: number[]): void {
  for (const [index, each] of hostile.entries())
    while (world.countWaiting(`hostile ${index}`) < 2 * BATCH) {
      const count = sent[index] ?? 0;
      world.add(`hostile ${index}`, each[count % each.length] ?? 1);
      sent[index] = count + 1;
    }
}

describe('clients in turn', () => {
  it('n hostile clients multiply the wait of another one by n + 1 at most', () => {
    fc.assert(
      fc.property(hostileCosts, costs, fc.nat({ max: 100 }), (hostile, own, before) => {
        const world = new World();
        const sent: number[] = [];
        for (let turn = 0; turn < before; turn += 1) {
          keepBusy(world, hostile, sent);
          world.serve();
        }
        const began = world.now;
        for (const each of own) world.add('other', each);
        const alone = own.reduce((sum, each) => sum + each, 0);
        while (world.servedTo('other') < alone) {
          keepBusy(world, hostile, sent);
          world.serve();
        }
        const wait = alone + QUANTUM + BATCH * DEAREST;
        expect(world.now - began).toBeLessThanOrEqual((hostile.length + 1) * wait);
      }),
    );
  });

  it('gives all that wait the same time, whatever each question costs', () => {
    fc.assert(
      fc.property(hostileCosts, (clients) => {
        const world = new World();
        const sent: number[] = [];
        while (world.now < clients.length * 100_000) {
          keepBusy(world, clients, sent);
          world.serve();
        }
        const times = clients.map((_, index) => world.servedTo(`hostile ${index}`));
        expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(2 * (QUANTUM + BATCH * DEAREST));
      }),
      { numRuns: 30 },
    );
  });

  it('does all work, once, and that of a client in its order', () => {
    const work = fc.record({ client: fc.constantFrom('a', 'b', 'c'), microseconds: fc.nat({ max: 5_000 }) });
    fc.assert(
      fc.property(fc.array(fc.oneof(work, fc.constant('serve' as const))), (steps) => {
        const turns = new DeficitRoundRobin<Cost>();
        const done: Cost[] = [];
        const added: Cost[] = [];
        const serve = () => {
          const works = turns.take();
          done.push(...works);
          turns.charge(works.reduce((sum, { microseconds }) => sum + microseconds, 0));
          expect(new Set(works.map(({ client }) => client)).size).toBeLessThan(2);
          return works.length > 0;
        };
        for (const step of steps) {
          if (step === 'serve') serve();
          else {
            added.push(step);
            turns.add(step.client, step);
          }
          expect(turns.waiting).toBe(added.length - done.length);
        }
        while (serve());
        for (const name of ['a', 'b', 'c'])
          expect(done.filter(({ client }) => client === name)).toEqual(
            added.filter(({ client }) => client === name),
          );
      }),
    );
  });

  it('lets a client that owes time wait, but not for longer than the bound of a debt', () => {
    const world = new World();
    world.add('dear', 50 * MAX_DEBT);
    world.add('dear', 1);
    world.add('other', 1);
    world.serve();
    let other = 0;
    for (; world.countWaiting('dear') > 0; ) {
      world.add('other', 100);
      if (world.serve().includes('other')) other = world.servedTo('other');
    }
    expect(other).toBeGreaterThan(MAX_DEBT / 2);
    expect(other).toBeLessThan(2 * MAX_DEBT);
  });

  it('forgives debts when nobody waits', () => {
    const world = new World();
    world.add('dear', MAX_DEBT);
    world.serve();
    expect(world.serve()).toEqual([]);
    world.add('dear', 1);
    world.add('other', 1);
    expect(world.serve()).toEqual(['dear']);
  });
});
