import { ROOT } from '@portolan/dns/name.ts';
import { expect, it } from 'vitest';
import type { AnswerKeeper } from '../../chain/handover-answer.ts';
import { makeHandler } from '../../chain/testing/queries.ts';
import { findKeepers } from './answer-keepers.ts';

const keeper: AnswerKeeper = { handOver: () => [], adopt: () => {} };
const handler = makeHandler(() => ({ kind: 'refused' }));

/** The texts of a block with a cache behind another plugin. */
function findTexts(name: string, options: unknown, answers = true): readonly string[] {
  const plugins = [
    { name, options, definition: { name } },
    { name: 'cache', options: { maxTtl: 30 }, definition: { name: 'cache' } },
  ];
  const running = [
    { name, plugin: { handler: answers ? handler : undefined } },
    { name: 'cache', plugin: { handler, keeper } },
  ];
  return [
    ...findKeepers([{ plan: { zones: [ROOT], plugins }, server: 'dns://:53', plugins: running }]).keys(),
  ];
}

it('is found again under the same settings', () => {
  const options = { zones: new Set(['example.']), pattern: /a+/, read: findTexts };
  expect(findTexts('filter', options)).toEqual(findTexts('filter', { ...options }));
  expect(findTexts('filter', options)).toHaveLength(1);
});

it.each([
  ['another plugin', 'block', { zones: new Set(['example.']) }],
  ['other options', 'filter', { zones: new Set(['example.', 'example.org.']) }],
])('is another one behind %s', (_, name, options) => {
  expect(findTexts(name, options)).not.toEqual(findTexts('filter', { zones: new Set(['example.']) }));
});

it('does not depend on plugins that see no query', () => {
  expect(findTexts('reload', { interval: 1 }, false)).toEqual(findTexts('reload', { interval: 2 }, false));
});

it('hands nothing over where options may hide what they are', () => {
  class Counter {
    #count = 0;
    next = () => (this.#count += 1);
  }
  expect(findTexts('filter', { counter: new Counter() })).toEqual([]);
});
