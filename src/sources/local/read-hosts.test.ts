import { describe, expect, it } from 'vitest';
import { parseName, toKey } from '../../wire/name.ts';
import type { HostsFormat } from '../hosts/hosts-format.ts';
import { hostsOnly, type LocalNamesPlan } from './local-plan.ts';
import { readHosts } from './read-hosts.ts';

const key = (text: string) => toKey(parseName(text));

/** One address and one name on a line, all of them right; a line of one word is an oddity. */
const FORMAT: HostsFormat = {
  open(visitor) {
    let text = '';
    return {
      push(octets) {
        text += Buffer.from(octets).toString();
      },
      end() {
        for (const [index, line] of text.trim().split('\n').entries()) {
          const [address = '', name] = line.split(' ');
          if (name === undefined) visitor.warning({ line: index + 1, kind: 'word', value: address });
          else visitor.host({ address, names: [{ name: key(name), isPlain: !name.includes('.') }] });
        }
      },
    };
  },
  isHostsFile: () => true,
};

function read(texts: readonly string[], changes: Partial<LocalNamesPlan> = {}) {
  const files = texts.map((text, index) => ({ path: `/${index}`, octets: Buffer.from(text) }));
  const warnings: string[] = [];
  const plan = { ...hostsOnly(5), ...changes };
  const onWarning = (file: { path: string }, { line, value }: { line: number; value: string }) =>
    void warnings.push(`${file.path}:${line} ${value}`);
  const reading = readHosts({ plan, files, format: FORMAT, onWarning });
  let pauses = 0;
  for (;;) {
    const step = reading.next();
    if (step.done === true) return { names: step.value, warnings, pauses };
    pauses += 1;
  }
}

const addressesOf = ({ names }: ReturnType<typeof read>, name: string) =>
  names.get(key(name))?.addresses.map(({ address }) => address);

describe('reading hosts files', () => {
  it('joins the addresses of a name, and gives an address back to its first name', () => {
    const hosts = read(['10.0.0.1 one\n10.0.0.2 one\n', '10.0.0.1 other\n10.0.0.3 one\nodd\n']);
    expect(addressesOf(hosts, 'one')).toEqual(['10.0.0.1', '10.0.0.2', '10.0.0.3']);
    expect(hosts.names.pointer(key('1.0.0.10.in-addr.arpa'))).toEqual({ target: 'one.', ttl: 5, file: '/0' });
    expect(hosts.warnings).toEqual(['/1:3 odd']);
  });

  it('pauses between the pieces of a long file', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `0.0.0.0 blocked-${index}.example`);
    const hosts = read([lines.join('\n')]);
    expect(hosts.names.size).toBe(10_000);
    expect(hosts.pauses).toBeGreaterThan(5);
    expect(hosts.names.get(key('blocked-1.example'))).toBe(hosts.names.get(key('blocked-9999.example')));
  });

  it('reads records of options first', () => {
    const record = { names: [key('record')], ipv4: '10.0.0.1', ipv6: 'fd00::1', ttl: 99 };
    const hosts = read(['10.0.0.1 one\n'], { hostRecords: [record] });
    expect(hosts.names.pointer(key('1.0.0.10.in-addr.arpa'))).toEqual({ target: 'record.', ttl: 99 });
    expect(addressesOf(hosts, 'record')).toEqual(['10.0.0.1', 'fd00::1']);
  });

  it('adds the domain of the address to plain names, the longer name first', () => {
    const hosts = read(['10.0.0.1 one\n10.1.0.1 two\n10.0.0.3 three.lan\n'], {
      expandsHosts: true,
      domain: key('dom.example'),
      rangeDomains: [{ domain: key('range.example'), first: '10.1.0.0', last: '10.1.0.255' }],
    });
    expect(addressesOf(hosts, 'one.dom.example')).toEqual(['10.0.0.1']);
    expect(addressesOf(hosts, 'two.range.example')).toEqual(['10.1.0.1']);
    expect(addressesOf(hosts, 'two')).toEqual(['10.1.0.1']);
    expect(addressesOf(hosts, 'two.dom.example')).toBeUndefined();
    expect(addressesOf(hosts, 'three.lan.dom.example')).toBeUndefined();
    expect(hosts.names.pointer(key('1.0.0.10.in-addr.arpa'))?.target).toBe('one.dom.example.');
  });
});
