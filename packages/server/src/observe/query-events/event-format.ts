/**
 * Formats query events as lines of a query log; text and JSON have the same fields.
 */
import { addAddress, addBracketed } from '@portolan/dns/address.ts';
import { className, opcodeName, rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { addName, NAME_TEXT } from '@portolan/dns/name-text.ts';
import { TextBuffer } from '@portolan/dns/text-buffer.ts';
import { CLASS, OPCODE } from '@portolan/dns/types.ts';
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { QueryLogSettings } from '../../plan/query-log-plan.ts';
import type { EventExplanation } from './explained-event.ts';

interface EventField {
  readonly name: string;
  /** A number, a word that never needs quotes in text, or any text. */
  readonly kind: 'number' | 'word' | 'text';
  /** Undefined: always. */
  readonly isThere?: (event: EventView, explanation: EventExplanation | undefined) => boolean;
  readonly add: (into: TextBuffer, event: EventView, explanation: EventExplanation | undefined) => void;
}

/** Header flag bits, with dig's names. */
const FLAG_BITS: readonly (readonly [string, number])[] = [
  ['aa', 0x0400],
  ['tc', 0x0200],
  ['rd', 0x0100],
  ['ra', 0x0080],
  ['ad', 0x0020],
  ['cd', 0x0010],
];
const NAMED_FLAGS = 0x07b0;
/** A bit that no flag has. */
const DNSSEC_OK = 0x10000;

const FIELDS: readonly EventField[] = [
  { name: 'client', kind: 'word', add: addClient },
  {
    name: 'server',
    kind: 'word',
    isThere: knowsServer,
    add: (into, { octets, serverAt, addressOctets }) => addAddress(into, octets, serverAt, addressOctets),
  },
  { name: 'transport', kind: 'word', add: (into, { transport }) => into.addText(transport) },
  {
    name: 'name',
    kind: 'text',
    isThere: hasQuestion,
    add: (into, { octets, questionAt, nameEnd }) => addName(into, NAME_TEXT, octets, questionAt, nameEnd),
  },
  {
    name: 'type',
    kind: 'word',
    isThere: hasQuestion,
    add: (into, { questionType }) => into.addText(typeName(questionType)),
  },
  {
    name: 'class',
    kind: 'word',
    isThere: (event) => hasQuestion(event) && event.questionClass !== CLASS.IN,
    add: (into, { questionClass }) => into.addText(className(questionClass)),
  },
  {
    name: 'opcode',
    kind: 'word',
    isThere: (event) => readOpcode(event) !== OPCODE.QUERY,
    add: (into, event) => into.addText(opcodeName(readOpcode(event))),
  },
  { name: 'id', kind: 'number', add: (into, { id }) => into.addNumber(id) },
  {
    name: 'queryFlags',
    kind: 'text',
    add: (into, { queryFlags, dnssecOk }) => into.addText(flagText(queryFlags, dnssecOk)),
  },
  { name: 'queryBytes', kind: 'number', add: (into, { queryOctets }) => into.addNumber(queryOctets) },
  {
    name: 'ednsSize',
    kind: 'number',
    isThere: ({ ednsSize }) => ednsSize !== undefined,
    add: (into, { ednsSize = 0 }) => into.addNumber(ednsSize),
  },
  {
    name: 'rcode',
    kind: 'word',
    add: (into, { responseFlags }) => into.addText(rcodeName(responseFlags & 0x0f)),
  },
  {
    name: 'flags',
    kind: 'text',
    add: (into, { responseFlags }) => into.addText(flagText(responseFlags, false)),
  },
  { name: 'answers', kind: 'number', add: (into, { answers }) => into.addNumber(answers) },
  { name: 'bytes', kind: 'number', add: (into, { responseOctets }) => into.addNumber(responseOctets) },
  { name: 'duration', kind: 'word', add: addDuration },
  {
    name: 'source',
    kind: 'text',
    add: (into, { source }, explanation) => into.addText(explanation?.source ?? source),
  },
  {
    name: 'reason',
    kind: 'text',
    isThere: (_event, explanation) => explanation?.reason !== undefined,
    add: (into, _event, explanation) => into.addText(explanation?.reason ?? ''),
  },
];

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const EQUALS = 0x3d;
const FIRST_PRINTABLE = 0x21;
const LAST_PRINTABLE = 0x7e;

/** Lines until they are taken. */
export class EventFormat {
  readonly #isJson: boolean;
  /** The beginning of each field, as far as its value. */
  readonly #heads: readonly Uint8Array[];
  readonly #text = new TextBuffer();

  constructor(format: QueryLogSettings['format']) {
    this.#isJson = format === 'json';
    this.#heads = FIELDS.map(({ name, kind }) =>
      Buffer.from(this.#isJson ? `,"${name}":${kind === 'number' ? '' : '"'}` : ` ${name}=`),
    );
  }

  /** Adds a line with its newline. @param time of receipt, in milliseconds since the epoch */
  add(event: EventView, time: number, explanation?: EventExplanation): void {
    const text = this.#text;
    const isJson = this.#isJson;
    if (isJson) text.addText('{"time":"');
    addTime(text, time);
    text.addText(isJson ? '","level":"info","message":"query"' : ' INFO  query');
    for (let index = 0; index < FIELDS.length; index++) {
      const field = FIELDS[index];
      const head = this.#heads[index];
      if (field === undefined || head === undefined || field.isThere?.(event, explanation) === false)
        continue;
      text.addOctets(head);
      const start = text.length;
      field.add(text, event, explanation);
      if (field.kind === 'text') this.#endText(start);
      else if (isJson && field.kind === 'word') text.addOctet(QUOTE);
    }
    text.addText(isJson ? '}\n' : '\n');
  }

  /** Removes and returns all lines. They are there until the next one is added. */
  take(): Uint8Array {
    const { octets } = this.#text;
    this.#text.clear();
    return octets;
  }

  /** Ends a text that begins at `start`, in quotes as in JSON unless it is text that is plain without. */
  #endText(start: number): void {
    const text = this.#text;
    const octets = text.reserve(0);
    const special = this.#isJson ? BACKSLASH : EQUALS;
    let isPlain = this.#isJson || text.length > start;
    for (let at = start; isPlain && at < text.length; at++) {
      const octet = octets[at] ?? 0;
      isPlain = octet >= FIRST_PRINTABLE && octet <= LAST_PRINTABLE && octet !== QUOTE && octet !== special;
    }
    if (isPlain) {
      if (this.#isJson) text.addOctet(QUOTE);
      return;
    }
    const quoted = JSON.stringify(text.textFrom(start));
    // In JSON, a quote is there already.
    text.length = start;
    text.addText(this.#isJson ? quoted.slice(1) : quoted);
  }
}

const SECOND = 1_000;
/** The second whose text is known. */
let knownSecond = Number.NaN;
let textOfSecond = '';

/** Adds microseconds too: `2026-01-02T03:04:05.678901Z`. */
function addTime(into: TextBuffer, milliseconds: number): void {
  const whole = Math.floor(milliseconds);
  const second = Math.floor(whole / SECOND);
  if (second !== knownSecond) {
    knownSecond = second;
    textOfSecond = new Date(second * SECOND).toISOString().slice(0, -4);
  }
  into.addText(textOfSecond);
  into.addNumber(whole - second * SECOND, 3);
  into.addNumber(Math.floor((milliseconds - whole) * 1000), 3);
  into.addText('Z');
}

function addClient(into: TextBuffer, { octets, clientAt, addressOctets, clientPort }: EventView): void {
  addBracketed(into, octets, clientAt, addressOctets);
  into.addText(':');
  into.addNumber(clientPort);
}

function knowsServer({ octets, serverAt, addressOctets }: EventView): boolean {
  for (let at = serverAt; at < serverAt + addressOctets; at++) if (octets[at] !== 0) return true;
  return false;
}

function hasQuestion({ questionOctets }: EventView): boolean {
  return questionOctets > 0;
}

function readOpcode({ queryFlags }: EventView): number {
  return (queryFlags >> 11) & 0x0f;
}

/** By the flags that have names. */
const FLAG_TEXTS = new Map<number, string>();

function flagText(flags: number, dnssecOk: boolean): string {
  const named = (flags & NAMED_FLAGS) | (dnssecOk ? DNSSEC_OK : 0);
  const known = FLAG_TEXTS.get(named);
  if (known !== undefined) return known;
  const set = FLAG_BITS.filter(([, bit]) => (flags & bit) !== 0).map(([name]) => name);
  const text = (dnssecOk ? [...set, 'do'] : set).join(',');
  FLAG_TEXTS.set(named, text);
  return text;
}

/** The answers of a batch have the same times. */
let knownDuration = Number.NaN;
let textOfDuration = '';

function addDuration(into: TextBuffer, { sent, received }: EventView): void {
  const duration = Math.max(0, sent - received);
  if (duration !== knownDuration) {
    knownDuration = duration;
    textOfDuration = formatElapsed(duration);
  }
  into.addText(textOfDuration);
}
