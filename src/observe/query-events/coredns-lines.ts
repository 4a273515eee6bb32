/**
 * Lines of CoreDNS's `log` for queries that readers answered.
 */
import { classOfCounts, type ResponseClass } from '../../chain/described-response.ts';
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import { bracketAddress, compileWords, knownClassName, namesOfFlags } from '../../plugins/log/log-format.ts';
import type { LogRule } from '../../plugins/log/options.ts';
import { formatAddress } from '../../wire/address.ts';
import { presentNameAsGo } from '../../wire/go-name.ts';
import { rcodeName, typeName } from '../../wire/mnemonics.ts';
import { isWithin, toKey } from '../../wire/name.ts';
import { readName } from '../../wire/name-wire.ts';
import { maxResponseOctets } from '../../wire/response-size.ts';
import type { NameKey } from '../../wire/types.ts';
import { readResponseShape } from './response-shape.ts';

/** An event with the parsed parts of its question and response. */
interface LoggedEvent {
  readonly event: QueryEvent;
  readonly name: NameKey;
  readonly type: number;
  readonly dnsClass: number;
  readonly responseOctets: number;
}

type WriteWord = (logged: LoggedEvent) => string;

export interface EventLines {
  /** Undefined if no rule asks for a line. @param name the name in the event's question */
  write(event: QueryEvent, name: NameKey): string | undefined;
}

/** The name in the event's question; undefined without a question. */
export function nameOfEvent({ question }: QueryEvent): NameKey | undefined {
  return question.length === 0 ? undefined : toKey(readName(question, 0).name);
}

export interface EventLinesOptions {
  readonly rules: readonly LogRule[];
  /** The listen address; empty: all addresses. */
  readonly address: string;
  /** The maximum UDP size in octets, which limits larger sizes of clients. */
  readonly maxUdpSize: number;
}

export function compileEventLines({ rules, address, maxUdpSize }: EventLinesOptions): EventLines {
  const words = wordsOf(address === '' ? '::' : address, maxUdpSize);
  const compiled = rules.map(({ zone, format, classes }) => ({
    zone,
    write: compileWords(format, words),
    classes: new Set<ResponseClass | 'all'>(classes),
  }));
  return {
    write(event, name) {
      const rule = compiled.find(({ zone }) => isWithin(name, zone));
      if (rule === undefined) return undefined;
      const { octets, hasSoa } = readResponseShape(event.response);
      const responseClass = classOfCounts(event.responseFlags & 0x0f, event.answers, hasSoa);
      if (!rule.classes.has('all') && !rule.classes.has(responseClass)) return undefined;
      const { question } = event;
      const number = (at: number) => ((question[at] ?? 0) << 8) | (question[at + 1] ?? 0);
      const fixed = question.length - 4;
      const [type, dnsClass] = [number(fixed), number(fixed + 2)];
      return rule.write({ event, name, type, dnsClass, responseOctets: octets });
    },
  };
}

/** Joins lines to one log message in which each line begins with its level. */
export function joinInfoLines(lines: readonly string[]): string {
  return lines.join('\n[INFO] ');
}

function wordsOf(local: string, maxUdpSize: number): ReadonlyMap<string, WriteWord> {
  return new Map<string, WriteWord>([
    ['type', ({ type }) => typeName(type)],
    ['name', ({ name }) => presentNameAsGo(name)],
    ['class', ({ dnsClass }) => knownClassName(dnsClass)],
    ['proto', ({ event }) => event.transport],
    ['size', ({ event }) => String(event.queryOctets)],
    ['remote', ({ event }) => bracketAddress(formatAddress(event.client))],
    ['port', ({ event }) => String(event.clientPort)],
    ['local', () => bracketAddress(local)],
    ['>id', ({ event }) => String(event.id)],
    ['>opcode', ({ event }) => String((event.queryFlags >> 11) & 0x0f)],
    ['>do', ({ event }) => String(event.dnssecOk)],
    [
      '>bufsize',
      ({ event }) =>
        String(maxResponseOctets(event.transport, Math.min(event.ednsSize ?? 0, maxUdpSize), 65_535)),
    ],
    ['rcode', ({ event }) => rcodeName(event.responseFlags & 0x0f)],
    ['rsize', ({ responseOctets }) => String(responseOctets)],
    ['>rflags', ({ event }) => flagsOf(event.responseFlags)],
    ['duration', ({ event }) => `${Number((Math.max(0, event.sent - event.received) / 1000).toFixed(9))}s`],
  ]);
}

/** Cached by the flags that have names: 128 combinations. */
const FLAG_TEXTS = new Map<number, string>();
const NAMED_FLAGS = 0x87b0;

function flagsOf(flags: number): string {
  const named = flags & NAMED_FLAGS;
  const text = FLAG_TEXTS.get(named) ?? describeFlags(named);
  FLAG_TEXTS.set(named, text);
  return text;
}

function describeFlags(flags: number): string {
  const has = (bit: number) => (flags & bit) !== 0;
  return namesOfFlags({
    response: has(0x8000),
    authoritative: has(0x0400),
    truncated: has(0x0200),
    recursionDesired: has(0x0100),
    recursionAvailable: has(0x80),
    authenticData: has(0x20),
    checkingDisabled: has(0x10),
  });
}
