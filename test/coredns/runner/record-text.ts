/**
 * Records and EDNS options in the format of the recordings.
 */
import { parseName } from '@portolan/dns/name.ts';
import type { EdnsOption, ResourceRecord } from '@portolan/dns/types.ts';
import { describeRecord, OPTION_CODES } from '@portolan/ops/compare/described-reply.ts';
import { parseRecord } from '@portolan/sources/zone-files/zone-file.ts';

/** @throws Error for a line that is no record: a mistake of the case */
export function readRecord(line: string): ResourceRecord {
  const record = parseRecord(line);
  if ('data' in record) return record;
  throw new Error(`no record: ${line}: ${record.fault}`);
}

/** A line of a recording in our own words where it can be read. */
export function normaliseRecord(line: string): string {
  if (line.includes('*') || line.includes('{')) return line;
  const [name = '.', ttl = '', ...rest] = line.split(' ');
  try {
    const record = parseRecord([name, ttl, ...rest].join(' '));
    return 'data' in record ? describeRecord({ ...record, name: parseName(name) }) : line;
  } catch {
    return line;
  }
}

/** @param value hexadecimal digits; of `ecs` an address with its prefix */
export function makeOption(kind: string, value: string): EdnsOption {
  if (kind === 'ecs') return { code: 8, data: clientSubnet(value) };
  return { code: OPTION_CODES.get(kind) ?? Number(kind), data: Buffer.from(value, 'hex') };
}

function clientSubnet(value: string): Uint8Array {
  const [address = '', bits = '0'] = value.split('/');
  const isIpv6 = address.includes(':');
  const octets = isIpv6
    ? addressOctets(readRecord(`x. 1 IN AAAA ${address}`))
    : address.split('.').map(Number);
  const length = Math.ceil(Number(bits) / 8);
  return Uint8Array.from([0, isIpv6 ? 2 : 1, Number(bits), 0, ...octets.slice(0, length)]);
}

function addressOctets({ data }: ResourceRecord): readonly number[] {
  const text = data.kind === 'AAAA' ? data.address : '::';
  const [head = '', tail = ''] = text.split('::');
  const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number(`0x${group}`)));
  const before = groups(head);
  const after = groups(tail);
  const zeros = text.includes('::') ? Array<number>(8 - before.length - after.length).fill(0) : [];
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}
