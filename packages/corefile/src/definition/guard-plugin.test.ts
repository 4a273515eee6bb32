import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { addresses, makeQuery, record } from '@portolan/kernel/chain/testing/queries.ts';
import { checkAnswer, PluginAnswerError } from '@portolan/kernel/contract/checked-answer.ts';
import type { PluginContext } from '@portolan/kernel/contract/plugin.ts';
import { ANSWER_TABLE } from '@portolan/kernel/contract/services.ts';
import {
  ALL_QUESTIONS,
  type Answer,
  COUNTERS,
  type Context,
  definePlugin,
  EMPTY_ANSWER,
  type Handler,
  type Plugin,
  type RateLimits,
  type ResourceRecord,
  type Service,
  STORED_ANSWERS,
  toKey,
  toWhole,
  UPSTREAMS,
  WATCHES,
} from '@portolan/plugin';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findDefinitionFault, guardPlugin } from './guard-plugin.ts';

const LIMITS: RateLimits = {
  zones: [toKey('example.')],
  prefixLengths: { ipv4: 24, ipv6: 56 },
  requestsPerSecond: 1,
  responsesPerSecond: { response: 1, nodata: 1, nxdomain: 1, referral: 1, error: 1 },
  slip: 0,
  window: 15_000,
  maxCounts: 100,
  reportsOnly: false,
  exceeded: { requests: [], responses: [] },
};
const FOUND = addresses('a.example.', '192.0.2.1');

function make(handler: Partial<Handler>, more: Partial<Plugin> = {}) {
  const clock = new ManualClock();
  const log = new RecordingLog();
  const definition = definePlugin({
    name: 'test',
    syntax: ['test'],
    examples: ['test'],
    read: () => undefined,
    create: () => ({
      handler: {
        name: 'test',
        role: 'other',
        answers: 'unchanged',
        questions: ALL_QUESTIONS,
        handle: (query, next) => next(query),
        ...handler,
      },
      ...more,
    }),
  });
  // What the fence reads of a context.
  const context = { clock, log } as unknown as PluginContext;
  const plugin = guardPlugin(definition, 'hosts').create?.(undefined, context, undefined);
  if (plugin?.handler === undefined) throw new TypeError('no handler');
  const own = plugin.handler;
  return {
    clock,
    log,
    plugin,
    handler: own,
    ask: async () => await own.handle(makeQuery('a.example.'), () => FOUND),
  };
}

describe('a handler', () => {
  it('says all that a handler of our own says', () => {
    const said = {
      rotates: true,
      maxUdpSize: 1232,
      flags: { clear: 0, set: 0x0400 },
      readsOptions: true,
    } as const;
    expect(make(said).handler).toMatchObject(said);
    expect(() => make({ maxUdpSize: 7 })).toThrow('not a size of a UDP response: 7');
    expect(() => make({ flags: { clear: -1, set: 0 } })).toThrow('not flags of a header');
    expect(() => make({ limits: { ...LIMITS, maxCounts: 0 } })).toThrow(
      'plugin/test: limits: maxCounts is not a whole number from 1 to 10000000: 0',
    );
    expect(make({ limits: LIMITS }).handler.limits).toBe(LIMITS);
    expect(() => make({ questions: undefined } as unknown as Partial<Handler>)).toThrow(
      'plugin/test: its handler states no questions: undefined. Write them as in questions: namesWithin(zones)',
    );
    expect(() => make({ handle: undefined } as unknown as Partial<Handler>)).toThrow(
      'handle is not a function',
    );
    expect(() => make({ role: 'publisher' } as unknown as Partial<Handler>)).toThrow(
      "is not 'other': publisher",
    );
  });

  it('gets what the plugins behind answer, and may return it as it is', async () => {
    const forwarded = { ...FOUND, kind: 'forwarded' } as unknown as Answer;
    const { handler } = make({});
    expect(await handler.handle(makeQuery('a.example.'), () => forwarded)).toBe(forwarded);
    await expect(
      make({ handle: async (query, next) => ({ ...(await next(query)) }) }).ask(),
    ).resolves.toEqual({
      ...FOUND,
      truncated: false,
    });
    const changes = make({ handle: async () => ({ ...forwarded }) });
    await expect(changes.ask()).rejects.toThrow('a changed answer of a server');
  });

  it('changes no answer that others share, and what it changes is checked', async () => {
    const found = addresses('a.example.', '192.0.2.1');
    const more = record('b.example.', { kind: 'A', address: '192.0.2.2' });
    const push = (added: ResourceRecord) =>
      make({
        handle: async (query, next) => {
          const answer = await next(query);
          if (answer.kind === 'records') (answer.additionals as ResourceRecord[]).push(added);
          return answer;
        },
      });
    const ask = async (added: ResourceRecord) =>
      await push(added).handler.handle(makeQuery('a.example.'), () => found);
    for (let time = 0; time < 2; time += 1) expect(await ask(more)).toMatchObject({ additionals: [more] });
    await expect(ask({ ...more, ttl: -1 })).rejects.toThrow('not a TTL: -1');
    expect(found).toEqual(addresses('a.example.', '192.0.2.1'));
    const whole = toWhole({ kind: 'refused' });
    expect(() => (whole.additionals as ResourceRecord[]).push(more)).toThrow(TypeError);
    expect([EMPTY_ANSWER, EMPTY_ANSWER.answers, EMPTY_ANSWER.authorities].every(Object.isFrozen)).toBe(true);
  });

  it('is SERVFAIL, and nothing that readers repeat, after 5 s', async () => {
    const { clock, handler } = make({ handle: () => new Promise(() => {}) });
    const query = makeQuery('a.example.');
    const answer = handler.handle(query, () => FOUND);
    clock.advance(5_000);
    expect(await answer).toEqual({ kind: 'servfail', reason: 'plugin/test: no reply within 5 s' });
    expect(query.isDerived).toBe(false);
  });

  it('is asked only the questions that it states, and all if it cannot say them', async () => {
    const handle = () => {
      throw new Error('asked');
    };
    const none = { includes: () => false, matches: () => [] };
    expect(await make({ questions: none, handle }).ask()).toBe(FOUND);
    const fail = () => {
      throw new Error('oh');
    };
    const { handler, ask } = make({ questions: { includes: fail, matches: fail }, handle });
    expect([...handler.questions.matches()]).toEqual([...ALL_QUESTIONS.matches()]);
    await expect(ask()).rejects.toThrow('asked');
  });
});

it('turns errors of a life into lines of the log', async () => {
  const fail = () => {
    throw new Error('oh');
  };
  const life = { proceed: fail, serving: fail, reload: fail, isReady: fail, stop: fail };
  const { plugin, log } = make({}, life);
  plugin.proceed?.();
  plugin.serving?.();
  plugin.reload?.();
  expect(plugin.isReady?.()).toBe(false);
  await plugin.stop?.('ending');
  expect(log.records.filter(({ message }) => message.endsWith('failed'))).toHaveLength(5);
});

it('logs once that readiness fails, however often it is asked for', () => {
  const isReady = () => {
    throw new Error('oh');
  };
  const { plugin, log } = make({}, { isReady });
  for (let time = 0; time < 3; time += 1) expect(plugin.isReady?.()).toBe(false);
  expect(log.records).toEqual([
    { level: 'error', message: 'plugin/test: isReady failed', fields: { reason: 'oh' } },
  ]);
});

it('has the services of the contract, and no other', () => {
  let limited: Context | undefined;
  const definition = definePlugin({
    name: 'test',
    syntax: ['test'],
    examples: ['test'],
    read: () => undefined,
    create: (_, context) => {
      limited = context;
      return { handler: undefined };
    },
  });
  const context = { use: ({ name }: { readonly name: string }) => name } as unknown as PluginContext;
  guardPlugin(definition, 'hosts').create?.(undefined, context, undefined);
  const services: readonly Service<unknown>[] = [COUNTERS, STORED_ANSWERS, UPSTREAMS, WATCHES];
  for (const service of services) expect(limited?.use(service)).toBe(service.name);
  for (const name of [ANSWER_TABLE.name, 'forwarding'])
    expect(() => limited?.use({ name })).toThrow(`no service: ${name}`);
});

it('ends a start after 60 s, and a stop after 10 s', async () => {
  const never = () => new Promise<void>(() => {});
  const { plugin, clock, log } = make({}, { start: never, stop: never });
  const start = plugin.start?.();
  clock.advance(60_000);
  await expect(start).rejects.toThrow('plugin/test: not started within 60 s');
  const stop = plugin.stop?.('replaced');
  clock.advance(10_000);
  await stop;
  expect(log.text).toContain('stop failed');
});

it.each([
  [undefined, 'it has no default export'],
  [{}, 'it has no default export'],
  [{ name: 'x', syntax: ['x'], read() {}, create() {} }, 'definePlugin has not made it'],
  [{ api: 1, name: 'x' }, 'it is for API 1, and this server has API 2'],
  [{ api: 2, name: 'x' }, 'it has no syntax'],
  [{ api: 2, name: 'x', syntax: ['x'], read() {} }, 'it lacks read or create'],
])('names the fault of %j', (exported, fault) => {
  expect(findDefinitionFault(exported)).toBe(fault);
});

describe('a list without an end', () => {
  function* repeat<Part>(part: Part): Generator<Part> {
    for (;;) yield part;
  }

  const endless = <Part>(part: Part) => repeat(part) as unknown as readonly Part[];
  const one = record('a.example.', { kind: 'A', address: '192.0.2.1' });

  it.each<[string, Partial<Extract<Answer, { kind: 'records' }>>]>([
    ['5956 records', { records: endless(one) }],
    ['5956 records', { additionals: endless(one) }],
    ['65535 strings', { records: [{ ...one, data: { kind: 'TXT', strings: endless(new Uint8Array()) } }] }],
    [
      '65535 parameters',
      {
        records: [
          {
            ...one,
            data: {
              kind: 'HTTPS',
              priority: 1,
              target: one.name,
              parameters: endless({ key: 1, value: new Uint8Array() }),
            },
          },
        ],
      },
    ],
  ])('is malformed: more than %s', (bound, parts) => {
    const answer = { ...FOUND, ...parts } as Answer;
    expect(() => checkAnswer(answer)).toThrow(new PluginAnswerError(`more than ${bound}`));
  });

  it('is told from the longest that a message can hold', () => {
    const records = new Array<ResourceRecord>(5956).fill(one);
    const answer = checkAnswer({ ...FOUND, records } as Answer);
    expect(answer.kind === 'records' && answer.records.length).toBe(5956);
  });
});

it('makes a well-formed answer of anything, or an error', () => {
  fc.assert(
    fc.property(
      fc.anything(),
      fc.constantFrom('records', 'message', 'nodata', 'servfail', 'x'),
      (junk, kind) => {
        const shapes = [junk, { kind, records: junk, answers: junk, soa: junk }, { kind, records: [junk] }];
        for (const shape of shapes)
          try {
            expect(typeof checkAnswer(shape as Answer).kind).toBe('string');
          } catch (error) {
            // A section that is no list is a TypeError of the language.
            expect(error instanceof PluginAnswerError || error instanceof TypeError).toBe(true);
          }
      },
    ),
  );
});
