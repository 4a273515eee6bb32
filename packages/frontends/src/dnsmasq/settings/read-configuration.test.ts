import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { helpText } from './help-text.ts';
import { decodeLatin1 } from './octets.ts';
import { allOptions } from './option-table.ts';
import { type DnsmasqReading, readDnsmasqOptions } from './read-configuration.ts';
import { type MemoryFiles, memorySources } from './testing/memory-sources.ts';
import { readPlan, requireGood } from './testing/read-plan.ts';

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
  expect(readPlan('')).toMatchObject({
    upstreams: {
      routes: [],
      resolvFiles: ['/etc/resolv.conf'],
      followsResolvFiles: true,
      choice: 'preferred',
      sourcePorts: { kind: 'random', min: 1024, max: 65_535 },
      portLimit: 1,
      forwardMax: 1500,
    },
    cache: { size: 150, negatives: true, stale: 'never', rotatesAddresses: true },
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
    .map(([name, octets]) => `${name}=${decodeLatin1(octets)}`);

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

function readFiles(words: readonly string[], files: MemoryFiles['files'] = {}, links = {}): DnsmasqReading {
  return readDnsmasqOptions(words, memorySources({ files, links, standardInput: 'port=99' }));
}

/** The order in which the TXT options were read, seen from their texts. */
function readOrder(reading: DnsmasqReading): string {
  return requireGood(reading)
    .plan.local.records.map(({ name }) => name.slice(0, -1))
    .join(' ');
}

function listProblems(reading: DnsmasqReading): readonly string[] {
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}

describe('files', () => {
  it('are /etc/dnsmasq.conf where none is named', () => {
    const files = { '/etc/dnsmasq.conf': 'port=54', '/other': 'port=55' };
    expect(requireGood(readFiles([], files)).plan.listen.port).toBe(54);
    expect(requireGood(readFiles(['-C', '/other'], files)).plan.listen.port).toBe(55);
    expect(requireGood(readFiles(['-C', ''], files)).plan.listen.port).toBe(54);
  });

  it('are read in the order of dnsmasq: the first one last', () => {
    const files = {
      '/a': 'txt-record=a',
      '/b': 'txt-record=b\nconf-file=/d\ntxt-record=b2',
      '/d': 'txt-record=d',
    };
    expect(readOrder(readFiles(['-C', '/a', '-Y', '1', '-C', '/b', '-Y', '2'], files))).toBe('1 b d b2 2 a');
  });

  it('are read once, however they are named', () => {
    const files = { '/a': 'txt-record=a\nconf-file=/a\nconf-file=/link' };
    expect(readOrder(readFiles(['-C', '/a', '-C', '/link'], files, { '/link': '/a' }))).toBe('a');
  });

  it('may be standard input, once', () => {
    expect(requireGood(readFiles(['-C', '-', '-C', '-'])).plan.listen.port).toBe(99);
  });

  it('must be there', () => {
    const reading = readFiles(['-C', '/none']);
    expect(listProblems(reading)).toEqual([
      '--conf-file: cannot read a file, no such file or folder: "/none". Name a file that can be read.',
    ]);
    expect(reading).toMatchObject({ exitCode: 3 });
  });
});

describe('folders', () => {
  const files = {
    '/d/10.conf': 'txt-record=10',
    '/d/9.conf': 'txt-record=9',
    '/d/1.old': 'txt-record=old',
    '/d/.hidden.conf': 'txt-record=hidden',
    '/d/x.conf~': 'txt-record=backup',
    '/d/#x.conf#': 'txt-record=autosave',
    '/d/.conf': 'txt-record=suffix',
    '/d/deeper/1.conf': 'txt-record=deeper',
  };

  it.each([
    ['/d', 'old 10 9'],
    ['/d,*.conf', '10 9'],
    ['/d,.old', '10 9'],
    ['/d,*.conf,9.conf', '10 9'],
    ['/d,*.conf,0.conf', '9'],
    ['/d,*', 'old 10 9'],
    ['/d, *.old', 'old'],
  ])('--conf-dir=%s', (value, order) => {
    expect(readOrder(readFiles([`--conf-dir=${value}`], files))).toBe(order);
  });

  it('must be there', () => {
    expect(readFiles(['-7', '/none'])).toMatchObject({ kind: 'bad', exitCode: 3 });
  });
});

describe('options that are given once', () => {
  it('are taken from files where both are given', () => {
    const files = { '/a': 'port=54' };
    expect(requireGood(readFiles(['-p', '1', '-C', '/a'], files)).plan.listen.port).toBe(54);
    const late = requireGood(
      readFiles(['-C', '/dev/null', '-C', '/a', '-p', '1'], { ...files, '/dev/null': '' }),
    );
    expect(late.plan.listen.port).toBe(54);
    expect(late.notes).toEqual([
      { where: '--port', text: 'It has no effect: a file has set it, and files win over the command line.' },
    ]);
  });

  it('are refused where they are given twice in one of them', () => {
    expect(listProblems(readFiles(['-p', '1', '--port=2']))).toEqual([
      '--port: given twice on the command line. Keep one.',
    ]);
    expect(listProblems(readFiles(['-C', '/a'], { '/a': 'port=1\n\nport=2' }))).toEqual([
      '/a:3: port: given twice in files. Keep one.',
    ]);
  });
});

describe('what a configuration is told', () => {
  it('is every problem, in the order of dnsmasq, with its place', () => {
    const files = { '/a': 'no-hosts=x\n"\nprot=1\nserver' };
    expect(
      listProblems(readFiles(['--dhcp-range=1', '-C', '/a', '--port=x', '--enable-tftp'], files)),
    ).toEqual([
      '--dhcp-range: refused, since it is an option that turns on the DHCP server. Portolan does not do that: leave it out.',
      '--port: not a whole number: "x". Give a port from 0 to 65535.',
      '--enable-tftp: refused, since it is an option that turns on the TFTP server. Portolan does not do that: leave it out.',
      '/a:1: a value given to an option without one: "no-hosts". Leave out what stands behind the name.',
      '/a:2: a quote without its end: "\\"". Close it.',
      '/a:3: unknown option: "prot". Did you mean port?',
      '/a:4: without its value: "server". Give it as in server=[/<domain>/...]<address>.',
    ]);
  });

  it('is what has no effect, and why', () => {
    const { notes } = requireGood(
      readFiles(['--log-async=20', '--strip-mac', '-C', '/a'], { '/a': 'test\nversion' }),
    );
    expect(notes).toEqual([
      { where: '--log-async', text: 'It has no effect: answers never wait for the log in Portolan.' },
      {
        where: '--strip-mac',
        text: 'It has no effect: Portolan never passes EDNS options of clients to upstream servers.',
      },
      { where: '/a:1: test', text: 'It has no effect in a file.' },
      { where: '/a:2: version', text: 'It has no effect in a file.' },
    ]);
  });
});
