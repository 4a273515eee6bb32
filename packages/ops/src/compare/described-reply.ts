/**
 * A reply as text, part by part: the form in which the judge compares replies, and in which answers of other servers are recorded.
 */
import { formatAddress } from '@portolan/dns/address.ts';
import { toFullRcode } from '@portolan/dns/edns.ts';
import { opcodeName, rcodeName } from '@portolan/dns/mnemonics.ts';
import { ROOT, toKey } from '@portolan/dns/name.ts';
import { presentQuestion, presentRecord } from '@portolan/dns/present.ts';
import {
  type Edns,
  type EdnsOption,
  type Message,
  RCODE,
  type RecordData,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';

export interface DescribedReply {
  readonly rcode: string;
  /** Two letters for each: `aa`, `tc`, `rd`, `ra`, `ad`, `cd`. */
  readonly flags: readonly string[];
  /** Left out for a query. */
  readonly opcode?: string;
  /** Empty: the reply repeats no question. */
  readonly question: string;
  readonly answer: readonly string[];
  readonly authority: readonly string[];
  readonly additional: readonly string[];
  /** Left out without an OPT record. */
  readonly edns?: DescribedEdns;
}

export interface DescribedEdns {
  readonly udp: number;
  readonly do: boolean;
  /** The name and the data of each option. */
  readonly options: readonly (readonly [string, string])[];
}

const FLAGS = [
  ['authoritative', 'aa'],
  ['truncated', 'tc'],
  ['recursionDesired', 'rd'],
  ['recursionAvailable', 'ra'],
  ['authenticData', 'ad'],
  ['checkingDisabled', 'cd'],
] as const;

/** @param answer the records of a reply in several messages; left out: those of the message */
export function describeReply(message: Message, answer?: readonly string[]): DescribedReply {
  const { header, questions, answers, authorities, additionals, edns } = message;
  const [question] = questions;
  return {
    rcode: nameOfRcode(message),
    flags: FLAGS.flatMap(([flag, name]) => (header[flag] ? [name] : [])),
    ...(header.opcode !== 0 && { opcode: opcodeName(header.opcode) }),
    question: question === undefined ? '' : presentQuestion(question),
    answer: answer ?? answers.map(describeRecord),
    authority: authorities.map(describeRecord),
    additional: additionals.map(describeRecord),
    ...(edns && { edns: describeEdns(edns) }),
  };
}

function nameOfRcode(message: Message): string {
  const rcode = toFullRcode(message);
  return rcode === RCODE.BADVERS ? 'BADVERS' : rcodeName(rcode);
}

function describeEdns({ udpSize, dnssecOk, options }: Edns): DescribedEdns {
  return { udp: udpSize, do: dnssecOk, options: options.map(describeOption) };
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

/** The options that have names; others are written as numbers. */
export const OPTION_CODES: ReadonlyMap<string, number> = new Map([
  ['nsid', 3],
  ['ecs', 8],
  ['expire', 9],
  ['cookie', 10],
  ['keepalive', 11],
  ['padding', 12],
  ['ede', 15],
]);
const OPTION_NAMES: ReadonlyMap<number, string> = new Map(
  [...OPTION_CODES].map(([name, code]) => [code, name]),
);

/** The option's name and its data. */
export function describeOption({ code, data }: EdnsOption): readonly [string, string] {
  const kind = OPTION_NAMES.get(code) ?? String(code);
  const octets = Buffer.from(data);
  if (kind === 'ecs' && octets.length >= 4) return [kind, describeSubnet(octets)];
  if (kind === 'ede' && octets.length >= 2)
    return [kind, `${octets.readUInt16BE(0)} ${octets.subarray(2).toString('utf8')}`.trim()];
  const isText = octets.length > 0 && octets.every((octet) => octet >= 32 && octet < 127);
  return [kind, kind === 'nsid' && isText ? octets.toString('latin1') : octets.toString('hex')];
}

function describeSubnet(octets: Buffer): string {
  const address = new Uint8Array(octets[1] === 2 ? 16 : 4);
  address.set(octets.subarray(4, 4 + address.length));
  return `${formatAddress(address)}/${octets[2]}/${octets[3]}`;
}
