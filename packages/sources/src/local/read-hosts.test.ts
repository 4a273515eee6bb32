import { formatAddress, parseAddress } from '@portolan/dns/address.ts';
import { encodeName, parseName, toKey } from '@portolan/dns/name.ts';
import { keyOfWire } from '@portolan/dns/name-wire.ts';
import { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeUnseenNames } from '@portolan/kernel/records/hosts/testing/make-unseen-names.ts';
import { describe, expect, it } from 'vitest';
import type { HostsManner } from '../hosts/hosts-manner.ts';
import { hostsOnly, type LocalNamesPlan } from './local-plan.ts';
import { readHosts } from './read-hosts.ts';

const key = (text: string) => toKey(parseName(text));
const wire = (text: string) => encodeName(key(text));

/** A word without a dot in place of an address is a warning. */
const MANNER: HostsManner = {
  readAddress: parseAddress,
  readName: () => ({ kind: 'other', warning: 'name' }),
  words: 'octets',
  reportsAddresses: true,
  isHostsFile: () => true,
};

/** Pieces of 1,000 octets. @param isCurrent whether the file is unchanged at its end */
function* pieces(text: string, isCurrent: boolean): Generator<Uint8Array, boolean> {
  const octets = Buffer.from(text);
  for (let start = 0; start < octets.length; start += 1000) yield octets.subarray(start, start + 1000);
  return isCurrent;
}

function run(texts: readonly string[], changes: Partial<LocalNamesPlan> = {}, isCurrent = true) {
  const files = texts.map((text, index) => ({
    path: `/${index}`,
    digest: text,
    size: text.length,
    read: () => pieces(text, isCurrent),
  }));
  const warnings: string[] = [];
  const plan = { ...hostsOnly(5), ...changes };
  const onWarning = (file: { path: string }, { line, value }: { line: number; value: string }) =>
    void warnings.push(`${file.path}:${line} ${value}`);
  const guard = new ItemGuard({ source: 'hosts', clock: new ManualClock(), log: silentLog });
  const names = makeUnseenNames();
  const reading = readHosts(names, { plan, files, manner: MANNER, onWarning, guard });
  let pauses = 0;
  for (;;) {
    const step = reading.next();
    if (step.done === true) return { names: step.value ? names : undefined, warnings, pauses };
    pauses += 1;
  }
}

function read(texts: readonly string[], changes: Partial<LocalNamesPlan> = {}) {
  const { names, ...others } = run(texts, changes);
  if (names === undefined) throw new Error('the files have changed');
  return { names, ...others };
}

const findAddresses = ({ names }: ReturnType<typeof read>, name: string) =>
  names.findAddresses(wire(name)).map(({ octets }) => formatAddress(octets));

function findPointer({ names }: ReturnType<typeof read>, name: string) {
  const pointer = names.pointer(wire(name));
  return pointer && { ...pointer, target: keyOfWire(pointer.target) };
}

describe('reading hosts files', () => {
  it('joins the addresses of a name, and gives an address back to its first name', () => {
    const hosts = read(['10.0.0.1 one\n10.0.0.2 one\n', '10.0.0.1 other\n10.0.0.3 one\nodd\n']);
    expect(findAddresses(hosts, 'one')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(findPointer(hosts, '1.0.0.10.in-addr.arpa')).toEqual({ target: 'one.', ttl: 5, file: '/0' });
    expect(hosts.warnings).toEqual(['/1:3 odd']);
  });

  it('pauses between the pieces of a long file', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `0.0.0.0 blocked-${index}.example`);
    const hosts = read([lines.join('\n')]);
    expect(hosts.names.size).toBe(10_000);
    expect(hosts.pauses).toBeGreaterThan(5);
  });

  it('gives nothing of files that have changed since they were reported', () => {
    expect(run(['10.0.0.1 one\n'], {}, false).names).toBeUndefined();
  });

  it('reads records of options first', () => {
    const record = { names: [key('record')], ipv4: '10.0.0.1', ipv6: 'fd00::1', ttl: 99 };
    const hosts = read(['10.0.0.1 one\n'], { hostRecords: [record] });
    expect(findPointer(hosts, '1.0.0.10.in-addr.arpa')).toEqual({
      target: 'record.',
      ttl: 99,
      file: undefined,
    });
    expect(findAddresses(hosts, 'record')).toEqual(['10.0.0.1', 'fd00::1']);
  });

  it('adds the domain of the address to plain names, the longer name first', () => {
    const hosts = read(['10.0.0.1 one\n10.1.0.1 two\n10.0.0.3 three.lan\n'], {
      expandsHosts: true,
      domain: key('dom.example'),
      rangeDomains: [{ domain: key('range.example'), first: '10.1.0.0', last: '10.1.0.255' }],
    });
    expect(findAddresses(hosts, 'one.dom.example')).toEqual(['10.0.0.1']);
    expect(findAddresses(hosts, 'two.range.example')).toEqual(['10.1.0.1']);
    expect(findAddresses(hosts, 'two')).toEqual(['10.1.0.1']);
    expect(findAddresses(hosts, 'two.dom.example')).toEqual([]);
    expect(findAddresses(hosts, 'three.lan.dom.example')).toEqual([]);
    expect(findPointer(hosts, '1.0.0.10.in-addr.arpa')?.target).toBe('one.dom.example.');
  });
});
