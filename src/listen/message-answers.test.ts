import { expect, it } from 'vitest';
import { silentLog } from '../base/log.ts';
import { ManualClock } from '../base/testing/manual-clock.ts';
import { makeQuery } from '../chain/testing/ask.ts';
import { encodeMessage } from '../wire/message.ts';
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
  const [events, tableEvents] = [makeRings(), makeRings()];
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
