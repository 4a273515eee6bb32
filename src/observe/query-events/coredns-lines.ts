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
  /** Each line begins with its level, the first by the log itself. */
  readonly separator = '\n[INFO] ';
  readonly #zones: ReadonlyMap<NameKey, WriteEvent | undefined>;

  constructor(zones: readonly (readonly [NameKey, LoggedZone | undefined])[]) {
    this.#zones = new Map(zones.map(([zone, rules]) => [zone, rules && compileRules(rules)]));
  }

  ofEvent(event: QueryEvent): readonly string[] {
    const { question } = event;
    if (question.length === 0) return [];
    const name = toKey(readName(question, 0).name);
    for (let zone: NameKey | undefined = name; zone !== undefined; zone = parentOf(zone))
      if (this.#zones.has(zone)) {
        const line = this.#zones.get(zone)?.(event, name);
        return line === undefined ? [] : [line];
      }
    return [];
  }

  ofNote({ line, number }: QueryNote): QueryLine {
    return number === ERROR_NOTE ? { error: line } : line;
  }
}

/** The number of notes of the level `error`. */
export const ERROR_NOTE = 1;

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
    return rule.write(new LoggedEvent(event, { name, local, maxUdpSize, responseOctets: octets }));
  };
}

interface EventFacts extends Pick<LoggedQuery, 'name' | 'local' | 'responseOctets'> {
  readonly maxUdpSize: number;
}

/** Words are made when the format asks for them: there may be a hundred thousand events in a second. */
class LoggedEvent implements LoggedQuery {
  readonly #event: QueryEvent;
  readonly #facts: EventFacts;

  constructor(event: QueryEvent, facts: EventFacts) {
    this.#event = event;
    this.#facts = facts;
  }

  get name(): NameKey {
    return this.#facts.name;
  }

  get type(): number {
    return this.#number(this.#event.question.length - 4);
  }

  get dnsClass(): number {
    return this.#number(this.#event.question.length - 2);
  }

  get transport(): LoggedQuery['transport'] {
    return this.#event.transport;
  }

  get octets(): number {
    return this.#event.queryOctets;
  }

  get remote(): string {
    return formatAddress(this.#event.client);
  }

  get local(): string {
    return this.#facts.local;
  }

  get port(): number {
    return this.#event.clientPort;
  }

  get id(): number {
    return this.#event.id;
  }

  get opcode(): number {
    return (this.#event.queryFlags >> 11) & 0x0f;
  }

  get dnssecOk(): boolean {
    return this.#event.dnssecOk;
  }

  get ednsSize(): number {
    return Math.min(this.#event.ednsSize ?? 0, this.#facts.maxUdpSize);
  }

  get rcode(): number {
    return this.#event.responseFlags & 0x0f;
  }

  get responseOctets(): number {
    return this.#facts.responseOctets;
  }

  get flags(): string {
    return flagsOf(this.#event.responseFlags);
  }

  get milliseconds(): number {
    return this.#event.sent - this.#event.received;
  }

  /** Readers know none: queries of such formats go to the chain. */
  metadata(): undefined {
    return undefined;
  }

  #number(at: number): number {
    const { question } = this.#event;
    return ((question[at] ?? 0) << 8) | (question[at + 1] ?? 0);
  }
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
