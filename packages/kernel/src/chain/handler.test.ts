import { expect, it } from 'vitest';
import { createBlockChain, type Handler } from './handler.ts';
import type { TraceSpan } from './query.ts';
import { addresses, makeHandler, makeQuery } from './testing/queries.ts';

const ANSWER = addresses('a.', '192.0.2.1');
const named = (name: string, handle: Handler['handle']): Handler => ({ ...makeHandler(handle), name });

/** A span that writes down where each span within it begins and ends. */
function noteSpans(path: string, events: string[]): TraceSpan {
  return {
    startChild(name) {
      events.push(`begin ${path}/${name}`);
      return noteSpans(`${path}/${name}`, events);
    },
    setTag() {},
    end: () => void events.push(`end ${path}`),
  };
}

it('opens spans within that of the query, but for the first handler', async () => {
  const events: string[] = [];
  const chain = createBlockChain([
    named('trace', async (query, next) => {
      query.span = noteSpans('', events);
      return await next(query);
    }),
    named('cache', async (query, next) => await next(query)),
    named('whoami', () => ANSWER),
  ]);
  expect(await chain(makeQuery('a.'))).toBe(ANSWER);
  expect(events).toEqual(['begin /cache', 'begin /cache/whoami', 'end /cache/whoami', 'end /cache']);
});

it('keeps questions apart that a handler asks at once', async () => {
  const events: string[] = [];
  const answers: (() => void)[] = [];
  const chain = createBlockChain([
    named('first', (query, next) => next(query)),
    named('fanout', async (query, next) => {
      const asked = [next(query), next(query.about(makeQuery('b.').question)), next(query)];
      for (const answer of answers.reverse()) answer();
      await Promise.all(asked);
      return await next(query);
    }),
    named('whoami', async () => {
      await new Promise<void>((resolve) => answers.push(resolve));
      return ANSWER;
    }),
  ]);
  const query = makeQuery('a.');
  query.span = noteSpans('', events);
  const done = chain(query);
  // The last question of the four.
  while (answers.length < 4) await new Promise((resolve) => setImmediate(resolve));
  answers.at(-1)?.();
  await done;
  expect(events.filter((event) => event.startsWith('begin'))).toEqual([
    'begin /fanout',
    ...Array(4).fill('begin /fanout/whoami'),
  ]);
  expect(events.filter((event) => event.startsWith('end'))).toHaveLength(5);
});

it('ends the spans of handlers that throw', async () => {
  const events: string[] = [];
  const chain = createBlockChain([
    named('first', (query, next) => next(query)),
    named('cache', (query, next) => next(query)),
    named('template', () => {
      throw new Error('broken');
    }),
  ]);
  const query = makeQuery('a.');
  query.span = noteSpans('', events);
  await expect(chain(query)).rejects.toThrow('broken');
  expect(events.filter((event) => event.startsWith('end'))).toEqual(['end /cache/template', 'end /cache']);
});

it('calls handlers without a promise where the query is not traced', () => {
  const chain = createBlockChain([
    named('first', (query, next) => next(query)),
    named('whoami', () => ANSWER),
  ]);
  expect(chain(makeQuery('a.'))).toBe(ANSWER);
});
