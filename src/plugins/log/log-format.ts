/**
 * The format of a line of the log: text with words in braces.
 */
import type { DescribedResponse } from '../../chain/described-response.ts';
import type { Query } from '../../chain/query.ts';
import { presentNameAsGo } from '../../wire/go-name.ts';
import { className, rcodeName, typeName } from '../../wire/mnemonics.ts';
import { maxResponseOctets } from '../../wire/response-size.ts';
import type { Header } from '../../wire/types.ts';

/** The data for a line. */
export interface LoggedQuery {
  readonly query: Query;
  /** Undefined: no handler made one. */
  readonly response: DescribedResponse | undefined;
  readonly milliseconds: number;
}

type WriteQueryWord = (logged: LoggedQuery) => string;

/** The text for unknown values. */
const NOTHING = '-';

const WORDS: ReadonlyMap<string, WriteQueryWord> = new Map([
  ['type', ({ query }: LoggedQuery) => typeName(query.question.type)],
  ['name', ({ query }: LoggedQuery) => presentNameAsGo(query.key)],
  ['class', ({ query }: LoggedQuery) => knownClassName(query.question.class)],
  ['proto', ({ query }: LoggedQuery) => query.sender.transport],
  ['size', ({ query }: LoggedQuery) => String(query.octets)],
  ['remote', ({ query }: LoggedQuery) => bracketAddress(query.sender.address)],
  ['port', ({ query }: LoggedQuery) => String(query.sender.port)],
  ['local', ({ query }: LoggedQuery) => bracketAddress(query.sender.localAddress ?? '::')],
  ['>id', ({ query }: LoggedQuery) => String(query.header.id)],
  ['>opcode', ({ query }: LoggedQuery) => String(query.header.opcode)],
  ['>do', ({ query }: LoggedQuery) => String(query.edns?.dnssecOk ?? false)],
  ['>bufsize', ({ query }: LoggedQuery) => String(sizeFor(query))],
  ['rcode', ({ response }: LoggedQuery) => (response === undefined ? NOTHING : rcodeName(response.rcode))],
  ['rsize', ({ response }: LoggedQuery) => String(response?.size ?? 0)],
  ['>rflags', ({ response }: LoggedQuery) => namesOfFlags(response?.message.header) || NOTHING],
  ['duration', ({ milliseconds }: LoggedQuery) => `${Number((milliseconds / 1000).toFixed(9))}s`],
]);

/** Unknown words stay as they are. */
export function compileLogFormat(format: string): WriteQueryWord {
  return compileWords(
    format,
    WORDS,
    (label) =>
      ({ query }) =>
        query.metadata(label) ?? NOTHING,
  );
}

/** Whether a format has words of metadata. */
export function namesMetadata(format: string): boolean {
  return /\{\/[^{}]*\}/.test(format);
}

/** The same for other sets of words. @param ofLabel writes the word of a label of metadata */
export function compileWords<Logged>(
  format: string,
  words: ReadonlyMap<string, (logged: Logged) => string>,
  ofLabel: (label: string) => (logged: Logged) => string = () => () => NOTHING,
): (logged: Logged) => string {
  const parts = format.split(/(\{[^{}]*\})/).map((part): string | ((logged: Logged) => string) => {
    if (!part.startsWith('{') || !part.endsWith('}')) return part;
    const word = part.slice(1, -1);
    return word.startsWith('/') ? ofLabel(word.slice(1)) : (words.get(word) ?? part);
  });
  return (logged) => {
    let line = '';
    for (const part of parts) line += typeof part === 'string' ? part : part(logged);
    return line;
  };
}

/** Classes that only questions have; CoreDNS writes them by number. */
const UNNAMED_CLASSES: ReadonlySet<string> = new Set(['ANY', 'NONE']);

/** As CoreDNS writes it. */
export function knownClassName(dnsClass: number): string {
  const name = className(dnsClass);
  return UNNAMED_CLASSES.has(name) ? `CLASS${dnsClass}` : name;
}

export function bracketAddress(address: string): string {
  return address.includes(':') ? `[${address}]` : address;
}

/** Maximum size of the response, in octets. */
function sizeFor(query: Query): number {
  return maxResponseOctets(query.sender.transport, query.edns?.udpSize ?? 0, 65_535);
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
