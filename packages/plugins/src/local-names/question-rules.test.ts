import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { makeQuery, told } from '@portolan/kernel/chain/testing/queries.ts';
import { describe, expect, it } from 'vitest';
import type { NameScope } from './name-scopes.ts';
import { compileQuestionRules, isSameRules, type QuestionRules, type RuleAction } from './question-rules.ts';

const domain = (text: string): NameScope => ({ kind: 'domain', name: toKey(parseName(text)) });
const at = (address: string): RuleAction => ({ kind: 'address', address });

const RULES: QuestionRules = {
  routes: [
    { scope: domain('two.'), action: at('10.0.0.1') },
    { scope: domain('two.'), action: at('10.0.0.2') },
    { scope: domain('two.'), action: at('2001:db8::1') },
    { scope: domain('null.'), action: { kind: 'null-address' } },
    { scope: domain('home.'), action: { kind: 'local' } },
    { scope: domain('work.home.'), action: { kind: 'forward' } },
    { scope: domain('mixed.'), action: { kind: 'local' } },
    { scope: domain('mixed.'), action: at('10.0.0.3') },
    { scope: domain('2.0.10.in-addr.arpa.'), action: { kind: 'forward' } },
    { scope: { kind: 'all' }, action: { kind: 'forward' } },
  ],
  keepsPlainNames: true,
  keepsPrivateReverse: true,
  keepsWindowsQuestions: true,
  ttl: 9,
};

/** Rules that only choose servers. */
const IDLE: QuestionRules = {
  ...RULES,
  routes: [{ scope: { kind: 'all' }, action: { kind: 'forward' } }],
  keepsPlainNames: false,
};

async function answer(name: string, type: string, known: readonly string[] = []): Promise<string> {
  const { handler } = compileQuestionRules(RULES, (key) => known.includes(key));
  return told(await handler.handle(makeQuery(name, type), () => ({ kind: 'servfail' }))).join(' | ');
}

describe('rules for questions', () => {
  it.each([
    ['X.two.', 'A', 'records | X.two. 9 IN A 10.0.0.2 | X.two. 9 IN A 10.0.0.1'],
    ['two.', 'AAAA', 'records | two. 9 IN AAAA 2001:db8::1'],
    ['two.', 'ANY', 'records | two. 9 IN AAAA 2001:db8::1'],
    ['two.', 'TXT', 'servfail'],
    ['x.null.', 'ANY', 'records | x.null. 9 IN A 0.0.0.0 | x.null. 9 IN AAAA ::'],
    ['x.home.', 'A', 'nxdomain'],
    ['x.work.home.', 'A', 'servfail'],
    ['x.mixed.', 'A', 'records | x.mixed. 9 IN A 10.0.0.3'],
    ['x.mixed.', 'TXT', 'nodata'],
    ['plain.', 'A', 'nxdomain'],
    ['plain.', 'TXT', 'servfail'],
    ['.', 'A', 'servfail'],
    ['x.example.', 'SRV', 'nodata'],
    ['1.0.0.10.in-addr.arpa.', 'PTR', 'nxdomain'],
    ['1.2.0.10.in-addr.arpa.', 'PTR', 'servfail'],
    ['1.0.0.10.in-addr.arpa.', 'A', 'servfail'],
    ['8.8.8.8.in-addr.arpa.', 'PTR', 'servfail'],
  ])('%s %s: %s', async (name, type, expected) => {
    expect(await answer(name, type)).toBe(expected);
  });

  it('deny a name that is known no more than the type', async () => {
    expect(await answer('x.home.', 'A', ['x.home.'])).toBe('nodata');
    expect(await answer('plain.', 'AAAA', ['plain.'])).toBe('nodata');
  });

  it.each([
    'two.',
    'x.null.',
    'x.home.',
    'x.work.home.',
    'x.mixed.',
    'plain.',
    '.',
    'x.example.',
    '1.0.0.10.in-addr.arpa.',
  ])('say whether a question for addresses of %s is theirs', async (name) => {
    for (const rules of [RULES, { ...RULES, keepsPlainNames: false }, { ...RULES, routes: [] }, IDLE]) {
      const { handler } = compileQuestionRules(rules, () => false);
      for (const type of ['A', 'AAAA'] as const) {
        const given = await handler.handle(makeQuery(name, type), () => ({ kind: 'servfail' }));
        expect(handler.questions.includes(toKey(parseName(name)), TYPE[type])).toBe(
          given.kind !== 'servfail',
        );
      }
    }
  });

  it('say which names have addresses by rule', () => {
    const { hasAddress } = compileQuestionRules(RULES, () => false);
    const names = ['x.two.', 'null.', 'x.home.'].map((name) => hasAddress(toKey(parseName(name))));
    expect(names).toEqual([true, true, false]);
  });
});

describe('rules are the same', () => {
  it('with the very list of routes, which is not read again, and equal settings', () => {
    expect(isSameRules(RULES, { ...RULES })).toBe(true);
    expect(isSameRules(RULES, { ...RULES, routes: [...RULES.routes] })).toBe(false);
  });

  it.each<Partial<QuestionRules>>([
    { keepsPlainNames: false },
    { keepsPrivateReverse: false },
    { keepsWindowsQuestions: false },
    { ttl: 10 },
  ])('but not with %o', (changed) => {
    expect(isSameRules(RULES, { ...RULES, ...changed })).toBe(false);
  });
});
