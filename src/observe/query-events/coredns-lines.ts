/**
 * Lines of CoreDNS's `log` for queries that readers answered.
 */
import { classOfCounts, type ResponseClass } from '../../chain/described-response.ts';
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import { compileLogFormat, type LoggedQuery, namesOfFlags } from '../../plugins/log/log-format.ts';
import { formatAddress } from '../../wire/address.ts';
import { isWithin, parentOf, toKey } from '../../wire/name.ts';
import { readName } from '../../wire/name-wire.ts';
import type { NameKey } from '../../wire/types.ts';
import type { EventLines, LoggedZone, QueryLine, QueryNote } from './event-lines.ts';
import { readResponseShape } from './response-shape.ts';

type WriteEvent = (event: QueryEvent, name: NameKey) => string | undefined;

/** Lines by the rules of the longest zone that holds the name; none if its block has no rules. */
export class CoreDnsLines implements EventLines {
  readonly #zones: ReadonlyMap<NameKey, WriteEvent | undefined>;

  constructor(zones: readonly (readonly [NameKey, LoggedZone | undefined])[]) {
    this.#zones = new Map(zones.map(([zone, rules]) => [zone, rules && compileRules(rules)]));
  }

  ofEvent(event: QueryEvent): readonly string[] {
    const { question } = event;
    if (question.length === 0) return [];
    const name = toKey(readName(question, 0).name);
    for (let zone: NameKey | undefined = name; zone !== undefined; zone = parentOf(zone))
      if (this.#zones.has(zone)) return [this.#zones.get(zone)?.(event, name) ?? []].flat();
    return [];
  }

  ofNote({ line, number }: QueryNote): QueryLine {
    return number === ERROR_NOTE ? { error: line } : line;
  }
}

/** The number of notes of the level `error`. */
export const ERROR_NOTE = 1;

/** Joins lines to log messages, so that there is one for many lines: each line begins with its level. */
export function* joinLines(
  lines: readonly QueryLine[],
): Iterable<{ readonly level: 'info' | 'error'; readonly text: string }> {
  let joined: string[] = [];
  for (const line of [...lines, undefined]) {
    if (typeof line === 'string') joined.push(line);
    else {
      if (joined.length > 0) yield { level: 'info', text: joined.join('\n[INFO] ') };
      joined = [];
      if (line !== undefined && 'error' in line) yield { level: 'error', text: line.error };
    }
  }
}

/** The first rule whose zone contains the name decides. */
function compileRules({ rules, address, maxUdpSize }: LoggedZone): WriteEvent {
  const local = address === '' ? '::' : address;
  const compiled = rules.map(({ zone, format, classes }) => ({
    zone,
    write: compileLogFormat(format),
    classes: new Set<ResponseClass | 'all'>(classes),
  }));
  return (event, name) => {
    const rule = compiled.find(({ zone }) => isWithin(name, zone));
    if (rule === undefined) return undefined;
    const { octets, hasSoa } = readResponseShape(event.response);
    const responseClass = classOfCounts(event.responseFlags & 0x0f, event.answers, hasSoa);
    if (!rule.classes.has('all') && !rule.classes.has(responseClass)) return undefined;
    const ednsSize = Math.min(event.ednsSize ?? 0, maxUdpSize);
    return rule.write({ ...describeQuery(event), name, local, ednsSize, responseOctets: octets });
  };
}

function describeQuery(
  event: QueryEvent,
): Omit<LoggedQuery, 'name' | 'local' | 'ednsSize' | 'responseOctets'> {
  const { question } = event;
  const number = (at: number) => ((question[at] ?? 0) << 8) | (question[at + 1] ?? 0);
  const fixed = question.length - 4;
  return {
    ...{ type: number(fixed), dnsClass: number(fixed + 2), transport: event.transport },
    ...{ octets: event.queryOctets, id: event.id, dnssecOk: event.dnssecOk },
    ...{ remote: formatAddress(event.client), port: event.clientPort },
    opcode: (event.queryFlags >> 11) & 0x0f,
    rcode: event.responseFlags & 0x0f,
    flags: flagsOf(event.responseFlags),
    milliseconds: event.sent - event.received,
    // Readers do not know it: queries of such formats go to the chain.
    metadata: () => undefined,
  };
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
