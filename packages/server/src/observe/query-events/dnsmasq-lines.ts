/**
 * Lines in dnsmasq's format: `query[A] www.example.com from 127.0.0.1`, `reply www.example.com is 192.0.2.1`.
 */
import { addressOfReverseName, formatAddress } from '@portolan/dns/address.ts';
import { tryDecodeMessage } from '@portolan/dns/message.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { toKey } from '@portolan/dns/name.ts';
import { typeOfData } from '@portolan/dns/record-data.ts';
import {
  type AbsoluteName,
  type Message,
  type Question,
  RCODE,
  type ResourceRecord,
  TYPE,
} from '@portolan/dns/types.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { EventLines, LineCollector, QueryLine } from './event-lines.ts';

/** The source of an answer; `config` includes hosts files. */
export type DnsmasqSource = 'reply' | 'cached' | 'config';

type DnsmasqLine = Exclude<QueryLine, { readonly error: string }>;

/** Numbers of queries that wait for further lines. */
const MAX_NUMBERS = 10_000;

/** Lines of what readers answered, and of notes. */
export class DnsmasqLines implements EventLines {
  readonly separator = '\n';
  readonly #isNumbered: boolean;
  /** By the number that the main thread gave the query: that of its first line. */
  readonly #numbers = new Map<number, number>();
  #count = 0;

  constructor(isNumbered: boolean) {
    this.#isNumbered = isNumbered;
  }

  addEvent(event: EventView, into: LineCollector): void {
    // Of what the chain answers there are notes.
    const message = event.source === 'table' ? tryDecodeMessage(event.response) : undefined;
    const question = message?.questions[0];
    if (message === undefined || question === undefined) return;
    const address = formatAddress(event.client);
    this.#count += 1;
    const prefix = this.#isNumbered
      ? `${this.#count} ${clientText({ address, port: event.clientPort })} `
      : '';
    into.add(`${prefix}${describeQuery(question, address)}`);
    for (const line of describeResponse(question, message, toDnsmasqSource(message, false, true)))
      into.add(
        typeof line === 'string' ? `${prefix}${line}` : { ...line, before: `${prefix}${line.before}` },
      );
  }

  addNote(note: EventView, into: LineCollector): void {
    const text = into.begin();
    if (this.#isNumbered) text.addText(`${this.#assignNumber(note.noteNumber)} `);
    text.addOctets(note.octets, note.questionAt, note.questionAt + note.questionOctets);
  }

  #assignNumber(query: number): number {
    const known = this.#numbers.get(query);
    if (known !== undefined) return known;
    this.#count += 1;
    this.#numbers.set(query, this.#count);
    for (const oldest of this.#numbers.keys()) {
      if (this.#numbers.size <= MAX_NUMBERS) break;
      this.#numbers.delete(oldest);
    }
    return this.#count;
  }
}

export function clientText({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address}/${port}`;
}

export function describeQuery({ name, type }: Question, client: string): string {
  return `query[${typeName(type)}] ${formatName(name)} from ${client}`;
}

/** Local answers have the AA bit. Upstream answers never do, even if an earlier query fetched them. */
export function toDnsmasqSource(
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
): readonly DnsmasqLine[] {
  const { answers } = message;
  if (answers.length === 0) return [`${source} ${describeAbsence(question, message)}`];
  return answers.flatMap((record) =>
    describeRecord(record, source).map((text) =>
      source === 'config' ? { before: '', record, after: ` ${text}` } : `${source} ${text}`,
    ),
  );
}

/** @param findHostsFile the hosts file of a local record; undefined if an option defines it */
export function completeLine(
  line: QueryLine,
  findHostsFile: (record: ResourceRecord) => string | undefined,
): string {
  if (typeof line === 'string') return line;
  if ('error' in line) return line.error;
  const { before, record, after } = line;
  return `${before}${findHostsFile(record) ?? 'config'}${after}`;
}

/** Writes lines about queries to the log of a server. @param findHostsFile as for `completeLine`; undefined: no hosts files are followed */
export function logLines(
  lines: readonly QueryLine[],
  log: Log,
  findHostsFile: ((record: ResourceRecord) => string | undefined) | undefined,
): void {
  for (const line of lines)
    if (typeof line !== 'string' && 'error' in line) log.error(line.error);
    else if (findHostsFile === undefined) log.info(completeLine(line, () => undefined));
    else for (const text of completeLine(line, findHostsFile).split('\n')) log.info(text);
}

function describeAbsence(question: Question, { header }: Message): string {
  const name = formatName(question.name);
  if (header.rcode === RCODE.NXDOMAIN) return `${name} is NXDOMAIN`;
  if (header.rcode !== RCODE.NOERROR) return `error is ${rcodeName(header.rcode)}`;
  const family = question.type === TYPE.A ? '-IPv4' : question.type === TYPE.AAAA ? '-IPv6' : '';
  return `${name} is NODATA${family}`;
}

function describeRecord({ name, data }: ResourceRecord, source: DnsmasqSource): readonly string[] {
  if (data.kind === 'A' || data.kind === 'AAAA') return [`${formatName(name)} is ${data.address}`];
  // As in dnsmasq, only the text of upstream TXT records is shown.
  if (data.kind === 'TXT' && source === 'reply')
    return data.strings.map((text) => `${formatName(name)} is ${Buffer.from(text).toString('latin1')}`);
  if (data.kind === 'PTR')
    return [`${addressOfReverseName(toKey(name)) ?? formatName(name)} is ${formatName(data.target)}`];
  return [`${formatName(name)} is <${typeName(typeOfData(data))}>`];
}

/** A name without its final dot. */
export function formatName(name: AbsoluteName): string {
  return name === '.' ? '.' : name.slice(0, -1);
}
