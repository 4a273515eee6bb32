import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { expect, it } from 'vitest';
import { EtcdError, type EtcdFailure } from '../client/etcd-error.ts';
import { KeyFeed } from './key-feed.ts';
import type { KeyReader, KeySink } from './key-reader.ts';

/** A reader whose watches fail one after the other. */
class FailingReader implements KeyReader {
  readonly endpoint = 'etcd';
  readonly cluster = undefined;
  readonly #failures: readonly EtcdFailure[];
  watches = 0;

  constructor(failures: readonly EtcdFailure[]) {
    this.#failures = failures;
  }

  async read(): Promise<void> {}

  watch(): Promise<never> {
    const failure = this.#failures[this.watches];
    this.watches += 1;
    return failure === undefined ? new Promise(() => {}) : Promise.reject(new EtcdError(failure, failure));
  }

  async askLease(): Promise<number> {
    return 0;
  }

  close(): void {}
}

const SINK: KeySink = {
  beginRead: () => {},
  put: () => {},
  remove: () => {},
  removeFolder: () => {},
  completeRead: async () => {},
  completeBatch: () => {},
};

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('waits longer after each failure, and starts over if etcd refuses the token from before its outage', async () => {
  const reader = new FailingReader([
    ...new Array(6).fill('unavailable'),
    'unauthenticated',
    'unauthenticated',
  ]);
  const clock = new ManualClock();
  new KeyFeed(clock, silentLog).start(reader, SINK);
  await settle();
  for (let failures = 1; failures <= 6; failures += 1) {
    expect(reader.watches).toBe(failures);
    clock.advance(1_000);
    await settle();
  }
  expect(reader.watches).toBe(7);
  clock.advance(200);
  await settle();
  expect(reader.watches).toBe(8);
  clock.advance(199);
  await settle();
  expect(reader.watches).toBe(8);
  clock.advance(201);
  await settle();
  expect(reader.watches).toBe(9);
});
