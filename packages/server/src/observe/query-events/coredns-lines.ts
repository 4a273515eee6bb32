/**
 * Lines of CoreDNS's `log` for queries that readers answered.
 */
import { addBracketed } from '@portolan/dns/address.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { addName, GO_NAME_TEXT, isWithinZone } from '@portolan/dns/name-text.ts';
import type { TextBuffer } from '@portolan/dns/text-buffer.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { classOfCounts, type ResponseClass } from '@portolan/kernel/chain/described-response.ts';
import type { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { compileLogFormat, type LoggedQuery, namesOfFlags } from '@portolan/plugins/log/log-format.ts';
import type { EventLines, LineCollector, LoggedZone } from './event-lines.ts';
import { type ResponseShape, readResponseShape } from './response-shape.ts';

type AddLine = (event: EventView, into: LineCollector) => void;

interface ZoneLines {
  /** In wire format. */
  readonly zone: Uint8Array;
  /** Undefined: its block has no rules. */
  readonly add: AddLine | undefined;
}

/** Lines by the rules of the longest zone that holds the name; none if its block has no rules. */
export class CoreDnsLines implements EventLines {
  /** Each line begins with its level, the first by the log itself. */
  readonly separator = '\n[INFO] ';
  /** By the octets of the zone. */
  readonly #zones: (readonly ZoneLines[] | undefined)[] = [];

  constructor(zones: readonly (readonly [NameKey, LoggedZone | undefined])[]) {
    for (const [name, rules] of zones) {
      const zone = encodeName(name);
      this.#zones[zone.length] = [
        ...(this.#zones[zone.length] ?? []),
        { zone, add: rules && compileRules(rules) },
      ];
    }
  }

  addEvent(event: EventView, into: LineCollector): void {
    const { octets, questionAt, questionOctets, nameEnd: end } = event;
    if (questionOctets === 0) return;
    for (let at = questionAt; at < end; at += (octets[at] ?? 0) + 1) {
      const lines = this.#zones[end - at]?.find(({ zone }) => isWithinZone(octets, at, end, zone));
      if (lines === undefined) continue;
      lines.add?.(event, into);
      return;
    }
  }

  addNote(note: EventView, into: LineCollector): void {
    if (note.noteNumber === ERROR_NOTE) into.add({ error: note.note?.line ?? '' });
    else into.begin().addOctets(note.octets, note.questionAt, note.questionAt + note.questionOctets);
  }
}

/** The number of notes of the level `error`. */
export const ERROR_NOTE = 1;

/** The first rule whose zone contains the name decides. */
function compileRules({ rules, address, maxUdpSize }: LoggedZone): AddLine {
  const facts = { local: address === '' ? '::' : address, maxUdpSize };
  const compiled = rules.map(({ zone, format, classes }) => ({
    zone: encodeName(zone),
    add: compileLogFormat(format),
    classes: new Set<ResponseClass | 'all'>(classes),
  }));
  return (event, into) => {
    const { octets, questionAt, nameEnd } = event;
    const rule = compiled.find(({ zone }) => isWithinZone(octets, questionAt, nameEnd, zone));
    if (rule === undefined) return;
    const logged = new LoggedEvent(event, facts);
    if (rule.classes.has('all') || rule.classes.has(logged.responseClass)) rule.add(into.begin(), logged);
  };
}

interface EventFacts extends Pick<LoggedQuery, 'local'> {
  readonly maxUdpSize: number;
}

/** Words are made when the format asks for them: there may be a hundred thousand events in a second. */
class LoggedEvent implements LoggedQuery {
  readonly #event: EventView;
  readonly #facts: EventFacts;
  #shape: ResponseShape | undefined;

  constructor(event: EventView, facts: EventFacts) {
    this.#event = event;
    this.#facts = facts;
  }

  addName(into: TextBuffer): void {
    const { octets, questionAt, nameEnd } = this.#event;
    addName(into, GO_NAME_TEXT, octets, questionAt, nameEnd);
  }

  get type(): number {
    return this.#event.questionType;
  }

  get dnsClass(): number {
    return this.#event.questionClass;
  }

  get transport(): LoggedQuery['transport'] {
    return this.#event.transport;
  }

  get octets(): number {
    return this.#event.queryOctets;
  }

  addRemote(into: TextBuffer): void {
    const { octets, clientAt, addressOctets } = this.#event;
    addBracketed(into, octets, clientAt, addressOctets);
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
    return this.#response.octets;
  }

  get responseClass(): ResponseClass {
    return classOfCounts(this.rcode, this.#event.answers, this.#response.hasSoa);
  }

  get flags(): string {
    return formatFlags(this.#event.responseFlags);
  }

  get milliseconds(): number {
    return this.#event.sent - this.#event.received;
  }

  /** Readers know none: queries of such formats go to the chain. */
  metadata(): undefined {
    return undefined;
  }

  get #response(): ResponseShape {
    this.#shape ??= readResponseShape(this.#event.response);
    return this.#shape;
  }
}

/** Cached by the flags that have names: 128 combinations. */
const FLAG_TEXTS = new Map<number, string>();
const NAMED_FLAGS = 0x87b0;

function formatFlags(flags: number): string {
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
