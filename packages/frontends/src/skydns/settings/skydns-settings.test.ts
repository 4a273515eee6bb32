import { PROPERTY_NAMES } from '@portolan/kernel/base/testing/property-names.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import { expect, it } from 'vitest';
import { readSkyDnsFlags } from './skydns-flags.ts';
import { applyConfig, readSettings } from './skydns-settings.ts';

function readFlags(...flags: readonly string[]) {
  const reading = readSkyDnsFlags(flags, {});
  if (reading.kind !== 'flags') throw new Error('no flags');
  return readSettings(reading.read, {});
}

function apply(config: string) {
  const settings = readFlags();
  if (settings.kind === 'bad') throw new Error('bad settings');
  const read = new ValueReader();
  const applied = applyConfig(settings.settings, config, read);
  return { before: settings.settings, applied, problems: read.problems.map(describeProblem) };
}

it.each(PROPERTY_NAMES)('passes over a field %s of the key config, as unknown ones', (name) => {
  const { before, applied, problems } = apply(`{${JSON.stringify(name)}:1}`);
  expect(applied).toEqual(before);
  expect(problems).toEqual([]);
});

it('names a malformed address of a server', () => {
  const { problems } = apply('{"nameservers":["127.0.0.1:53","127.0.0.300:53"]}');
  expect(problems).toEqual([expect.stringContaining('not an IP address with a port: "127.0.0.300:53"')]);
  expect(readFlags('-nameservers', '127.0.0.300:53')).toMatchObject({
    kind: 'bad',
    problems: [{ where: '-nameservers' }],
  });
});

it('has the query log of all servers', () => {
  expect(readFlags('-query-log=/q', '-query-log-rcode', 'NXDOMAIN')).toMatchObject({
    settings: { queryLog: { file: '/q', settings: { format: 'json', rcodes: [3] } } },
  });
  expect(readFlags('-query-log-rcode=none', '-query-log')).toMatchObject({
    problems: [{ where: '-query-log-rcode' }],
  });
});
