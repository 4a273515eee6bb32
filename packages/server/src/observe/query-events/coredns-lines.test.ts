import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName, ROOT } from '@portolan/dns/name.ts';
import { readName } from '@portolan/dns/name-wire.ts';
import { respond } from '@portolan/dns/query.ts';
import { sampleRecords } from '@portolan/dns/testing/sample-records.ts';
import { CLASS, type NameKey, RCODE, TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import type { WholeAnswer } from '@portolan/kernel/chain/answer.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, QUERY_HEADER, SOA } from '@portolan/kernel/chain/testing/queries.ts';
import { EMPTY_ANSWER } from '@portolan/kernel/chain/whole-answer.ts';
import { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import { EVENT_MODE, viewEventRing, WORD } from '@portolan/kernel/listen/query-events/event-ring.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { createLogHandler } from '@portolan/plugins/log/log.ts';
import type { LogRule } from '@portolan/plugins/log/options.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CoreDnsLines } from './coredns-lines.ts';
import { LineCollector } from './event-lines.ts';

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
  const log = new RecordingLog();
  const clock = new ManualClock();
  const site = { server: '', zone: '.', view: '', octets: packet.length };
  await createLogHandler({ rules }, { clock, queryLog: log, handlerNames: () => [] }).handle(
    new Query(question, asked, client, undefined, site),
    () => {
      clock.advance(3);
      return answer;
    },
  );
  const event = makeEvent(packet, encodeMessage(respond(asked, answer)));
  const into = new LineCollector();
  new CoreDnsLines([[ROOT as NameKey, { rules, address: '192.0.2.1', maxUdpSize: 4096 }]]).addEvent(
    event,
    into,
  );
  return { plugin: log.records[0]?.message, event: into.take()[0] };
}

/** A reader's event of an answer that took 3 ms. */
function makeEvent(packet: Uint8Array, response: Uint8Array): EventView {
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.RESPONSES);
  rings.main.add(packet, response, CLIENT, { received: 10, source: 'table', transport: 'udp' });
  const records = viewEventRing(rings.ofMain);
  records.doubles[WORD.SENT / 2] = 13;
  return new EventView(records).moveTo(0);
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

it('presents any name as the plugin does', async () => {
  const [answer = EMPTY_ANSWER] = answers;
  const label = fc.uint8Array({ minLength: 1, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(fc.array(label, { maxLength: 5 }), async (labels) => {
      const wire = Uint8Array.from([...labels.flatMap((octets) => [octets.length, ...octets]), 0]);
      const { plugin, event } = await bothLines(readName(wire, 0).name, answer);
      expect(event).toBe(plugin);
    }),
    { numRuns: 50, examples: [[[Uint8Array.from(Buffer.from('\\\\032'))]]] },
  );
});

it('leaves the decision to the first rule of the zone', async () => {
  const [answer = EMPTY_ANSWER] = answers;
  expect(await bothLines('x.quiet.example.', answer)).toEqual({ plugin: undefined, event: undefined });
});
