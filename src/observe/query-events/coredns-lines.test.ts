import { expect, it } from 'vitest';
import { ManualClock } from '../../base/testing/manual-clock.ts';
import { RecordingLog } from '../../base/testing/recording-log.ts';
import type { WholeAnswer } from '../../chain/answer.ts';
import { Query } from '../../chain/query.ts';
import { CLIENT, QUERY_HEADER, SOA } from '../../chain/testing/queries.ts';
import { EMPTY_ANSWER } from '../../chain/whole-answer.ts';
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import { createLogHandler } from '../../plugins/log/log.ts';
import type { LogRule } from '../../plugins/log/options.ts';
import { encodeMessage } from '../../wire/message.ts';
import { parseName, ROOT } from '../../wire/name.ts';
import { respond } from '../../wire/query.ts';
import { sampleRecords } from '../../wire/testing/sample-records.ts';
import { CLASS, type NameKey, RCODE, TYPE } from '../../wire/types.ts';
import { CoreDnsLines } from './coredns-lines.ts';

const FORMAT =
  '{remote}:{port} {local} {>id} {>opcode} "{type} {class} {name} {proto} {size} {>do} {>bufsize}" {rcode} {>rflags} {rsize} {duration} {/label} {nosuch}';
const RULES: readonly LogRule[] = [
  { zone: 'quiet.example.' as NameKey, format: 'never', classes: ['denial'] },
  { zone: ROOT as NameKey, format: FORMAT, classes: ['all'] },
];

const answers: readonly WholeAnswer[] = [
  ...sampleRecords.map(({ record }) => ({ ...EMPTY_ANSWER, authoritative: true, answers: [record] })),
  { ...EMPTY_ANSWER, answers: sampleRecords.map(({ record }) => record), recursionAvailable: true },
  { ...EMPTY_ANSWER, rcode: RCODE.NXDOMAIN, authorities: [SOA] },
  { ...EMPTY_ANSWER, authorities: [SOA], additionals: sampleRecords.slice(0, 4).map(({ record }) => record) },
  { ...EMPTY_ANSWER, rcode: RCODE.SERVFAIL },
];

/** The plugin's line for a query, and the line for a reader's event of the same query. */
async function bothLines(name: string, answer: WholeAnswer, rules = RULES) {
  const edns = { version: 0, udpSize: 1400, dnssecOk: true, extendedRcode: 0, options: [] };
  const question = { name: parseName(name), type: TYPE.A, class: CLASS.IN };
  const asked = { header: QUERY_HEADER, question, edns };
  const client = { ...CLIENT, localAddress: '192.0.2.1' };
  const packet = encodeMessage({
    ...asked,
    questions: [question],
    answers: [],
    authorities: [],
    additionals: [],
  });
  const [log, clock] = [new RecordingLog(), new ManualClock()];
  const site = { server: '', zone: '.', view: '', octets: packet.length };
  await createLogHandler({ rules }, { clock, queryLog: log, handlerNames: () => [] }).handle(
    new Query(question, asked, client, undefined, site),
    () => {
      clock.advance(3);
      return answer;
    },
  );
  const response = encodeMessage(respond(asked, answer));
  const view = new DataView(response.buffer, response.byteOffset);
  const event: QueryEvent = {
    weight: 1,
    ...{ received: 10, sent: 13, transport: 'udp', source: 'table', id: QUERY_HEADER.id, queryFlags: 0x0100 },
    ...{ client: Uint8Array.of(192, 0, 2, 53), clientPort: CLIENT.port, server: new Uint8Array(4) },
    ...{ responseFlags: view.getUint16(2), queryOctets: packet.length, responseOctets: response.length },
    ...{ ednsSize: edns.udpSize, dnssecOk: true, answers: answer.answers.length },
    ...{ authorities: answer.authorities.length, additionals: answer.additionals.length + 1 },
    question: packet.slice(12, packet.length - 11),
    response,
  };
  const lines = new CoreDnsLines([[ROOT as NameKey, { rules, address: '192.0.2.1', maxUdpSize: 4096 }]]);
  return { plugin: log.records[0]?.message, event: lines.ofEvent(event)[0] };
}

it.each(answers)('writes the line that the plugin writes', async (answer) => {
  const { plugin, event } = await bothLines('X.example.', answer);
  expect(plugin).toBeDefined();
  expect(event).toBe(plugin);
});

it.each(['success', 'denial', 'error'] as const)('writes what a rule of class %s wants', async (logged) => {
  const rules: readonly LogRule[] = [{ zone: ROOT as NameKey, format: '{rcode}', classes: [logged] }];
  const both = await Promise.all(answers.map((answer) => bothLines('x.example.', answer, rules)));
  expect(both.map(({ event }) => event)).toEqual(both.map(({ plugin }) => plugin));
  expect(both.some(({ event }) => event !== undefined)).toBe(true);
  expect(both.some(({ event }) => event === undefined)).toBe(true);
});

it('leaves the decision to the first rule of the zone', async () => {
  const [answer = EMPTY_ANSWER] = answers;
  expect(await bothLines('x.quiet.example.', answer)).toEqual({ plugin: undefined, event: undefined });
});
