import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { decodeConfigText } from '@portolan/kubernetes/config-map/config-texts.ts';
import { expect, it } from 'vitest';
import { LastGoodConfig } from './last-good-config.ts';

function start() {
  const log = new RecordingLog();
  const clock = new ManualClock();
  const taken: (readonly string[])[] = [];
  const config = new LastGoodConfig({
    source: '/config',
    onChange: async ({ stubDomains }) => {
      taken.push(stubDomains.map(({ domain }) => domain));
    },
    clock,
    log,
  });
  const take = (values: Readonly<Record<string, string>>) =>
    config.take(
      new Map(
        Object.entries(values).map(([key, text]) => [key, decodeConfigText(Buffer.from(text))] as const),
      ),
    );
  return { config, clock, log, taken, take };
}

/** The line of a change follows it. */
const untilInForce = () => new Promise((resolve) => setImmediate(resolve));

const stub = (domain: string) => ({ stubDomains: `{"${domain}": ["10.0.0.1"]}` });

it('takes in what is good, and keeps it while there is nothing better', async () => {
  const { config, clock, log, taken, take } = start();
  expect(config.stats()).toMatchObject({ isLastGood: false, changes: 0, changedAt: undefined });
  take(stub('a'));
  expect(log.records).toEqual([]);
  await untilInForce();
  clock.advance(1000);
  take({ ...stub('b'), upstreamNameservers: 'x' });
  expect(config.stats()).toEqual({
    errors: new Map([
      ['stubDomains', 0],
      ['upstreamNameservers', 1],
      ['federations', 0],
    ]),
    isLastGood: true,
    problems: [
      'upstreamNameservers: not JSON: "x". Give a list of addresses, as in ["8.8.8.8", "8.8.4.4:53"].',
    ],
    changes: 1,
    changedAt: clock.now() - 1000,
  });
  take(stub('c'));
  expect(config.stats()).toMatchObject({ isLastGood: false, changes: 2, changedAt: clock.now() });
  expect(taken).toEqual([['a.'], ['c.']]);
  await untilInForce();
  expect(log.records.map(({ level, message, fields }) => [level, message, fields['key']])).toEqual([
    ['info', 'ConfigMap applied', undefined],
    [
      'error',
      'configuration rejected, keeping the last good one: upstreamNameservers: not JSON: "x". Give a list of addresses, as in ["8.8.8.8", "8.8.4.4:53"].',
      'upstreamNameservers',
    ],
    ['info', 'ConfigMap applied', undefined],
  ]);
});

it('takes the same again for no change, good or bad', () => {
  const { config, taken, take } = start();
  take(stub('a'));
  take({ ...stub('a'), other: 'key' });
  take({ federations: '?' });
  take({ federations: '?' });
  expect(taken).toHaveLength(1);
  expect(config.stats().errors.get('federations')).toBe(1);
  // Return to the settings in force: no rejected change remains.
  take(stub('a'));
  expect(config.stats().isLastGood).toBe(false);
});

it('means defaults by nothing', () => {
  const { taken, take } = start();
  take({});
  take(stub('a'));
  take({});
  expect(taken).toEqual([[], ['a.'], []]);
});

it('tells of few of many mistakes', () => {
  const { log, take } = start();
  take({ upstreamNameservers: JSON.stringify(Array.from({ length: 1000 }, () => 'x')) });
  expect(log.records).toHaveLength(11);
  expect(log.records.at(-1)?.fields).toEqual({ problems: 990 });
});

it('names few of many domains', async () => {
  const { log, take } = start();
  const domains = Array.from({ length: 12 }, (_, index) => [`d${index}`, ['10.0.0.1']]);
  take({ stubDomains: JSON.stringify(Object.fromEntries(domains)) });
  await untilInForce();
  expect(log.records[0]?.fields['stubDomains']).toMatch(/^d0\. d1\. .* d9\. and 2 more$/);
});
