import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { memorySources } from '../../../test/dnsmasq-options/memory-sources.ts';
import { planOf } from '../../../test/dnsmasq-options/plan-of.ts';
import { helpText } from './help-text.ts';
import { octetsOf } from './octets.ts';
import { allOptions } from './option-table.ts';
import { readDnsmasqOptions } from './read-options.ts';

const read = (...words: readonly string[]) => readDnsmasqOptions(words, memorySources());

describe('what is asked for', () => {
  it.each([
    [['--help'], 'help'],
    [['-w'], 'help'],
    [['--help', 'dhcp'], 'help'],
    [['--version'], 'version'],
    [['-kv'], 'version'],
    [['--port=x', '-v', '-w'], 'version'],
  ])('%j', (words, kind) => {
    expect(read(...words)).toEqual({ kind });
  });

  it('is no help where --help is a value', () => {
    expect(read('--txt-record', '--help').kind).toBe('good');
  });

  it('is a check only with --test', () => {
    expect(read('--test')).toMatchObject({ kind: 'good', test: true, notes: [] });
    expect(read()).toMatchObject({ kind: 'good', test: false });
  });
});

describe('conflicts', () => {
  it.each([
    [['--cname=a,b', '--cname=b,c', '--cname=c,a', '--cname=d,a'], ['--cname']],
    [['--cname=a,b', '--cname=b,c'], []],
    [['--no-poll', '-r', '/a', '-r', '/b'], ['--no-poll']],
    [['--min-port=2000', '--max-port=1999'], ['--max-port']],
    [['--max-port=1000'], ['--max-port']],
    [['--max-port=2000', '--port-limit=977'], []],
    [['--max-port=2000', '--port-limit=978'], ['--port-limit']],
    [['--min-port=65535', '--port-limit=2'], ['--port-limit']],
    [['--port-limit=60000'], []],
    [['-z', '--bind-dynamic'], ['--bind-dynamic']],
  ])('%j', (words, where) => {
    const reading = read(...words);
    expect(reading.kind === 'bad' ? reading.problems.map((problem) => problem.where) : []).toEqual(where);
  });

  it('that only a start would find are told by --test', () => {
    expect(read('--test', '-z', '--bind-dynamic')).toMatchObject({
      kind: 'good',
      notes: [{ where: '--bind-dynamic', text: 'It will not start: given with --bind-interfaces.' }],
    });
  });
});

it('is whole without any option', () => {
  expect(planOf('')).toMatchObject({
    upstreams: {
      routes: [],
      resolvFiles: ['/etc/resolv.conf'],
      followsResolvFiles: true,
      choice: 'preferred',
      sourcePorts: { kind: 'random', least: 1024, most: 65_535 },
      portLimit: 1,
      forwardMax: 1500,
    },
    cache: { size: 150, negatives: true, stale: 'never', roundRobin: true },
    local: { ttl: 0, hostsFiles: ['/etc/hosts'], records: [], mxOfHosts: { kind: 'none' }, identifies: true },
    listen: { port: 53, interfaces: 'all', addresses: [], bind: 'wildcard', ednsPacketMax: 1232 },
    process: {
      mode: 'background',
      user: 'nobody',
      group: { kind: 'default' },
      pidFile: '/var/run/dnsmasq.pid',
    },
    log: { to: { kind: 'syslog', facility: 'daemon' }, queries: 'off', debug: false },
  });
});

describe('any words and any file', () => {
  const names = allOptions.map(({ name }) => name).filter((name) => !['help', 'version'].includes(name));
  const word = fc.tuple(fc.constantFrom(...names), fc.string()).map(([name, value]) => `--${name}=${value}`);
  const line = fc
    .tuple(fc.constantFrom(...names), fc.uint8Array({ maxLength: 40 }))
    .map(([name, octets]) => `${name}=${octetsOf(octets)}`);

  it('are read without throwing', () => {
    fc.assert(
      fc.property(fc.array(word), fc.array(line), (words, lines) => {
        const file = Buffer.from(lines.join('\n'), 'latin1');
        const reading = readDnsmasqOptions(['-C', '/f', ...words], memorySources({ files: { '/f': file } }));
        expect(['good', 'bad']).toContain(reading.kind);
      }),
      { numRuns: 300 },
    );
  });
});

it('shows every option in its help, none wider than a terminal', () => {
  const lines = helpText().split('\n');
  for (const { name } of allOptions) expect(lines.some((line) => line.includes(`--${name}`))).toBe(true);
  expect(lines.filter((line) => line.length > 140)).toEqual([]);
});
