/**
 * Records and EDNS options in the format of the recordings.
 */
import { parseRecord } from '../../../src/sources/zone-files/zone-file.ts';
import { formatAddress } from '../../../src/wire/address.ts';
import { parseName, ROOT, toKey } from '../../../src/wire/name.ts';
import { presentRecord } from '../../../src/wire/present.ts';
import { type EdnsOption, type RecordData, type ResourceRecord, TYPE } from '../../../src/wire/types.ts';

/** @throws Error for a line that is no record: a mistake of the case */
export function readRecord(line: string): ResourceRecord {
  const record = parseRecord(line);
  if ('data' in record) return record;
  throw new Error(`no record: ${line}: ${record.fault}`);
}

/** `name ttl class type data`, the owner in lower case. */
export function describeRecord(record: ResourceRecord): string {
  return presentRecord({ ...record, name: toKey(record.name), data: dataOfAnyClass(record.data) });
}

/** Addresses and ports are written as in class IN, which our decoder does in no other class. */
function dataOfAnyClass(data: RecordData): RecordData {
  if (data.kind !== 'unknown') return data;
  const octets = Buffer.from(data.bytes);
  if (data.type === TYPE.A && octets.length === 4) return { kind: 'A', address: octets.join('.') };
  if (data.type !== TYPE.SRV || octets.length !== 7 || octets[6] !== 0) return data;
  const [priority, weight, port] = [0, 2, 4].map((at) => octets.readUInt16BE(at));
  return { kind: 'SRV', priority: priority ?? 0, weight: weight ?? 0, port: port ?? 0, target: ROOT };
}

/** The same of a line of a recording, in our own words where it can be read. */
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

const OPTION_CODES: Readonly<Record<string, number>> = {
  nsid: 3,
  ecs: 8,
  expire: 9,
  cookie: 10,
  keepalive: 11,
  padding: 12,
  ede: 15,
};

/** @param value hexadecimal digits; of `ecs` an address with its prefix */
export function makeOption(kind: string, value: string): EdnsOption {
  if (kind === 'ecs') return { code: 8, data: clientSubnet(value) };
  return { code: OPTION_CODES[kind] ?? Number(kind), data: Buffer.from(value, 'hex') };
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
  const [before, after] = [groups(head), groups(tail)];
  const zeros = text.includes('::') ? Array<number>(8 - before.length - after.length).fill(0) : [];
  return [...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]);
}

/** The option's name and its data, as the recordings have them. */
export function describeOption({ code, data }: EdnsOption): readonly [string, string] {
  const kind = Object.entries(OPTION_CODES).find(([, known]) => known === code)?.[0] ?? String(code);
  const octets = Buffer.from(data);
  if (kind === 'ecs') return [kind, describeSubnet(octets)];
  if (kind === 'ede')
    return [kind, `${octets.readUInt16BE(0)} ${octets.subarray(2).toString('utf8')}`.trim()];
  const isText = octets.length > 0 && octets.every((octet) => octet >= 32 && octet < 127);
  return [kind, kind === 'nsid' && isText ? octets.toString('latin1') : octets.toString('hex')];
}

function describeSubnet(octets: Buffer): string {
  const address = new Uint8Array(octets[1] === 2 ? 16 : 4);
  address.set(octets.subarray(4, 4 + address.length));
  return `${formatAddress(address)}/${octets[2]}/${octets[3]}`;
}
