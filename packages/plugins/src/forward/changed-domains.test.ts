import { parseName, toKey } from '@portolan/dns/name.ts';
import type { ForwardRule, ForwardTarget, RuleMatch } from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { describe, expect, it } from 'vitest';
import { listChangedDomains } from './changed-domains.ts';

const LOCAL: ForwardTarget = { kind: 'local-only' };

function servers(...texts: string[]): ForwardTarget {
  return {
    kind: 'servers',
    servers: texts.map((text) => ({ address: parseUpstream(text), queriesPerSecond: undefined })),
  };
}

function rule(domains: string, target: ForwardTarget): ForwardRule {
  const names = domains
    .split(' ')
    .map((name): RuleMatch => ({ kind: 'domain', name: toKey(parseName(name)) }));
  return { names, target };
}

describe('domains whose names may go elsewhere', () => {
  const before = [rule('.', servers('10.0.0.1')), rule('a.example. b.example.', servers('10.0.0.2'))];

  it('are empty where nothing differs', () => {
    const same = [rule('b.example.', servers('10.0.0.2')), rule('.', servers('10.0.0.1:53'))];
    expect(listChangedDomains(before, [...same, rule('a.example.', servers('10.0.0.2'))])).toEqual([]);
  });

  it.each<[string, readonly ForwardRule[], readonly string[]]>([
    ['a rule that is new', [...before, rule('c.example.', LOCAL)], ['c.example.']],
    ['a rule that is gone', [rule('.', servers('10.0.0.1'))], ['a.example.', 'b.example.']],
    [
      'other servers, or another order of them',
      [rule('.', servers('10.0.0.1')), rule('a.example. b.example.', servers('10.0.0.3', '10.0.0.2'))],
      ['a.example.', 'b.example.'],
    ],
    ['the last of two rules for the same', [...before, rule('a.example.', LOCAL)], ['a.example.']],
    [
      'a domain and one within it, as one',
      [...before, rule('example. x.example. y.example.', LOCAL)],
      ['example.'],
    ],
    ['the rule for everything', [rule('.', LOCAL), ...before.slice(1)], ['.']],
  ])('%s', (_, after, domains) => {
    expect([...listChangedDomains(before, after)].sort()).toEqual(domains);
    expect([...listChangedDomains(after, before)].sort()).toEqual(domains);
  });

  it('are all where they are very many', () => {
    const many = Array.from({ length: 1000 }, (_, index) => rule(`${index}.example.`, LOCAL));
    expect(listChangedDomains(before, [...before, ...many])).toEqual(['.']);
    expect(listChangedDomains(before, [...before, ...many, rule('example.', LOCAL)])).toEqual(['example.']);
  });

  it('are all where a rule is not for a domain', () => {
    const odd: ForwardRule = { names: [{ kind: 'ending', text: 'ample.' }], target: LOCAL };
    expect(listChangedDomains(before, [...before, odd])).toEqual(['.']);
  });
});
