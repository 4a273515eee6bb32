import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyEvent, type QueryEvent, QueryEventReader } from './event-reader.ts';
import { EVENT_MODE, makeEventRing } from './event-ring.ts';
import { QueryEventRings } from './event-rings.ts';
import { QueryEventWriter } from './event-writer.ts';

const HEADER = [0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 0];
/** `Web.Test.` A IN, with capitals. */
const QUESTION = [3, 0x57, 0x65, 0x62, 4, 0x54, 0x65, 0x73, 0x74, 0, 0, 1, 0, 1];
/** OPT with a UDP size of 1232 and DO. */
const OPT = [0, 0, 41, 0x04, 0xd0, 0, 0, 0x80, 0, 0, 0];
const CLIENT = { address: '192.0.2.7', port: 5353, transport: 'udp' } as const;

function makeQuery(question: readonly number[], opt: readonly number[] = []): Uint8Array {
  const query = Uint8Array.from([...HEADER, ...question, ...opt]);
  query[11] = opt.length === 0 ? 0 : 1;
  return query;
}

function responseTo(query: Uint8Array, octets = 0): Uint8Array {
  const response = new Uint8Array(query.length + octets);
  response.set(query);
  response.set([0x85, 0x80, 0, 1, 0, 2, 0, 0, 0, 1], 2);
  return response;
}

function drained(reader: QueryEventReader): readonly QueryEvent[] {
  const events: QueryEvent[] = [];
  reader.drain((event) => events.push(copyEvent(event)));
  return events;
}

describe('an event', () => {
  const rings = new QueryEventRings(0);
  const reader = new QueryEventReader(rings.all[0] ?? makeEventRing(8));

  it('is not written unless it is wanted', () => {
    const query = makeQuery(QUESTION);
    rings.main.add(query, responseTo(query), CLIENT, { received: 1, source: 'table', transport: 'udp' });
    expect(drained(reader)).toEqual([]);
  });

  it('holds what the answer has overwritten, and the answer', () => {
    rings.setMode(EVENT_MODE.QUERIES);
    const query = makeQuery(QUESTION, OPT);
    const before = rings.main.now();
    rings.main.add(query, responseTo(query, 40), CLIENT, {
      received: before,
      source: 'chain',
      transport: 'tcp',
    });
    const [event] = drained(reader);
    expect(event).toMatchObject({
      received: before,
      transport: 'tcp',
      source: 'chain',
      client: Uint8Array.of(192, 0, 2, 7),
      clientPort: 5353,
      id: 0x1234,
      queryFlags: 0x0100,
      responseFlags: 0x8580,
      queryOctets: query.length,
      responseOctets: query.length + 40,
      ednsSize: 1232,
      dnssecOk: true,
      answers: 2,
      authorities: 0,
      additionals: 1,
      question: Uint8Array.from(QUESTION),
      response: new Uint8Array(),
    });
    expect(event?.sent).toBeGreaterThanOrEqual(before);
  });

  it('keeps the response where that is wanted, and addresses of IPv6', () => {
    rings.setMode(EVENT_MODE.RESPONSES);
    const query = makeQuery(QUESTION);
    const response = responseTo(query, 5);
    const client = { ...CLIENT, address: '2001:db8::1' };
    rings.main.add(query, response, client, { received: 1, source: 'table', transport: 'udp' });
    const [event] = drained(reader);
    expect(event?.response).toEqual(response);
    expect(event?.client).toHaveLength(16);
    expect(event?.server).toHaveLength(16);
    expect(event?.ednsSize).toBeUndefined();
  });

  it('has no question where the query had none that can be read', () => {
    const about = { received: 1, source: 'table', transport: 'udp' } as const;
    const cut = makeQuery(QUESTION).subarray(0, 18);
    rings.main.add(cut, responseTo(cut), CLIENT, about);
    const short = Uint8Array.of(1, 2, 3);
    rings.main.add(short, responseTo(makeQuery([])), CLIENT, about);
    expect(drained(reader).map(({ question }) => question.length)).toEqual([0, 0]);
  });
});

it('loses nothing but what it counts, in any order of batches and readings', () => {
  const step = fc.oneof(
    fc.record({ batch: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 12 }) }),
    fc.constant('drain' as const),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const memory = makeEventRing(2_048);
      const writer = new QueryEventWriter(memory);
      const reader = new QueryEventReader(memory);
      const source = {
        writeEndpoints(index: number, target: Uint32Array, at: number) {
          target.set([index & 0xffff, 1, 2], at);
          return 3;
        },
      };
      // The mode, in the third control word.
      new Int32Array(memory)[2] = EVENT_MODE.RESPONSES;
      let written = 0;
      const seen: number[] = [];
      const take = (event: QueryEvent) => {
        seen.push(event.clientPort);
        expect(event.response).toHaveLength(event.responseOctets);
        expect(event.response[event.responseOctets - 1]).toBe(event.clientPort & 0xff);
      };
      for (const each of steps) {
        if (each === 'drain') reader.drain(take);
        else {
          writer.begin();
          for (const label of each.batch) {
            const name = [label, ...Array.from({ length: label }, () => 0x61), 0];
            const query = makeQuery([...name, 0, 1, 0, 1]);
            const response = responseTo(query, label * 3);
            response[response.length - 1] = written & 0xff;
            writer.noteQuery(new DataView(query.buffer), 0, query.length, 0);
            writer.write(new DataView(response.buffer), 0, response.length, source, written);
            written += 1;
          }
          writer.publish();
        }
      }
      reader.drain(take);
      expect(seen.length + reader.dropped).toBe(written);
      expect(seen).toEqual(seen.toSorted((one, other) => one - other));
    }),
    { numRuns: 300 },
  );
});
