/**
 * What dnsmasq accepts is accepted, what it refuses is refused, with the same exit code: on command lines and in files.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EXIT, SYNTAX_OK } from '../../src/config/dnsmasq/exit-codes.ts';
import type { Option } from '../../src/config/dnsmasq/option.ts';
import { readDnsmasqOptions } from '../../src/config/dnsmasq/read-options.ts';
import { describeWithTool, itWithTool } from '../support/tools.ts';
import { memorySources } from './memory-sources.ts';
import { appliedOptions, isKnownDifference, optionValue } from './option-lines.ts';
import { askDnsmasq } from './real-dnsmasq.ts';

const TEST = ['--test', '--conf-file=-'];

function ourCode(words: readonly string[], standardInput = ''): number {
  const reading = readDnsmasqOptions(words, memorySources({ standardInput }));
  return reading.kind === 'bad' ? reading.exitCode : 0;
}

function expectAgreement(words: readonly string[], standardInput = ''): void {
  const theirs = askDnsmasq(words, standardInput);
  const context = { words, standardInput, said: theirs.said };
  expect({ ...context, code: ourCode(words, standardInput) }).toEqual({ ...context, code: theirs.code });
}

describeWithTool('dnsmasq', 'values', () => {
  it.each(appliedOptions.map((option): [string, Option] => [option.name, option]))(
    'of %s',
    (name, option) => {
      if (option.takes === 'nothing') {
        for (const text of [name, `${name}=`, `${name}=x`]) {
          expectAgreement([...TEST, `--${text}`]);
          expectAgreement(TEST, text);
        }
        return;
      }
      for (const value of fc.sample(optionValue, { numRuns: 10, seed: 7 })) {
        if (isKnownDifference(option, value)) continue;
        expectAgreement([...TEST, `--${name}=${value}`]);
        expectAgreement(TEST, `${name}=${value}\n`);
      }
    },
  );
});

describeWithTool('dnsmasq', 'values that were chosen', () => {
  it.each([
    ['server=/a/b/1.2.3.4#53', 0],
    ['server=/1.2.3.4', 0],
    ['server=', 0],
    ['local=//', 0],
    ['address=/#/1.2.3.4', 0],
    ['address=/a/1.2.3', 1],
    ['rev-server=10.0.0.0/9,1.2.3.4', 0],
    ['rev-server=10.0.0.0/33,1.2.3.4', 1],
    ['rev-server=10.0.0.0/0,1.2.3.4', 1],
    ['rev-server=::1', 0],
    ['host-record=a', 1],
    ['host-record=a,', 0],
    ['host-record=a,b,1.2.3.4,::1,5', 0],
    ['cname=a,b,c,5', 0],
    ['cname=a,5', 0],
    ['cname=a', 1],
    ['cname=a,a', 1],
    ['naptr-record=a,1,2,u,s', 1],
    ['naptr-record=a,1,2,u,s,r', 0],
    ['caa-record=a,0,issue', 1],
    ['caa-record=a,0,issue,', 0],
    ['dns-rr=a,65280,01:2-3 4', 0],
    ['txt-record="a,b","c,d"', 0],
    ['txt-record="a', 1],
    ['txt-record="a\\"b",c', 0],
    ['host-record=a,"1.2.3.4"', 0],
    ['local-service="net"', 1],
    ['log-queries=anything', 0],
    ['domain=a,10.0.0.0/24,local', 0],
    ['domain=a,10.0.0.0/24,other', 1],
    ['domain=a,10.0.0.1,10.0.0.9', 0],
    ['domain=a,10.0.0.1,::1', 1],
    ['domain=a,eth0', 0],
    ['alias=192.168.0.10-192.168.0.40,10.0.0.0,255.255.255.0', 0],
    ['alias=192.168.0.10-192.168.1.40,10.0.0.0,255.255.255.0', 1],
    ['fast-dns-retry', 0],
    ['fast-dns-retry=49', 1],
    ['max-tcp-connections=0', 1],
    ['no-hosts # comment', 0],
    ['  no-hosts=', 1],
    ['port = 53', 0],
    ['port=53#54', 1],
    ['test', 0],
    ['nohosts', 1],
    ['--no-hosts', 1],
  ])('%s', (line, code) => {
    expect(askDnsmasq(TEST, line).code).toBe(code);
    expect(ourCode(TEST, line)).toBe(code);
  });
});

describeWithTool('dnsmasq', 'command lines', () => {
  it.each([
    [['--no-ho'], 0],
    [['--no'], 1],
    [['--domain-s', 'a'], 0],
    [['--dom=a'], 1],
    [['--port', '53'], 0],
    [['--port'], 1],
    [['--port='], 0],
    [['-p53'], 0],
    [['-p', '53'], 0],
    [['-kdq'], 0],
    [['-qport'], 1],
    [['-kp53'], 0],
    [['-kp', '-q'], 1],
    [['-x'], 1],
    [['-x', ''], 0],
    [['--pid-file'], 0],
    [['--pid-file', '/x'], 1],
    [['-S', '--local'], 1],
    [['--local-service', '--local-service'], 1],
    [['-p', '1', '-p', '2'], 1],
    [['-k', '-k'], 0],
    [['--', '-k'], 1],
    [['--'], 0],
    [['-'], 1],
    [['', ' '], 0],
    [['word', '-k'], 1],
    [['-#'], 1],
    [['--cname=a,b', '--cname=b,a'], 1],
    [['--cname=a,b', '--cname=A,c'], 1],
    [['--no-poll', '-r', '/a', '-r', '/b'], 1],
    [['--no-poll', '-R', '-r', '/a', '-r', '/b'], 0],
    [['--min-port=9', '--max-port=8'], 0],
    [['--servers-file=/no/such/file'], 0],
    [['--conf-dir=/no/such/folder'], 3],
    [['--conf-dir='], 0],
    [['--domain=#', '-R'], 1],
    [['--domain=#', '--resolv-file=/no/such/file'], 3],
    [['--domain=#', '--resolv-file=/dev/null'], 5],
  ])('%j', (words, code) => {
    const all = ['--test', '--conf-file=-', ...words];
    const sources = memorySources({ files: { '/dev/null': '' } });
    const reading = readDnsmasqOptions(all, sources);
    expect(askDnsmasq(all).code).toBe(code);
    expect(reading.kind === 'bad' ? reading.exitCode : 0).toBe(code);
  });
});

itWithTool('dnsmasq', 'a good configuration is answered in the same words', () => {
  expect(askDnsmasq(TEST)).toEqual({ code: EXIT.GOOD, said: SYNTAX_OK });
});

describe('the known differences', () => {
  it.each([
    ['port=4294967349', 'a number that dnsmasq wraps around'],
    ['edns-packet-max=65536', 'a number that dnsmasq wraps around'],
    ['caa-record=a,256,issue,b', 'flags that dnsmasq cuts to eight bits'],
    ['filter-rr=65537', 'a type that dnsmasq takes for A'],
    ['server=127.1', 'a short form of an address'],
    ['rebind-domain-ok=-A', 'a name that is none'],
    ['dns-rr=a,1,zz', 'no hexadecimal, of which dnsmasq makes a lack of memory'],
    ['port=\x01', 'a control character, which dnsmasq takes for a quoted digit'],
    ['dhcp-range=10.0.0.1,10.0.0.9', 'an option that Portolan does not do'],
  ])('refuse %s: %s', (line) => {
    expect(ourCode(TEST, line)).toBe(1);
  });

  it('read the spaces of cname right', () => {
    expect(ourCode(TEST, 'cname=a , b , c')).toBe(0);
  });
});
