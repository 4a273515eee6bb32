/**
 * The format of a line of the log: text with words in braces.
 */
import type { DescribedResponse } from '../../chain/described-response.ts';
import type { Query } from '../../chain/query.ts';
import { presentNameAsGo } from '../../wire/go-name.ts';
import { className, rcodeName, typeName } from '../../wire/mnemonics.ts';
import { type ClientTransport, maxResponseOctets } from '../../wire/response-size.ts';
import type { Header, NameKey } from '../../wire/types.ts';

/** The data for a line, of a query that handlers answered or of an event. */
export interface LoggedQuery {
  readonly name: NameKey;
  readonly type: number;
  readonly dnsClass: number;
  readonly transport: ClientTransport;
  readonly octets: number;
  /** Addresses as text. */
  readonly remote: string;
  readonly local: string;
  readonly port: number;
  readonly id: number;
  readonly opcode: number;
  readonly dnssecOk: boolean;
  /** The UDP size of the client's OPT record; 0: it has none. */
  readonly ednsSize: number;
  /** Undefined: nobody made a response. */
  readonly rcode: number | undefined;
  readonly responseOctets: number;
  /** As in `qr,aa,rd`. */
  readonly flags: string;
  readonly milliseconds: number;
  /** Facts that plugins know. */
  metadata(label: string): string | undefined;
}

type WriteQueryWord = (logged: LoggedQuery) => string;

/** The text for unknown values. */
const NOTHING = '-';

const WORDS: ReadonlyMap<string, WriteQueryWord> = new Map<string, WriteQueryWord>([
  ['type', ({ type }) => typeName(type)],
  ['name', ({ name }) => presentNameAsGo(name)],
  ['class', ({ dnsClass }) => knownClassName(dnsClass)],
  ['proto', ({ transport }) => transport],
  ['size', ({ octets }) => String(octets)],
  ['remote', ({ remote }) => bracketAddress(remote)],
  ['port', ({ port }) => String(port)],
  ['local', ({ local }) => bracketAddress(local)],
  ['>id', ({ id }) => String(id)],
  ['>opcode', ({ opcode }) => String(opcode)],
  ['>do', ({ dnssecOk }) => String(dnssecOk)],
  ['>bufsize', ({ transport, ednsSize }) => String(maxResponseOctets(transport, ednsSize, 65_535))],
  ['rcode', ({ rcode }) => (rcode === undefined ? NOTHING : rcodeName(rcode))],
  ['rsize', ({ responseOctets }) => String(responseOctets)],
  ['>rflags', ({ flags }) => flags || NOTHING],
  ['duration', ({ milliseconds }) => `${Number((Math.max(0, milliseconds) / 1000).toFixed(9))}s`],
]);

/** Unknown words stay as they are. */
export function compileLogFormat(format: string): WriteQueryWord {
  const parts = format.split(/(\{[^{}]*\})/).map((part): string | WriteQueryWord => {
    if (!part.startsWith('{') || !part.endsWith('}')) return part;
    const word = part.slice(1, -1);
    if (!word.startsWith('/')) return WORDS.get(word) ?? part;
    return (logged) => logged.metadata(word.slice(1)) ?? NOTHING;
  });
  return (logged) => {
    let line = '';
    for (const part of parts) line += typeof part === 'string' ? part : part(logged);
    return line;
  };
}

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

function bracketAddress(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
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
    ...{ name: query.key, type: question.type, dnsClass: question.class, octets: query.octets },
    ...{ transport: sender.transport, remote: sender.address, port: sender.port },
    local: sender.localAddress ?? '::',
    ...{ id: header.id, opcode: header.opcode },
    ...{ dnssecOk: edns?.dnssecOk ?? false, ednsSize: edns?.udpSize ?? 0 },
    ...{ rcode: response?.rcode, responseOctets: response?.size ?? 0 },
    flags: namesOfFlags(response?.message.header),
    milliseconds,
    metadata: (label) => query.metadata(label),
  };
}
