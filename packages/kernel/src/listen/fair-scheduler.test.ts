/**
 * The time of the main thread, with costs that the test decides.
 */
import { describe, expect, it } from 'vitest';
import { FairScheduler, type WorkSource } from './fair-scheduler.ts';

class World implements WorkSource {
  now = 0;
  readonly turns = new FairScheduler(() => this.now);
  readonly done: string[] = [];
  #onIdle: () => void = () => {};

  constructor() {
    this.turns.join(this);
  }

  /** Work that costs this many milliseconds, in microtasks after it has begun. */
  add(client: string, milliseconds: number): void {
    const serve = async () => {
      await undefined;
      await undefined;
      this.now += milliseconds;
      this.done.push(client);
    };
    this.turns.add(client, { serve: () => void serve() });
  }

  beforeTurn(): void {
    this.done.push('turn');
  }

  onIdle(): void {
    this.#onIdle();
  }

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
    });
  }
}

describe('the time of the main thread', () => {
  it('is measured until the last microtask', async () => {
    const world = new World();
    for (let count = 0; count < 4; count += 1) world.add('dear', 1);
    for (let count = 0; count < 4; count += 1) world.add('cheap', 0.1);
    await world.idle();
    // Each dear question costs two turns of the round.
    const inOrder = world.done.filter((each) => each !== 'turn').join(' ');
    expect(inOrder).toMatch(/^dear cheap( cheap)+ dear/);
  });

  it('is left to other work after a turn', async () => {
    const world = new World();
    for (let count = 0; count < 3; count += 1) world.add('client', 5);
    await world.idle();
    expect(world.done).toEqual(['turn', 'client', 'turn', 'client', 'turn', 'client']);
  });

  it('is spent on work that comes later', async () => {
    const world = new World();
    world.add('client', 1);
    await world.idle();
    await world.turns.waitForTurn('client');
    expect(world.done).toEqual(['turn', 'client', 'turn']);
    world.turns.leave(world);
    await world.turns.waitForTurn('client');
    expect(world.done).toEqual(['turn', 'client', 'turn']);
  });
});
