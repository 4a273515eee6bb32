/**
 * We accept and refuse the same options as dnsmasq, with the same exit code, on command lines and in files.
 */
import { EXIT, SYNTAX_OK } from '@portolan/frontends/dnsmasq/settings/exit-codes.ts';
import type { Option } from '@portolan/frontends/dnsmasq/settings/option.ts';
import { readDnsmasqOptions } from '@portolan/frontends/dnsmasq/settings/read-configuration.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeWithTool, itWithTool } from '../support/tools.ts';
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
    ['nftset=/a.b/.c/4#inet#t#s,6#t#s', 0],
    ['nftset=//t#s', 0],
    ['nftset=t#s', 0],
    ['nftset=/é.de/t#s', 0],
    ['nftset=/a/', 1],
    ['nftset=', 1],
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
    ['rebind-domain-ok=-A', 'a malformed name'],
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

/** Lines of a machine that once served DHCP, TFTP and validated answers: none of them turns that on. */
const IGNORED_LINES = `
dhcp-authoritative
dhcp-leasefile=/var/lib/misc/dnsmasq.leases
dhcp-host=11:22:33:44:55:66,192.168.0.60
dhcp-option=option:router,192.168.0.1
dhcp-option=option6:dns-server,[::]
dhcp-boot=pxelinux.0
dhcp-lease-max=150
dhcp-name-match=set:wpad-ignore,wpad
dhcp-ignore-names=tag:wpad-ignore
no-dhcp-interface=eth0
read-ethers
enable-ra
quiet-ra
log-dhcp
pxe-service=x86PC,"Boot from the network",pxelinux
tftp-root=/var/ftpd
tftp-secure
tftp-no-blocksize
dnssec-check-unsigned=no
dnssec-no-timecheck
trust-anchor=.,20326,8,2,E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D
`;

/** As the unit of Debian 12 starts dnsmasq 2.90, with the trust anchors of the package dns-root-data. */
const DEBIAN_WORDS = [
  '-x',
  '/run/dnsmasq/dnsmasq.pid',
  '-u',
  'dnsmasq',
  '-r',
  '/run/dnsmasq/resolv.conf',
  '-7',
  '/etc/dnsmasq.d,.dpkg-dist,.dpkg-old,.dpkg-new',
  '--local-service',
  '--trust-anchor=.,20326,8,2,E06D44B80B8F1D39A95C0B0D7C65D08458E880409BBC683457104237C7F8EC8D',
  '--trust-anchor=.,38696,8,2,683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16',
];

describe('options that matter only to a feature that is off', () => {
  itWithTool('dnsmasq', 'are accepted', () => {
    for (const line of IGNORED_LINES.trim().split('\n')) expectAgreement(TEST, line);
    expectAgreement(TEST, IGNORED_LINES);
    expect(ourCode(TEST, IGNORED_LINES)).toBe(EXIT.GOOD);
  });

  it('change nothing', () => {
    const readOptions = (standardInput: string) =>
      readDnsmasqOptions(['--conf-file=-'], memorySources({ standardInput }));
    const without = readOptions('');
    const reading = readOptions(IGNORED_LINES);
    if (without.kind !== 'good' || reading.kind !== 'good') throw new Error('not accepted');
    expect(reading.plan).toEqual(without.plan);
    expect(reading.notes).toHaveLength(IGNORED_LINES.trim().split('\n').length);
  });

  it("are part of Debian's start line", () => {
    const files = { '/etc/dnsmasq.d/README': '# Configuration fragments.\n' };
    const reading = readDnsmasqOptions(DEBIAN_WORDS, memorySources({ files }));
    expect(reading).toMatchObject({
      kind: 'good',
      plan: {
        listen: { port: 53, localService: true },
        process: { user: 'dnsmasq', pidFile: '/run/dnsmasq/dnsmasq.pid' },
        upstreams: { resolvFiles: ['/run/dnsmasq/resolv.conf'] },
      },
    });
  });
});
