import { formatAddress } from '@portolan/dns/address.ts';
import { className, opcodeName, rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { LogFields } from '@portolan/kernel/base/log.ts';
import { copyEvent, EventView, type QueryEvent } from '@portolan/kernel/listen/query-events/event-reader.ts';
import {
  EVENT_MODE,
  FLAG,
  makeEventRing,
  setEventMode,
  viewEventRing,
  WORD,
} from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventWriter } from '@portolan/kernel/listen/query-events/event-writer.ts';
import { ENDPOINTS_ARE_IPV6 } from '@portolan/kernel/socket/endpoints.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { renderLine } from '../log.ts';
import { EventFormat } from './event-format.ts';
import type { EventExplanation } from './explained-event.ts';

const HEADER_OCTETS = 12;
const FLAG_BITS = { aa: 0x0400, tc: 0x0200, rd: 0x0100, ra: 0x0080, ad: 0x0020, cd: 0x0010 };

/** The line by way of the general log. */
function expectedLine(
  event: QueryEvent,
  time: number,
  isJson: boolean,
  explanation?: EventExplanation,
): string {
  const whole = Math.floor(time);
  const micros = String(Math.floor((time - whole) * 1000)).padStart(3, '0');
  const timeText = `${new Date(whole).toISOString().slice(0, -1)}${micros}Z`;
  const format = isJson ? 'json' : 'text';
  return `${renderLine(format, timeText, 'info', 'query', expectedFields(event, explanation))}\n`;
}

function expectedFields(event: QueryEvent, explanation: EventExplanation | undefined): LogFields {
  const { queryFlags, responseFlags, client, server, question } = event;
  const address = formatAddress(client);
  const opcode = (queryFlags >> 11) & 0x0f;
  const listFlags = (flags: number) =>
    Object.entries(FLAG_BITS).flatMap(([name, bit]) => ((flags & bit) === 0 ? [] : name));
  const [type = 0, recordClass = 0] = new Uint16Array(
    Uint8Array.from(question.slice(-4)).reverse().buffer,
  ).reverse();
  return {
    client: client.length === 4 ? `${address}:${event.clientPort}` : `[${address}]:${event.clientPort}`,
    server: server.every((octet) => octet === 0) ? undefined : formatAddress(server),
    transport: event.transport,
    ...(question.length > 0 && {
      name: readName(question, 0).name,
      type: typeName(type),
      class: recordClass === 1 ? undefined : className(recordClass),
    }),
    opcode: opcode === 0 ? undefined : opcodeName(opcode),
    id: event.id,
    queryFlags: [...listFlags(queryFlags), ...(event.dnssecOk ? ['do'] : [])].join(','),
    queryBytes: event.queryOctets,
    ednsSize: event.ednsSize,
    rcode: rcodeName(responseFlags & 0x0f),
    flags: listFlags(responseFlags).join(','),
    answers: event.answers,
    bytes: event.responseOctets,
    duration: formatElapsed(Math.max(0, event.sent - event.received)),
    source: explanation?.source ?? event.source,
    reason: explanation?.reason,
  };
}

const uint16 = fc.nat(0xffff);
const asked = fc.record({
  labels: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 5 }),
  type: fc.oneof(fc.nat(300), uint16),
  recordClass: fc.oneof(fc.constant(1), fc.nat(5), uint16),
  header: fc.uint8Array({ minLength: 4, maxLength: 4 }),
  responseHeader: fc.uint8Array({ minLength: HEADER_OCTETS, maxLength: HEADER_OCTETS }),
  hasQuestion: fc.boolean(),
  opt: fc.option(fc.record({ size: uint16, dnssecOk: fc.boolean() })),
  endpoints: fc.oneof(
    ...[1, 4].map((words) => fc.array(fc.nat(0xffffffff), { minLength: 2 * words, maxLength: 2 * words })),
  ),
  port: uint16,
  knowsServer: fc.boolean(),
  flags: fc.nat(7),
  received: fc.double({ min: 0, max: 1e9, noNaN: true }),
  duration: fc.oneof(
    fc.double({ min: -1, max: 20, noNaN: true }),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
  ),
});

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

/** The event of a query, as a reader writes it. */
function makeEvent(query: Asked): EventView {
  const memory = makeEventRing(2 ** 12);
  setEventMode(memory, EVENT_MODE.RESPONSES);
  const writer = new QueryEventWriter(memory);
  const { endpoints, port, knowsServer, opt } = query;
  const source = {
    writeEndpoints(_index: number, target: Uint32Array, at: number) {
      const own = endpoints.length / 2;
      target.set([port | (own === 4 ? ENDPOINTS_ARE_IPV6 : 0), ...endpoints], at);
      if (!knowsServer) target.fill(0, at + 1 + own, at + 1 + 2 * own);
      return 1 + 2 * own;
    },
  };
  const twoOctets = (number: number) => [number >> 8, number & 0xff];
  const name = [...query.labels.flatMap((octets) => [octets.length, ...octets]), 0];
  const question = [...name, ...twoOctets(query.type), ...twoOctets(query.recordClass)];
  const additional =
    opt === null ? [] : [0, 0, 41, ...twoOctets(opt.size), 0, 0, opt.dnssecOk ? 0x80 : 0, 0, 0, 0];
  const counts = [0, query.hasQuestion ? 1 : 0, 0, 0, 0, 0, 0, opt === null ? 0 : 1];
  const packet = Uint8Array.from([...query.header, ...counts, ...question, ...additional]);
  const response = Uint8Array.from([...query.responseHeader, ...question]);
  writer.begin();
  writer.receivedAt(query.received);
  writer.noteQuery(
    new DataView(packet.buffer),
    0,
    packet.length,
    query.flags & (FLAG.TRANSPORT | FLAG.CHAIN),
  );
  writer.write(new DataView(response.buffer), 0, response.length, source, 0);
  writer.publish();
  const records = viewEventRing(memory);
  records.doubles[WORD.SENT / 2] = query.received + query.duration;
  return new EventView(records).moveTo(0);
}

const explanations = fc.option(
  fc.record({ source: fc.string({ unit: 'binary' }), reason: fc.option(fc.string(), { nil: undefined }) }),
  { nil: undefined },
);

it.each([false, true])('writes events as the general log writes fields; as JSON: %j', (isJson) => {
  const format = new EventFormat(isJson ? 'json' : 'text');
  const start = Date.UTC(2026, 0, 2, 3, 4, 5);
  fc.assert(
    fc.property(fc.array(fc.tuple(asked, explanations), { minLength: 1, maxLength: 3 }), (queries) => {
      let expected = '';
      for (const [query, explanation] of queries) {
        const event = makeEvent(query);
        const time = start + query.received;
        format.add(event, time, explanation);
        expected += expectedLine(copyEvent(event), time, isJson, explanation);
      }
      expect(Buffer.from(format.take()).toString()).toBe(Buffer.from(expected).toString());
    }),
    { numRuns: 300 },
  );
});
