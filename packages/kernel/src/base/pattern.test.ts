import { describe, expect, it } from 'vitest';
import { Pattern, PatternError } from './pattern.ts';

describe('Pattern', () => {
  it('matches anywhere and gives groups by number and name', () => {
    const pattern = new Pattern('(.*)-(?P<zone>us-west-1)\\.rocks(x)?');
    expect(pattern.match('a.web-us-west-1.rocks.')).toEqual([
      'a.web-us-west-1.rocks',
      'a.web',
      'us-west-1',
      undefined,
    ]);
    expect(pattern.groupCount).toBe(3);
    expect(pattern.groupNames.get('zone')).toBe(2);
    expect(pattern.match('b.example.')).toBeUndefined();
    expect(pattern.test('web-us-west-1.rocks')).toBe(true);
  });

  it('says in the words of Go what does not compile', () => {
    expect(() => new Pattern('(')).toThrow(new PatternError('error parsing regexp: missing closing ): `(`'));
    expect(() => new Pattern('(?=a)')).toThrow(/invalid or unsupported Perl syntax/);
    expect(() => new Pattern('(a)\\1')).toThrow(/invalid escape sequence/);
  });

  it('takes time linear to the text for a pattern that takes others exponential time', () => {
    const pattern = new Pattern('^(a+)+$');
    expect(pattern.test(`${'a'.repeat(50_000)}b`)).toBe(false);
  });
});
