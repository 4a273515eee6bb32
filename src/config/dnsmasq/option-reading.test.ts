import { describe, expect, it } from 'vitest';
import { type MemoryFiles, memorySources } from '../../../test/dnsmasq-options/memory-sources.ts';
import { goodOf } from '../../../test/dnsmasq-options/plan-of.ts';
import { describeProblem } from '../problem.ts';
import { type DnsmasqReading, readDnsmasqOptions } from './read-options.ts';

function read(words: readonly string[], files: MemoryFiles['files'] = {}, links = {}): DnsmasqReading {
  return readDnsmasqOptions(words, memorySources({ files, links, standardInput: 'port=99' }));
}

/** Texts of TXT records show the order in which they were read. */
function orderOf(reading: DnsmasqReading): string {
  return goodOf(reading)
    .plan.local.records.map(({ name }) => name.slice(0, -1))
    .join(' ');
}

function problemsOf(reading: DnsmasqReading): readonly string[] {
  return reading.kind === 'bad' ? reading.problems.map(describeProblem) : [];
}

describe('files', () => {
  it('are /etc/dnsmasq.conf where none is named', () => {
    const files = { '/etc/dnsmasq.conf': 'port=54', '/other': 'port=55' };
    expect(goodOf(read([], files)).plan.listen.port).toBe(54);
    expect(goodOf(read(['-C', '/other'], files)).plan.listen.port).toBe(55);
    expect(goodOf(read(['-C', ''], files)).plan.listen.port).toBe(54);
  });

  it('are read in the order of dnsmasq: the first one last', () => {
    const files = {
      '/a': 'txt-record=a',
      '/b': 'txt-record=b\nconf-file=/d\ntxt-record=b2',
      '/d': 'txt-record=d',
    };
    expect(orderOf(read(['-C', '/a', '-Y', '1', '-C', '/b', '-Y', '2'], files))).toBe('1 b d b2 2 a');
  });

  it('are read once, however they are named', () => {
    const files = { '/a': 'txt-record=a\nconf-file=/a\nconf-file=/link' };
    expect(orderOf(read(['-C', '/a', '-C', '/link'], files, { '/link': '/a' }))).toBe('a');
  });

  it('may be standard input, once', () => {
    expect(goodOf(read(['-C', '-', '-C', '-'])).plan.listen.port).toBe(99);
  });

  it('must be there', () => {
    const reading = read(['-C', '/none']);
    expect(problemsOf(reading)).toEqual([
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
    expect(orderOf(read([`--conf-dir=${value}`], files))).toBe(order);
  });

  it('must be there', () => {
    expect(read(['-7', '/none'])).toMatchObject({ kind: 'bad', exitCode: 3 });
  });
});

describe('options that are given once', () => {
  it('are taken from files where both are given', () => {
    const files = { '/a': 'port=54' };
    expect(goodOf(read(['-p', '1', '-C', '/a'], files)).plan.listen.port).toBe(54);
    const late = goodOf(read(['-C', '/dev/null', '-C', '/a', '-p', '1'], { ...files, '/dev/null': '' }));
    expect(late.plan.listen.port).toBe(54);
    expect(late.notes).toEqual([
      { where: '--port', text: 'It has no effect: a file has set it, and files win over the command line.' },
    ]);
  });

  it('are refused where they are given twice in one of them', () => {
    expect(problemsOf(read(['-p', '1', '--port=2']))).toEqual([
      '--port: given twice on the command line. Keep one.',
    ]);
    expect(problemsOf(read(['-C', '/a'], { '/a': 'port=1\n\nport=2' }))).toEqual([
      '/a:3: port: given twice in files. Keep one.',
    ]);
  });
});

describe('what a configuration is told', () => {
  it('is every problem, in the order of dnsmasq, with its place', () => {
    const files = { '/a': 'no-hosts=x\n"\nprot=1\nserver' };
    expect(problemsOf(read(['--dhcp-range=1', '-C', '/a', '--port=x', '--enable-tftp'], files))).toEqual([
      '--dhcp-range: refused, since it is an option of the DHCP server. Portolan does not do that: leave it out.',
      '--port: not a whole number: "x". Give a port from 0 to 65535.',
      '--enable-tftp: refused, since it is an option of the TFTP server. Portolan does not do that: leave it out.',
      '/a:1: a value given to an option without one: "no-hosts". Leave out what stands behind the name.',
      '/a:2: a quote without its end: "\\"". Close it.',
      '/a:3: unknown option: "prot". Did you mean port?',
      '/a:4: without its value: "server". Give it as in server=[/<domain>/...]<address>.',
    ]);
  });

  it('is what has no effect, and why', () => {
    const { notes } = goodOf(read(['--log-async=20', '--strip-mac', '-C', '/a'], { '/a': 'test\nversion' }));
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
