import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { compileCorefile } from '@portolan/frontends/coredns/settings/compile-corefile.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { expect, it } from 'vitest';
import { changesBetween } from './plan-changes.ts';

function compilePlan(text: string) {
  const reading = readCorefile(text, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  return compileCorefile(reading.blocks);
}

const changes = (old: string, next: string) =>
  changesBetween(compilePlan(old), compilePlan(next)).map(({ where, what }) => `${where}: ${what}`);

const PLAIN = '. {\n cache 30\n forward . 192.0.2.1\n}\n';

it('finds no change in a plan that only looks otherwise', () => {
  expect(changes(PLAIN, '.:53 {\n  # a comment\n  forward . 192.0.2.1\n  cache 30\n}\n')).toEqual([]);
});

it('names options with both values, plugins, blocks and endpoints', () => {
  const next =
    '. {\n cache 60\n forward . 192.0.2.1 {\n  policy sequential\n }\n loadbalance\n}\nexample.org {\n whoami\n}\n';
  expect(changes(PLAIN, next)).toEqual([
    'dns://:53 .: loadbalance added',
    'dns://:53 .: cache.success.maxTtl: 30 -> 60',
    'dns://:53 .: cache.denial.maxTtl: 30 -> 60',
    "dns://:53 .: forward.routes[0].plan.policy: 'random' -> 'sequential'",
    'dns://:53 example.org.: added: whoami',
  ]);
  expect(changes(next, PLAIN)).toContain('dns://:53 example.org.: removed');
  expect(changes(PLAIN, PLAIN.replace('cache 30', 'prometheus :9153'))).toEqual([
    'dns://:53 .: cache removed',
    'dns://:53 .: prometheus added',
    'endpoints: metrics at :9153 added',
  ]);
});

it('takes a block with another port for another block', () => {
  expect(changes(PLAIN, PLAIN.replace('. {', '.:5353 {'))).toEqual([
    'dns://:53 .: removed',
    'dns://:5353 .: added: cache forward',
  ]);
});

it('bounds the list', () => {
  const upstreams = (last: number) =>
    Array.from({ length: 40 }, (_, zone) => {
      const addresses = Array.from({ length: 15 }, (__, index) => `192.0.${last}.${index + 1}`);
      return `z${zone}.example {\n forward . ${addresses.join(' ')}\n}`;
    }).join('\n');
  const all = changes(upstreams(2), upstreams(3));
  expect(all).toHaveLength(501);
  expect(all.at(-1)).toBe('the plan: 100 further changes');
});
