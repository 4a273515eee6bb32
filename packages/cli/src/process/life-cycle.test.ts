import { describe, expect, it } from 'vitest';
import { type Companion, type Life, runLifeCycle } from './life-cycle.ts';
import type { StopSignal } from './signals.ts';
import { StopRequest } from './stop-request.ts';

/** A life whose steps are noted. */
class NotedLife {
  readonly steps: string[] = [];
  readonly #failures = new Map<string, Error>();
  #signal: (signal: StopSignal) => void = () => {};
  readonly #stop = new StopRequest(
    (signal) => this.steps.push(signal),
    undefined,
    (run) => {
      this.#signal = run;
    },
  );
  /** What the step `server start` waits for. */
  serverStarts: Promise<void> = Promise.resolve();
  failAt(step: string): void {
    this.#failures.set(step, new Error(step));
  }

  signal(): void {
    this.#signal('SIGTERM');
  }

  /** @returns how it ends: with what failure */
  run(): Promise<string> {
    const life: Life = {
      server: {
        start: async () => {
          this.#take('server start');
          await this.serverStarts;
        },
        stop: async () => this.#take('server stop'),
      },
      companions: [this.#companion('a'), this.#companion('b')],
      stop: this.#stop,
      settle: () => this.#take('settle'),
    };
    return runLifeCycle(life).then(
      () => 'ended',
      (error: Error) => error.message,
    );
  }

  /** Waits until a step is taken. */
  async reach(step: string): Promise<void> {
    while (!this.steps.includes(step)) await new Promise((resolve) => setImmediate(resolve));
  }

  #companion(name: string): Companion {
    return {
      start: async () => this.#take(`${name} start`),
      serve: () => this.#take(`${name} serve`),
      leave: async () => this.#take(`${name} leave`),
      stop: () => this.#take(`${name} stop`),
    };
  }

  #take(step: string): void {
    this.steps.push(step);
    const failure = this.#failures.get(step);
    if (failure !== undefined) throw failure;
  }
}

const START = ['a start', 'b start', 'server start'];
const SERVE = ['settle', 'a serve', 'b serve'];
const LEAVE = ['SIGTERM', 'a leave', 'b leave'];
const STOP = ['server stop', 'b stop', 'a stop'];

describe('the life of a server process', () => {
  it('has one order of start and stop', async () => {
    const life = new NotedLife();
    const end = life.run();
    await life.reach('b serve');
    expect(life.steps).toEqual([...START, ...SERVE]);
    life.signal();
    expect(await end).toBe('ended');
    expect(life.steps).toEqual([...START, ...SERVE, ...LEAVE, ...STOP]);
  });

  it('ends by a signal while the server waits', async () => {
    const life = new NotedLife();
    life.serverStarts = new Promise(() => {});
    const end = life.run();
    await life.reach('server start');
    life.signal();
    expect(await end).toBe('ended');
    expect(life.steps).toEqual([...START, 'SIGTERM', ...STOP]);
  });

  it('does not fail by a start that fails after the signal', async () => {
    const life = new NotedLife();
    let fail = (_: Error) => {};
    life.serverStarts = new Promise((_, reject) => {
      fail = reject;
    });
    const end = life.run();
    await life.reach('server start');
    life.signal();
    fail(new Error('too late'));
    expect(await end).toBe('ended');
    expect(life.steps).toEqual([...START, 'SIGTERM', ...STOP]);
  });

  it.each([
    ['a start', ['a start']],
    ['server start', START],
    ['settle', [...START, 'settle']],
    ['a serve', [...START, 'settle', 'a serve']],
  ])('stops everything after a failure at: %s', async (step, before) => {
    const life = new NotedLife();
    life.failAt(step);
    const end = life.run();
    expect(await end).toBe(step);
    expect(life.steps).toEqual([...before, ...STOP]);
  });

  it.each(['a leave', 'server stop', 'b stop'])('goes on to stop after a failure at: %s', async (step) => {
    const life = new NotedLife();
    life.failAt(step);
    const end = life.run();
    await life.reach('b serve');
    life.signal();
    expect(await end).toBe(step);
    expect(life.steps).toEqual([...START, ...SERVE, ...LEAVE, ...STOP]);
  });

  it('reports the failure of a start, not one of the stop after it', async () => {
    const life = new NotedLife();
    life.failAt('server start');
    life.failAt('b stop');
    const end = life.run();
    expect(await end).toBe('server start');
  });
});
