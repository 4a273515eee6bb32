import { describe, expect, test } from 'vitest';
import { decideRetry, firstTry, type Outcome, type RetryMemory, type RetrySettings } from './retry-policy.ts';
import { defaultTiming } from './timing.ts';

const NOW = 10_000_000;
const three: RetrySettings = { timing: defaultTiming, versions: 3, isSingle: false };
const one: RetrySettings = { ...three, versions: 1 };
const single: RetrySettings = { ...one, isSingle: true };

const watching: RetryMemory = { ...firstTry, isEstablished: true, step: { kind: 'watch' } };
const STREAM = { kind: 'stream' } as const;
const WATCH = { kind: 'watch' } as const;
const list = (from: RetryMemory['listFrom']) => ({ kind: 'list', from }) as const;
const inPages = { step: list('latest'), listFrom: 'latest', isBroken: true } as const;
const isOld = { streamRefusedAt: NOW - 60_000 };

type Failed = Extract<Outcome, { kind: 'failed' }>;
const failed = (failure: Failed['failure'], watched = 0, pages = 0): Failed => ({
  kind: 'failed',
  failure,
  watched,
  pages,
});
const words = 'why';
const unreachable = failed({ kind: 'unreachable', words });
const network = failed({ kind: 'network', words });
const forbidden = failed({ kind: 'permission', words: '403' });
const missing = failed({ kind: 'missing-kind', words: '404' });
const tooOld = failed({ kind: 'expired', why: 'too-old', words });
const doubtful = failed({ kind: 'expired', why: 'doubtful', words });
const unexpected = failed({ kind: 'unexpected', words, error: undefined });
const noStream = failed({ kind: 'no-watch-list', words });
const slow = (retryAfter: number) => failed({ kind: 'server', words, retryAfter });

/** before, outcome, settings -> what changes in memory, wait in milliseconds. */
const table: readonly (readonly [
  string,
  Partial<RetryMemory>,
  Outcome,
  RetrySettings,
  Partial<RetryMemory>,
  readonly [number, number],
])[] = [
  ['listed', { step: STREAM, refusals: 1 }, { kind: 'listed' }, one, { step: WATCH, refusals: 0 }, [0, 0]],
  ['listed keeps failures', { failures: 3 }, { kind: 'listed' }, one, { failures: 3 }, [0, 0]],
  ['proven', { failures: 3, refusals: 2 }, { kind: 'proven' }, one, { failures: 0, refusals: 0 }, [0, 0]],
  ['ended', { failures: 3 }, { kind: 'ended' }, one, { step: WATCH, failures: 0 }, [0, 0]],
  [
    'refused by the server, one object',
    { ...isOld, failures: 1 },
    slow(0),
    single,
    { step: list('cache'), failures: 2 },
    [1000, 3000],
  ],
  ['ended, one object', isOld, { kind: 'ended' }, single, { step: list('cache') }, [0, 0]],
  ['unreachable', {}, unreachable, one, { step: WATCH, failures: 0 }, [500, 1500]],
  ['unreachable for long', { failures: 9 }, unreachable, one, { failures: 9 }, [500, 1500]],
  ['connection lost', {}, network, one, { step: WATCH, failures: 1 }, [500, 1500]],
  ['lost again', { failures: 2 }, network, one, { step: WATCH, failures: 3 }, [2000, 6000]],
  ['lost often', { failures: 20 }, network, one, { failures: 21 }, [10_000, 30_000]],
  [
    'lost after it stood',
    { failures: 5 },
    failed(network.failure, 11_000),
    one,
    { failures: 1 },
    [500, 1500],
  ],
  [
    'lost in a list',
    { step: STREAM },
    network,
    one,
    { step: list('latest'), isBroken: true, failures: 1 },
    [500, 1500],
  ],
  [
    'lost in a list of one object',
    { step: list('cache') },
    network,
    single,
    { step: list('cache'), isBroken: false },
    [500, 1500],
  ],
  [
    'lost after a page',
    { step: list('latest'), isBroken: true, failures: 4 },
    failed(network.failure, 0, 1),
    one,
    { step: list('latest'), failures: 1 },
    [500, 1500],
  ],
  [
    'refused after a page',
    { ...inPages, failures: 4 },
    failed(slow(0).failure, 0, 1),
    one,
    { failures: 5 },
    [8_000, 24_000],
  ],
  ['410 in pages', inPages, tooOld, one, { step: list('latest'), failures: 1 }, [0, 2_000]],
  ['of several versions', inPages, { kind: 'mixed' }, one, { ...inPages, mixed: 1 }, [0, 2_000]],
  [
    'of several versions again',
    { ...inPages, mixed: 2 },
    { kind: 'mixed' },
    one,
    { mixed: 3 },
    [2_000, 6_000],
  ],
  [
    'listed in pages',
    { ...inPages, mixed: 2 },
    { kind: 'listed' },
    one,
    { step: WATCH, isBroken: false, mixed: 0 },
    [0, 0],
  ],
  ['429 with Retry-After', {}, slow(1_000), one, { step: WATCH, failures: 1 }, [1_000, 1_500]],
  ['a long Retry-After', {}, slow(20_000), one, { failures: 1 }, [20_000, 30_000]],
  ['an endless Retry-After', {}, slow(1e9), one, { failures: 1 }, [60_000, 90_000]],
  ['410', isOld, tooOld, one, { step: list('reached'), failures: 1 }, [0, 2_000]],
  ['410 again', { ...isOld, failures: 1 }, tooOld, one, { step: list('reached') }, [1_000, 3_000]],
  ['410 to a list', { ...isOld, step: list('reached') }, tooOld, one, { step: list('latest') }, [0, 2_000]],
  ['doubt', isOld, doubtful, one, { step: list('latest') }, [0, 2_000]],
  ['doubt, streams known', {}, doubtful, one, { step: STREAM }, [0, 2_000]],
  ['internal error', isOld, unexpected, one, { step: list('latest'), failures: 1 }, [500, 1500]],
  ['no stream', { step: STREAM }, noStream, one, { step: list('cache'), streamRefusedAt: NOW }, [0, 0]],
  ['after an upgrade', { streamRefusedAt: NOW - 3_600_000 }, tooOld, one, { step: STREAM }, [0, 2_000]],
  ['a refusal', {}, forbidden, three, { version: 0, step: WATCH, refusals: 1 }, [500, 1500]],
  ['a third one', { refusals: 2 }, missing, three, { version: 0, step: WATCH, refusals: 3 }, [2000, 6000]],
  ['a fifth one', { refusals: 4 }, forbidden, three, { version: 1, step: STREAM, refusals: 0 }, [0, 0]],
  [
    'a fifth one of the only version',
    { refusals: 4 },
    forbidden,
    one,
    { version: 0, step: WATCH },
    [8000, 24_000],
  ],
  ['a better version', { version: 2 }, { kind: 'better-version', version: 0 }, three, { version: 0 }, [0, 0]],
];

test.each(table)('%s', (_name, before, outcome, settings, after, [min, max]) => {
  const retry = decideRetry({ ...watching, ...before }, outcome, NOW, settings);
  expect(retry.memory).toMatchObject(after);
  expect(retry.wait).toEqual({ min, max });
});

describe('at the first list', () => {
  test('403 is tried once more: the server may not have loaded its roles', () => {
    const first = decideRetry(firstTry, forbidden, NOW, three);
    expect(first.memory).toMatchObject({ version: 0, refusals: 1 });
    const second = decideRetry(first.memory, forbidden, NOW, three);
    expect(second).toMatchObject({ memory: { version: 1, refusals: 0 }, wait: { max: 0 } });
    expect(second.downgrade).toMatchObject({ kind: 'permission' });
  });

  test('404 goes on to the next version at once', () => {
    const retry = decideRetry(firstTry, missing, NOW, three);
    expect(retry).toMatchObject({ memory: { version: 1 }, wait: { max: 0 } });
  });

  test('when every version is refused, a missing permission is reported and the best one is tried again', () => {
    let retry = decideRetry(firstTry, forbidden, NOW, three);
    for (const outcome of [forbidden, missing, missing])
      retry = decideRetry(retry.memory, outcome, NOW, three);
    expect(retry.reason).toMatchObject({ kind: 'permission' });
    expect(retry.memory).toMatchObject({ version: 0, failures: 1 });
  });
});
