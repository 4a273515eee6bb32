/**
 * Formats a query event as a line of a query log; text and JSON have the same fields.
 */
import { formatElapsed } from '../../base/duration.ts';
import type { LogFields } from '../../base/log.ts';
import type { QueryLogSettings } from '../../config/server/query-log-plan.ts';
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import { formatAddress } from '../../wire/address.ts';
import { className, opcodeName, rcodeName, typeName } from '../../wire/mnemonics.ts';
import { readName } from '../../wire/name-wire.ts';
import { CLASS, OPCODE } from '../../wire/types.ts';
import { renderLine } from '../log.ts';
import type { EventExplanation } from './explained-event.ts';

/** Header flag bits, with dig's names. */
const FLAG_BITS: readonly (readonly [string, number])[] = [
  ['aa', 0x0400],
  ['tc', 0x0200],
  ['rd', 0x0100],
  ['ra', 0x0080],
  ['ad', 0x0020],
  ['cd', 0x0010],
];

/** @param time of receipt, in milliseconds since the epoch @returns the line with its newline */
export function describeEvent(
  event: QueryEvent,
  time: number,
  format: QueryLogSettings['format'],
  explanation?: EventExplanation,
): string {
  return `${renderLine(format, formatTime(time), 'info', 'query', fieldsOf(event, explanation))}\n`;
}

/** Formats microseconds too: `2026-01-02T03:04:05.678901Z`. */
function formatTime(milliseconds: number): string {
  const whole = Math.floor(milliseconds);
  const micros = Math.floor((milliseconds - whole) * 1000);
  return `${new Date(whole).toISOString().slice(0, -1)}${String(micros).padStart(3, '0')}Z`;
}

function fieldsOf(event: QueryEvent, explanation: EventExplanation | undefined): LogFields {
  const { queryFlags, responseFlags } = event;
  const opcode = (queryFlags >> 11) & 0x0f;
  return {
    client: addressText(event.client, event.clientPort),
    server: event.server.every((octet) => octet === 0) ? undefined : formatAddress(event.server),
    transport: event.transport,
    ...questionFields(event.question),
    opcode: opcode === OPCODE.QUERY ? undefined : opcodeName(opcode),
    id: event.id,
    queryFlags: flagText(queryFlags, event.dnssecOk),
    queryBytes: event.queryOctets,
    ednsSize: event.ednsSize,
    rcode: rcodeName(responseFlags & 0x0f),
    flags: flagText(responseFlags, false),
    answers: event.answers,
    bytes: event.responseOctets,
    duration: formatElapsed(Math.max(0, event.sent - event.received)),
    source: explanation?.source ?? event.source,
    reason: explanation?.reason,
  };
}

function addressText(octets: Uint8Array, port: number): string {
  const address = formatAddress(octets);
  return octets.length === 4 ? `${address}:${port}` : `[${address}]:${port}`;
}

function questionFields(question: Uint8Array): LogFields {
  if (question.length === 0) return {};
  const { name, next } = readName(question, 0);
  const number = (at: number) => ((question[at] ?? 0) << 8) | (question[at + 1] ?? 0);
  const recordClass = number(next + 2);
  return {
    name,
    type: typeName(number(next)),
    class: recordClass === CLASS.IN ? undefined : className(recordClass),
  };
}

function flagText(flags: number, dnssecOk: boolean): string {
  const set = FLAG_BITS.filter(([, bit]) => (flags & bit) !== 0).map(([name]) => name);
  return (dnssecOk ? [...set, 'do'] : set).join(',');
}
