import { parseName, ROOT, toKey } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import type { RuleMatch } from './forward-plan.ts';
import { NameRules } from './name-rules.ts';

const key = (name: string) => toKey(parseName(name));
const domain = (name: string): RuleMatch => ({ kind: 'domain', name: key(name) });

describe('NameRules', () => {
  const rules = new NameRules<string>([
    [{ kind: 'domain', name: ROOT }, 'root'],
    [domain('example.com'), 'example'],
    [domain('www.example.com'), 'www'],
    [{ kind: 'ending', text: 'ple.com.' }, 'ending'],
    [{ kind: 'ending', text: 'www.example.com.' }, 'same length'],
    [{ kind: 'unqualified' }, 'unqualified'],
    [domain('lan'), 'lan'],
  ]);

  it.each([
    ['example.com.', 'example'],
    ['mail.example.com.', 'example'],
    ['www.example.com.', 'www'],
    ['a.b.www.example.com.', 'www'],
    // A domain matches at label boundaries, an ending anywhere.
    ['supple.com.', 'ending'],
    ['badexample.com.', 'ending'],
    ['awww.example.com.', 'same length'],
    ['example.org.', 'root'],
    ['host.', 'unqualified'],
    ['lan.', 'lan'],
    ['host.lan.', 'lan'],
    ['.', 'root'],
  ])('sends %s to %s', (name, target) => {
    expect(rules.find(key(name))).toBe(target);
  });

  it('finds nothing where nothing matches, and the last of equals', () => {
    const few = new NameRules<string>([
      [domain('example.com'), 'first'],
      [domain('example.com'), 'second'],
    ]);
    expect(few.find(key('example.org'))).toBeUndefined();
    expect(few.find(key('www.example.com'))).toBe('second');
  });
});
