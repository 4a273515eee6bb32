import { readFileSync, readSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { closeDescriptor } from '@portolan/kernel/socket/descriptor.ts';
import { libc } from '@portolan/kernel/socket/libc.ts';
import { SOCK_DGRAM } from '@portolan/kernel/socket/linux.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { DnsmasqLogPlan, ProcessPlan } from '../settings/dnsmasq-plan.ts';
import { openDnsmasqLog } from './dnsmasq-log.ts';

const STAMP = '[A-Z][a-z]{2} [ \\d]\\d \\d\\d:\\d\\d:\\d\\d';

function open(to: DnsmasqLogPlan['to'], mode: ProcessPlan['mode'], more: object = {}) {
  const lines: string[] = [];
  const log = openDnsmasqLog({
    plan: { to, queries: 'off', debug: false },
    mode,
    pid: 77,
    clock: new ManualClock(),
    writeError: (line: string) => void lines.push(line),
    syslogPath: '/nonexistent/log',
    ...more,
  });
  return { log, lines };
}

/** A datagram socket at a path, like that of the syslog daemon. */
function listenAt(path: string): () => string {
  const AF_UNIX = 1;
  const fd = libc().socket(AF_UNIX, SOCK_DGRAM, 0);
  onTestFinished(() => closeDescriptor(fd));
  const address = Buffer.concat([Buffer.from([AF_UNIX, 0]), Buffer.from(`${path}\0`)]);
  expect(libc().bind(fd, address, address.length)).toBe(0);
  const datagram = Buffer.alloc(2_000);
  return () => datagram.toString('utf8', 0, readSync(fd, datagram));
}

describe('standard error', () => {
  it('is stamped by its reader, where there is one', () => {
    const { log, lines } = open({ kind: 'standard-error' }, 'foreground');
    log.info('started');
    log.warn('odd', { reason: 'none\nat all', count: 3, nothing: undefined });
    log.debug('unheard');
    expect(lines).toEqual(['dnsmasq[77]: started\n', 'dnsmasq[77]: odd reason=none at all count=3\n']);
  });

  it('is stamped here in the background', () => {
    const { log, lines } = open({ kind: 'standard-error' }, 'background');
    log.info('started');
    expect(lines[0]).toMatch(new RegExp(`^${STAMP} dnsmasq\\[77\\]: started\\n$`));
  });

  it('has everything once when debugging, without a number', () => {
    const { log, lines } = open({ kind: 'standard-error' }, 'debug');
    log.info('started');
    expect(lines).toEqual(['dnsmasq: started\n']);
  });
});

describe('a file', () => {
  it('is written at the end of a turn, and opened again when it was rotated', async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'log');
    const { log } = open({ kind: 'file', path: file }, 'background');
    log.info('one');
    log.info('two');
    await new Promise((resolve) => setImmediate(resolve));
    expect(readFileSync(file, 'utf8')).toMatch(
      new RegExp(`^${STAMP} dnsmasq\\[77\\]: one\\n${STAMP} dnsmasq\\[77\\]: two\\n$`),
    );
    renameSync(file, `${file}.1`);
    log.info('three');
    log.reopen();
    log.info('four');
    log.flush();
    expect(readFileSync(`${file}.1`, 'utf8')).toContain('three');
    expect(readFileSync(file, 'utf8')).toMatch(/^[^\n]*four\n$/);
  });

  it('must be writable', () => {
    expect(() => open({ kind: 'file', path: '/dev/null/log' }, 'background')).toThrow(
      'cannot open log: /dev/null/log: ENOTDIR',
    );
  });

  it('stays the old one where there can be no new one', async () => {
    const { path, write } = await makeTemporaryFolder();
    const file = await write('logs/log', '');
    const { log } = open({ kind: 'file', path: file }, 'background');
    renameSync(file, join(path, 'kept'));
    rmdirSync(join(path, 'logs'));
    expect(() => log.reopen()).toThrow('cannot open log');
    log.info('still here');
    log.flush();
    expect(readFileSync(join(path, 'kept'), 'utf8')).toContain('still here');
  });
});

describe('syslog', () => {
  it('gets datagrams with facility and severity, from the moment it is there', async () => {
    const { path } = await makeTemporaryFolder();
    const syslogPath = join(path, 'socket');
    const { log, lines } = open({ kind: 'syslog', facility: 'local3' }, 'background', { syslogPath });
    log.info('into the void');
    const receive = listenAt(syslogPath);
    log.info('started');
    expect(receive()).toMatch(new RegExp(`^<158>${STAMP} dnsmasq\\[77\\]: started$`));
    log.error('wrong');
    expect(receive()).toMatch(/^<155>/);
    expect(lines).toEqual([]);
  });

  it('is standard error in the foreground where there is none', () => {
    const { log, lines } = open({ kind: 'syslog', facility: 'daemon' }, 'foreground');
    log.info('started');
    expect(lines).toEqual(['dnsmasq[77]: started\n']);
  });
});
