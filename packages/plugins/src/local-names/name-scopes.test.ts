import { parseName, toKey } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import { type NameScope, NameScopes } from './name-scopes.ts';

const key = (text: string) => toKey(parseName(text));
const domain = (text: string): NameScope => ({ kind: 'domain', name: key(text) });
const suffix = (text: string): NameScope => ({ kind: 'suffix', text });

const route = (scope: NameScope, rule: string) => ({ scope, rule });

const ROUTES = [
  route({ kind: 'all' }, 'all'),
  route(domain('.'), 'root'),
  route(domain('example.'), 'example'),
  route(domain('a.example.'), 'a.example'),
  route(domain('a.example.'), 'a.example again'),
  route(domain('a.example.'), 'a.example'),
  route(domain('b.example.'), 'a.example'),
  route(suffix('ample'), '*ample'),
  route(suffix('a.example'), '*a.example'),
  route({ kind: 'plain-names' }, 'plain'),
];
const scopes = new NameScopes(ROUTES, ({ rule }) => rule);

const ENDS = ['example', '*ample', 'root', 'all'];
const findRules = (name: string) => [...scopes.find(key(name))].flat();

describe('the rules that a name is in', () => {
  it.each([
    ['x.a.example.', ['a.example', 'a.example again', 'a.example', '*a.example', ...ENDS]],
    ['b.example.', ['a.example', ...ENDS]],
    ['ba.example.', ['*a.example', 'example', '*ample', 'root', 'all']],
    ['example.', ['example', '*ample', 'plain', 'root', 'all']],
    ['sample.', ['*ample', 'plain', 'root', 'all']],
    ['other.org.', ['root', 'all']],
    ['.', ['root', 'all']],
  ])('%s: from the longest scope to the shortest', (name, expected) => {
    expect(findRules(name)).toEqual(expected);
  });

  it('may be looked for among those that not every name is in', () => {
    expect(scopes.some(key('other.org.'), (rule) => rule === 'all')).toBe(true);
    expect(scopes.some(key('other.org.'), (rule) => rule === 'all', 'narrow')).toBe(false);
    expect(scopes.some(key('b.a.example.'), (rule) => rule === 'example', 'narrow')).toBe(true);
  });
});
