/**
 * The results of stub clients over a path that loses packets, or with a server that stalls, in virtual time and in two modes: only
 * the main thread, and a reader that hands over overdue queries. A seeded generator draws the losses.
 */
import { encodeMessage } from '@portolan/dns/message.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { makeResolverSettings } from './plain-traffic.ts';
import { ReaderSide } from './reader-side.ts';
import { ResolverSide } from './resolver-side.ts';

const TRIES = 3;
const TRY_MILLISECONDS = 2000;
/** Milliseconds between two names: 200 a second. */
const GAP = 5;
const LIFE = 4500;

const sides: (ResolverSide | ReaderSide)[] = [];
afterEach(() => {
  for (const side of sides.splice(0))
    if (side instanceof ReaderSide) side.close();
    else side.resolver.stop();
});

class MainSide extends ResolverSide {
  askFor(packet: Uint8Array): number {
    this.askHandlers(packet);
    return this.responses.length - 1;
  }
}

class ReadersSide extends ReaderSide {
  askFor(packet: Uint8Array): number {
    this.askReader(packet);
    return this.responses.length - 1;
  }
}

type Side = MainSide | ReadersSide;

interface Path {
  /** The part of the queries that gets no reply, from 0 to 1. */
  readonly loss: number;
  /** The server takes nothing in from this millisecond on, for a second, and replies to all of it then. */
  readonly stallAt?: number;
}

interface Seen {
  /** Parts of all names. */
  readonly resolved: number;
  readonly queriesPerName: number;
  /** Milliseconds from the first try, in ascending order. */
  readonly took: readonly number[];
}

/** Numbers from 0 to below 1 that are the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function replyTo(query: Uint8Array): Uint8Array {
  const hasOpt = query[11] === 1;
  const questionEnd = query.length - (hasOpt ? 11 : 0);
  const record = [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 1];
  const reply = Uint8Array.of(...query.subarray(0, questionEnd), ...record, ...query.subarray(questionEnd));
  reply.set([0x81, 0x80, 0, 1, 0, 1], 2);
  return reply;
}

class Name {
  readonly begun: number;
  readonly packet: Uint8Array;
  readonly tries: number[] = [];
  took: number | undefined;

  constructor(index: number, begun: number) {
    this.begun = begun;
    this.packet = encodeMessage(makeQuery(`n${index}.example`, 'A'));
  }
}

async function observe(side: Side, names: number, { loss, stallAt }: Path, seed: number): Promise<Seen> {
  sides.push(side);
  const random = seeded(seed);
  const { clock, upstream } = side;
  const replies = new Map<number, { readonly reply: Uint8Array; readonly query: Uint8Array }[]>();
  const waiting = new Set<Name>();
  const took: number[] = [];
  let queries = 0;
  for (let now = 0; now < names * GAP + TRIES * LIFE; now += 1) {
    for (const { reply, query } of replies.get(now) ?? []) side.hear(reply, query);
    replies.delete(now);
    side.elapse();
    for (const name of waiting) {
      const response = name.tries.map((index) => side.responses[index]).find((each) => each !== undefined);
      const isDue = now >= name.begun + name.tries.length * TRY_MILLISECONDS;
      if (response === undefined && isDue && name.tries.length < TRIES)
        name.tries.push(side.askFor(name.packet));
      if (response !== undefined && (response[3] ?? 0) % 16 === 0) took.push(now - name.begun);
      if (response !== undefined) waiting.delete(name);
    }
    if (now % GAP === 0 && now < names * GAP) {
      const name = new Name(now / GAP, now);
      waiting.add(name);
      name.tries.push(side.askFor(name.packet));
    }
    for (const query of upstream.packets.splice(0)) {
      queries += 1;
      const isLost = random() < loss;
      const delay = 5 + Math.floor(random() * 6);
      const isStalled = stallAt !== undefined && now >= stallAt && now < stallAt + 1000;
      const at = (isStalled ? stallAt + 1000 : now) + delay;
      if (!isLost) replies.set(at, [...(replies.get(at) ?? []), { reply: replyTo(query), query }]);
    }
    clock.advance(1);
    // The handlers answer by promises.
    await new Promise((resolve) => setImmediate(resolve));
  }
  took.sort((one, other) => one - other);
  return { resolved: took.length / names, queriesPerName: queries / names, took };
}

const settings = { ...makeResolverSettings(SERVE_CACHING, false) };
const SPEEDS: readonly (readonly [string, () => Side])[] = [
  ['the main thread', () => new MainSide(settings)],
  ['a reader', () => new ReadersSide(settings)],
];

describe.each(SPEEDS)('stub clients whose questions are forwarded by %s', (_, start) => {
  it.each([
    { loss: 0.1, resolved: 0.999, percentile: 0.95, milliseconds: 110 },
    { loss: 0.3, resolved: 0.995, percentile: 0.95, milliseconds: 200 },
    { loss: 0.5, resolved: 0.98, percentile: 0.9, milliseconds: 340 },
  ])('are answered soon at a loss of $loss', async ({ loss, resolved, percentile, milliseconds }) => {
    const seen = await observe(start(), 600, { loss }, 19);
    expect(seen.resolved).toBeGreaterThanOrEqual(resolved);
    expect(seen.took[Math.floor(percentile * seen.took.length)]).toBeLessThanOrEqual(milliseconds);
    // One query in `1 - loss` comes through; more than a tenth beyond that is waste.
    expect(seen.queriesPerName).toBeLessThanOrEqual(1.1 / (1 - loss));
  });

  it('lose nothing when the server stalls for a second', async () => {
    const seen = await observe(start(), 1000, { loss: 0, stallAt: 2000 }, 19);
    expect(seen.resolved).toBe(1);
    expect(seen.queriesPerName).toBeLessThanOrEqual(1.3);
  });
});
