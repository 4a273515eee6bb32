import { silentLog } from '@portolan/kernel/base/log.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { expect, it } from 'vitest';
import { LocalNames } from './local-names.ts';
import { hostsOnly } from './local-plan.ts';
import { LocalisedPublications } from './localised-publications.ts';
import { makeHostNames } from './testing/make-host-names.ts';

it('publications for networks pause also among names that are the same for all clients', () => {
  const table = new TableWriter({ reservation: 2 ** 26, cacheOctets: 2 ** 16, readers: 1 });
  const many = Array.from({ length: 5000 }, (_, index) => [`n${index}`, '0.0.0.0'] as const);
  const hosts = makeHostNames([...many, ['near', '10.0.0.1'], ['near', '10.1.0.1']]);
  const names = new LocalNames({ ...hostsOnly(5), localisesQueries: true }, hosts, 0);
  const network = { address: '10.0.0.0', prefix: 16 };
  const steps = new LocalisedPublications(table, silentLog).replace(names, [network], () => true);
  const before = table.statistics().nodes;
  let pauses = 0;
  while (steps.next().done !== true) pauses += 1;
  expect(pauses).toBe(10);
  expect(table.statistics().nodes - before).toBe(1);
});
