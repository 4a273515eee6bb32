import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { expect, it } from 'vitest';
import { ServerFindings } from './findings.ts';
import { WrongClusterDomains } from './wrong-cluster-domain.ts';

it('logs findings of every kind, and of many a part at a time', () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const kinds = [
    { kind: 'services', state: 'failing', age: undefined, words: 'forbidden' },
    { kind: 'endpointslices', state: 'failing', age: undefined, words: 'no connection: refused' },
  ];
  const rejected = Array.from({ length: 30 }, (_, index) => `line ${index}: bad`);
  const foreignDomains = new WrongClusterDomains(clock);
  const findings = new ServerFindings(
    () => ({
      inspections: [],
      dataAge: 0,
      kinds,
      losses: [],
      rejected,
      missingRules: undefined,
      foreignDomains,
    }),
    clock,
    log,
  );
  findings.start();
  clock.advance(15_000);
  expect(log.records).toHaveLength(20);
  clock.advance(60_000);
  findings.stop();
  const logged = log.records.map(({ fields }) => String(fields?.['finding']));
  expect(logged).toHaveLength(32);
  expect(new Set(logged)).toEqual(new Set(['api-forbidden', 'api-unreachable', 'config-rejected']));
});

it('logs a finding when it begins and when it ends, once each', () => {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const foreignDomains = new WrongClusterDomains(clock);
  const facts = {
    inspections: [],
    dataAge: 0,
    kinds: [],
    losses: [],
    rejected: [],
    missingRules: undefined,
    foreignDomains,
  };
  const findings = new ServerFindings(() => facts, clock, log);
  findings.start();
  clock.advance(60_000);
  expect(log.records).toEqual([]);
  facts.dataAge = 120_000;
  clock.advance(60_000);
  facts.dataAge = 0;
  clock.advance(60_000);
  findings.stop();
  facts.dataAge = 120_000;
  clock.advance(60_000);
  expect(log.records.map(({ level, message, fields }) => [level, message, fields?.['finding']])).toEqual([
    ['warn', 'finding', 'data-stale'],
    ['info', 'finding ended', 'data-stale'],
  ]);
  expect(findings.current().map(({ kind }) => kind)).toEqual(['data-stale']);
});

it('reads the facts once for all checks', () => {
  const clock = new ManualClock();
  const foreignDomains = new WrongClusterDomains(clock);
  const facts = {
    inspections: [],
    dataAge: 0,
    kinds: [],
    losses: [],
    rejected: [],
    missingRules: undefined,
    foreignDomains,
  };
  let reads = 0;
  const readFacts = () => {
    reads += 1;
    return facts;
  };
  new ServerFindings(readFacts, clock, new RecordingLog()).current();
  expect(reads).toBe(1);
});
