/**
 * Lines in dnsmasq's format: `query[A] www.example.com from 127.0.0.1`, `reply www.example.com is 192.0.2.1`.
 */
import { addressOfReverseName } from '../../wire/address.ts';
import { rcodeName, typeName } from '../../wire/mnemonics.ts';
import { toKey } from '../../wire/name.ts';
import { typeOfData } from '../../wire/record-data.ts';
import {
  type AbsoluteName,
  type Message,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '../../wire/types.ts';

/** The source of an answer; `config` includes hosts files. */
export type DnsmasqSource = 'reply' | 'cached' | 'config';

/** The hosts file of a local record; undefined if an option defines it. */
export type FileOf = (record: ResourceRecord) => string | undefined;

export function describeQuery({ name, type }: Question, client: string): string {
  return `query[${typeName(type)}] ${textOf(name)} from ${client}`;
}

/** Local answers have the AA bit. Upstream answers never do, even if an earlier query fetched them. */
export function sourceOf(
  { header, answers }: Message,
  wasForwarded: boolean,
  isKnown: boolean,
): DnsmasqSource {
  const isOfOthers = !header.authoritative && answers.length > 0;
  if (wasForwarded || (isOfOthers && !isKnown)) return 'reply';
  return isKnown && !header.authoritative ? 'cached' : 'config';
}

/** The source and the answer: `cached www.example.com is 192.0.2.1`. */
export function describeResponse(
  question: Question,
  message: Message,
  source: DnsmasqSource,
  fileOf: FileOf,
): readonly string[] {
  const { answers } = message;
  if (answers.length === 0) return [`${source} ${describeAbsence(question, message)}`];
  return answers.flatMap((record) => {
    const from = source === 'config' ? (fileOf(record) ?? source) : source;
    return describeRecord(record, source).map((text) => `${from} ${text}`);
  });
}

function describeAbsence(question: Question, { header }: Message): string {
  const name = textOf(question.name);
  if (header.rcode === RCODE.NXDOMAIN) return `${name} is NXDOMAIN`;
  if (header.rcode !== RCODE.NOERROR) return `error is ${rcodeName(header.rcode)}`;
  const family = question.type === TYPE.A ? '-IPv4' : question.type === TYPE.AAAA ? '-IPv6' : '';
  return `${name} is NODATA${family}`;
}

function describeRecord({ name, data }: ResourceRecord, source: DnsmasqSource): readonly string[] {
  if (data.kind === 'A' || data.kind === 'AAAA') return [`${textOf(name)} is ${data.address}`];
  // As in dnsmasq, only the text of upstream TXT records is shown.
  if (data.kind === 'TXT' && source === 'reply')
    return data.strings.map((text) => `${textOf(name)} is ${Buffer.from(text).toString('latin1')}`);
  if (data.kind === 'PTR')
    return [`${addressOfReverseName(toKey(name)) ?? textOf(name)} is ${textOf(data.target)}`];
  return [`${textOf(name)} is <${typeName(typeOfData(data))}>`];
}

/** A name without its final dot. */
export function textOf(name: AbsoluteName): string {
  return name === '.' ? '.' : name.slice(0, -1);
}
