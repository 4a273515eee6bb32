import { encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { expect, it } from 'vitest';
import { silentLog } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { MessageAnswers } from './message-answers.ts';
import { QueryEventReader } from './query-events/event-reader.ts';
import { EVENT_MODE } from './query-events/event-ring.ts';
import { QueryEventRings } from './query-events/event-rings.ts';

const CLIENT = { address: '192.0.2.7', port: 4711, transport: 'tcp' } as const;
const KNOWN = encodeMessage(makeQuery('known.example', 'A'));
const OPEN = encodeMessage(makeQuery('open.example', 'A'));

function makeRings(): QueryEventRings {
  const rings = new QueryEventRings(0);
  rings.setMode(EVENT_MODE.RESPONSES);
  return rings;
}

/** The sources of the events in the main thread's ring. */
function sourcesIn(rings: QueryEventRings): readonly string[] {
  const reader = new QueryEventReader(rings.ofMain);
  const sources: string[] = [];
  reader.drain(({ source }) => sources.push(source));
  return sources;
}

it('shows what the table answers apart from what the chain answers', async () => {
  const events = makeRings();
  const tableEvents = makeRings();
  const answers = new MessageAnswers(
    {
      enter() {},
      leave() {},
      setTime() {},
      answer: (packet, _, length) => (packet[13] === OPEN[13] ? -1 : length),
    },
    async (query) => query,
    { clock: new ManualClock(), log: silentLog, udpSize: 1232, events, tableEvents },
  );
  expect(answers.answer(KNOWN, CLIENT).kind).toBe('response');
  const later = answers.answer(OPEN, CLIENT);
  if (later.kind !== 'later') throw new Error(later.kind);
  expect(await later.response).toEqual(OPEN);
  expect(sourcesIn(tableEvents)).toEqual(['table']);
  expect(sourcesIn(events)).toEqual(['chain']);
});

it('gives up queries that have waited too long, but not those that the table answers', async () => {
  const asked: Uint8Array[] = [];
  const clock = new ManualClock();
  const answers = new MessageAnswers(
    {
      enter() {},
      leave() {},
      setTime() {},
      answer: (packet, _, length) => (packet[13] === OPEN[13] ? -1 : length),
    },
    async (query) => {
      asked.push(query);
      return query;
    },
    { clock, log: silentLog, udpSize: 1232, timeouts: { queue: 5_000 } },
  );
  const arrived = clock.monotonic();
  clock.advance(4_999);
  expect(answers.answer(OPEN, CLIENT, arrived).kind).toBe('later');
  clock.advance(1);
  const given = answers.answer(OPEN, CLIENT, arrived);
  if (given.kind !== 'response') throw new Error(given.kind);
  expect((given.response[3] ?? 0) & 15).toBe(2);
  expect(given.response.subarray(0, 2)).toEqual(OPEN.subarray(0, 2));
  expect(answers.answer(KNOWN, CLIENT, arrived).kind).toBe('response');
  expect(answers.answer(OPEN, CLIENT).kind).toBe('later');
  expect(asked).toHaveLength(2);
  expect(answers.expired).toBe(1);
});
