/**
 * What the conformance kit finds in plugins from outside: answers that others may repeat too long, plugins that never act, and shapes that
 * no host can use.
 */
import { pluginOrder } from '@portolan/frontends/coredns/settings/plugin-order.ts';
import {
  type Answer,
  CLASS,
  type Context,
  definePlugin,
  type Handler,
  NO_QUESTIONS,
  namesWithin,
  type Plugin,
  type PluginDefinition,
  type Query,
  toKey,
} from '@portolan/plugin';
import { testPlugin } from '@portolan/plugin/conformance';
import { describe, expect, it } from 'vitest';

const HOUR = 3_600_000;
const QUESTIONS = namesWithin(new Set([toKey('a.test')]));

/** @param handle its handler has; other parts follow from `more` */
const make = (
  handle: (context: Context) => Handler['handle'],
  { before = 'cache', ...more }: Partial<Handler> & { readonly before?: string } = {},
) =>
  definePlugin({
    name: 'own',
    before,
    syntax: ['own'],
    examples: ['own'],
    read: () => undefined,
    create: (_, context) => ({
      handler: {
        name: 'own',
        role: 'other',
        answers: 'unchanged',
        questions: QUESTIONS,
        handle: (query, next) =>
          QUESTIONS.includes(query.key, query.question.type) ? handle(context)(query, next) : next(query),
        ...more,
      },
    }),
  });

const answer = ({ question: { name } }: Query, address: string): Answer => ({
  kind: 'records',
  records: [{ name, class: CLASS.IN, ttl: 30, data: { kind: 'A', address } }],
  additionals: [],
  authoritative: true,
});
const isHalfDay = (now: number) => Math.floor(now / HOUR) % 24 < 12;
const test = (definition: PluginDefinition) => testPlugin(definition, { questions: 100 });
const found = async (definition: PluginDefinition) => (await test(definition)).join('\n');

describe('a plugin that knows the time', () => {
  const readers: Readonly<Record<string, (context: Context) => number>> = {
    'context.clock': ({ clock }) => clock.now(),
    'Date.now()': () => Date.now(),
    'new Date()': () => Date.parse(new Date().toISOString()),
    'Date()': () => Date.parse(Date()),
  };
  it.each(Object.keys(readers))('is found by %s', async (name) => {
    const read = readers[name] ?? Date.now;
    const overrides = (call: (query: Query, isOwn: boolean) => void) =>
      make((context) => (query, next) => {
        const isOwn = isHalfDay(read(context));
        call(query, isOwn);
        return isOwn ? answer(query, '192.0.2.80') : next(query);
      });
    const missing = 'it must call forbidStoring, also for what it passes on';
    expect(await found(overrides(() => {}))).toContain(missing);
    // Readers would repeat what it has passed on.
    expect(await found(overrides((query, isOwn) => void (isOwn && query.forbidStoring())))).toContain(
      missing,
    );
    expect(await test(overrides((query) => query.forbidStoring()))).toEqual([]);
  });

  it('finds `Date` as it was, also after runs at once', async () => {
    const system = Date;
    const day = new Date(2026, 1, 3);
    const dates = make(() => (query) => {
      const isLike = new Date() instanceof Date && new Date(2026, 1, 3).getTime() === day.getTime();
      return answer(query, isLike && Date.UTC(2026) === system.UTC(2026) ? '192.0.2.1' : '192.0.2.2');
    });
    const waits = make(() => (query) => {
      for (const end = Date.now() + 2; Date.now() < end; );
      return answer(query, '192.0.2.1');
    });
    expect(await Promise.all([test(dates), testPlugin(waits, { questions: 50 })])).toEqual([[], []]);
    expect(Date).toBe(system);
    await expect(found({ ...dates, read: () => expect.unreachable() })).resolves.toContain('It throws when');
    expect(Date).toBe(system);
  });
});

describe('a plugin that a cache may stand in front of', () => {
  const override = (before: string, call: (query: Query) => void = (query) => query.forbidStoring()) =>
    make(
      ({ clock }) =>
        (query, next) => {
          call(query);
          return isHalfDay(clock.now()) ? answer(query, '192.0.2.80') : next(query);
        },
      { before },
    );

  it('must stand before it to override others by time', async () => {
    const order = pluginOrder('1.14');
    const isBehind = async (before: string) =>
      (await found(override(before))).includes('A cache in front may keep what it passes on');
    const behind = await Promise.all(order.map(isBehind));
    expect(order.filter((_, place) => !behind[place])).toEqual(order.slice(0, order.indexOf('cache') + 1));
  });

  it('or forbid it to cache', async () => {
    expect(await test(override('hosts', (query) => query.forbidCaching()))).toEqual([]);
  });

  it('must forbid it to cache what depends on the client', async () => {
    const byClient = (call: (query: Query) => void) =>
      make(
        () => (query) => {
          call(query);
          return answer(query, query.dependOnClient().address);
        },
        { before: 'hosts' },
      );
    expect(await found(byClient(() => {}))).toContain('A cache in front may keep its answer to');
    expect(await test(byClient((query) => query.forbidCaching()))).toEqual([]);
  });

  it('may let it keep answers of its own for their TTL', async () => {
    const changes = make(
      ({ clock }) =>
        (query) => {
          query.forbidStoring();
          return answer(query, isHalfDay(clock.now()) ? '192.0.2.80' : '192.0.2.81');
        },
      { before: 'hosts' },
    );
    expect(await test(changes)).toEqual([]);
  });
});

it('tells what depends on the client from what depends on the time', async () => {
  const byClient = make(() => (query) => answer(query, query.sender.address));
  expect(await test(byClient)).toEqual([
    expect.stringContaining('for another client: it must call dependOnClient'),
  ]);
});

describe('a plugin that never acts', () => {
  const IDLE = 'It acts on no question of any example. Give examples that make it answer';

  it('does not conform', async () => {
    const pass: Handler['handle'] = (query, next) => next(query);
    expect(await test(make(() => pass))).toEqual([expect.stringContaining(IDLE)]);
    expect(await test(make(() => pass, { questions: NO_QUESTIONS }))).toEqual([
      expect.stringContaining(IDLE),
    ]);
  });

  it('is told of a zone that is not a key', async () => {
    for (const zone of ['a.test', 'A.test.', 'a..test.']) {
      // As an author who has not read of keys writes it.
      const questions = namesWithin(new Set([zone as ReturnType<typeof toKey>]));
      const fault = `have a name that is not a key: ${zone}. Make it by toKey`;
      expect(await found(make(() => (query, next) => next(query), { questions }))).toContain(fault);
    }
  });

  it.each<[string, Handler['handle'], Partial<Handler>]>([
    ['sets a flag', (query, next) => next(query), { flags: { clear: 0, set: 0x0400 } }],
    [
      'changes some answers',
      async (query, next) => {
        const behind = await next(query);
        return behind.kind === 'servfail' ? { kind: 'refused' } : behind;
      },
      {},
    ],
    [
      'reads the client',
      (query, next) => {
        query.dependOnClient();
        return next(query);
      },
      {},
    ],
    [
      'notes a fact',
      (query, next) => {
        query.noteMetadata('own/fact', 'yes');
        return next(query);
      },
      {},
    ],
  ])('is not one that %s', async (_, handle, more) => {
    expect(await test(make(() => handle, more))).toEqual([]);
  });
});

describe('a plugin of a wrong shape', () => {
  const create = (plugin: unknown) =>
    found({ ...make(() => (query, next) => next(query)), create: () => plugin as Plugin });
  const handle: Handler['handle'] = (query, next) => next(query);

  it('is told what it lacks', async () => {
    const handler = { name: 'own', role: 'other', answers: 'unchanged', handle };
    expect(await create({ handler })).toContain(
      'No host can ask it: its handler states no questions: undefined. Write them as in questions: namesWithin(zones).',
    );
    expect(await create({ handler: { ...handler, questions: QUESTIONS, maxUdpSize: 7 } })).toContain(
      'No host can ask it: not a size of a UDP response: 7.',
    );
    expect(await create({ ...handler, questions: QUESTIONS })).toContain('create returns no handler');
    expect(await create(undefined)).toContain('create returns no plugin');
    expect(await create({ handler: undefined })).toBe('');
    const { api: _, ...plain } = make(() => handle);
    expect(await found(plain)).toContain('It is not made by definePlugin');
  });
});
