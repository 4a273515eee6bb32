/**
 * The format of a line of the log: text with words in braces.
 */

import { presentNameAsGo } from '@portolan/dns/go-name.ts';
import { className, rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { type ClientTransport, maxResponseOctets } from '@portolan/dns/response-size.ts';
import { TextBuffer } from '@portolan/dns/text-buffer.ts';
import type { Header } from '@portolan/dns/types.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import type { DescribedResponse } from '@portolan/kernel/chain/described-response.ts';
import type { Query } from '@portolan/kernel/chain/query.ts';

/** The data for a line, of a query that handlers answered or of an event. */
export interface LoggedQuery {
  /** Adds the name in lower case, as Go writes it. */
  addName(into: TextBuffer): void;
  readonly type: number;
  readonly dnsClass: number;
  readonly transport: ClientTransport;
  readonly octets: number;
  /** Adds the client's address, in brackets if it has colons. */
  addRemote(into: TextBuffer): void;
  /** The address as text. */
  readonly local: string;
  readonly port: number;
  readonly id: number;
  readonly opcode: number;
  readonly dnssecOk: boolean;
  /** The UDP size of the client's OPT record; 0: it has none. */
  readonly ednsSize: number;
  /** Undefined if there was no response. */
  readonly rcode: number | undefined;
  readonly responseOctets: number;
  /** As in `qr,aa,rd`. */
  readonly flags: string;
  readonly milliseconds: number;
  /** Facts that plugins know. */
  metadata(label: string): string | undefined;
}

/** Adds its part of a line. */
export type AddQueryText = (into: TextBuffer, logged: LoggedQuery) => void;

/** The text for unknown values. */
const NOTHING = '-';

const WORDS: ReadonlyMap<string, AddQueryText> = new Map<string, AddQueryText>([
  ['type', (into, { type }) => into.addText(typeName(type))],
  ['name', (into, logged) => logged.addName(into)],
  ['class', (into, { dnsClass }) => into.addText(knownClassName(dnsClass))],
  ['proto', (into, { transport }) => into.addText(transport)],
  ['size', (into, { octets }) => into.addNumber(octets)],
  ['remote', (into, logged) => logged.addRemote(into)],
  ['port', (into, { port }) => into.addNumber(port)],
  ['local', (into, { local }) => into.addText(formatHost(local))],
  ['>id', (into, { id }) => into.addNumber(id)],
  ['>opcode', (into, { opcode }) => into.addNumber(opcode)],
  ['>do', (into, { dnssecOk }) => into.addText(dnssecOk ? 'true' : 'false')],
  [
    '>bufsize',
    (into, { transport, ednsSize }) => into.addNumber(maxResponseOctets(transport, ednsSize, 65_535)),
  ],
  ['rcode', (into, { rcode }) => into.addText(rcode === undefined ? NOTHING : rcodeName(rcode))],
  ['rsize', (into, { responseOctets }) => into.addNumber(responseOctets)],
  ['>rflags', (into, { flags }) => into.addText(flags || NOTHING)],
  ['duration', (into, { milliseconds }) => addSeconds(into, Math.max(0, milliseconds) / 1000)],
]);

/** Unknown words stay as they are. */
export function compileLogFormat(format: string): AddQueryText {
  const parts = format.split(/(\{[^{}]*\})/).map((part): AddQueryText => {
    const add = part.startsWith('{') && part.endsWith('}') ? compileField(part.slice(1, -1)) : undefined;
    if (add !== undefined) return add;
    const octets = Buffer.from(part);
    return (into) => into.addOctets(octets);
  });
  return (into, logged) => {
    for (const add of parts) add(into, logged);
  };
}

function compileField(word: string): AddQueryText | undefined {
  if (!word.startsWith('/')) return WORDS.get(word);
  return (into, logged) => into.addText(logged.metadata(word.slice(1)) ?? NOTHING);
}

/** The text of one query. */
export function formatQuery(add: AddQueryText, logged: LoggedQuery): string {
  oneText.clear();
  add(oneText, logged);
  return oneText.toString();
}

const oneText = new TextBuffer();

/** Whether a format has words of metadata. */
export function namesMetadata(format: string): boolean {
  return /\{\/[^{}]*\}/.test(format);
}

/** Classes that only questions have; CoreDNS writes them by number. */
const UNNAMED_CLASSES: ReadonlySet<string> = new Set(['ANY', 'NONE']);

/** As CoreDNS writes it. */
function knownClassName(dnsClass: number): string {
  const name = className(dnsClass);
  return UNNAMED_CLASSES.has(name) ? `CLASS${dnsClass}` : name;
}

/** The answers of a batch have the same times. */
let knownSeconds = Number.NaN;
let textOfSeconds = '';

/** Adds a number of seconds, to the nanosecond. */
function addSeconds(into: TextBuffer, seconds: number): void {
  if (seconds !== knownSeconds) {
    knownSeconds = seconds;
    textOfSeconds = `${Number(seconds.toFixed(9))}s`;
  }
  into.addText(textOfSeconds);
}

const FLAGS = [
  ['response', 'qr'],
  ['authoritative', 'aa'],
  ['truncated', 'tc'],
  ['recursionDesired', 'rd'],
  ['recursionAvailable', 'ra'],
  ['authenticData', 'ad'],
  ['checkingDisabled', 'cd'],
] as const satisfies readonly (readonly [keyof Header, string])[];

type Flags = Pick<Header, (typeof FLAGS)[number][0]>;

export function namesOfFlags(header: Flags | undefined): string {
  if (header === undefined) return '';
  return FLAGS.flatMap(([flag, name]) => (header[flag] ? [name] : [])).join(',');
}

/** Of a query that handlers answered. @param response undefined: they made none */
export function describeQuery(
  query: Query,
  response: DescribedResponse | undefined,
  milliseconds: number,
): LoggedQuery {
  const { question, sender, header, edns } = query;
  return {
    addName: (into) => into.addText(presentNameAsGo(query.key)),
    addRemote: (into) => into.addText(formatHost(sender.address)),
    type: question.type,
    dnsClass: question.class,
    octets: query.octets,
    transport: sender.transport,
    port: sender.port,
    local: sender.localAddress ?? '::',
    id: header.id,
    opcode: header.opcode,
    dnssecOk: edns?.dnssecOk ?? false,
    ednsSize: edns?.udpSize ?? 0,
    rcode: response?.rcode,
    responseOctets: response?.size ?? 0,
    flags: namesOfFlags(response?.message.header),
    milliseconds,
    metadata: (label) => query.metadata(label),
  };
}
