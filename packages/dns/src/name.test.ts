import { describe, expect, it } from 'vitest';
import {
  countLabels,
  findClosest,
  isWithin,
  joinName,
  labelsBelow,
  NameError,
  parseKey,
  parseName,
  ROOT,
  splitLabels,
  toKey,
  toParent,
} from './name.ts';

const key = (text: string) => toKey(parseName(text));
const MAX_LABEL = 'x'.repeat(63);
/** 255 octets on the wire. */
const LONGEST = `${`${MAX_LABEL}.`.repeat(3)}${'x'.repeat(61)}.`;

describe('parseName', () => {
  it.each([
    ['www.example', 'www.example.'],
    ['www.example.', 'www.example.'],
    ['.', '.'],
    ['_http._tcp.Web', '_http._tcp.Web.'],
    ['*.example', '*.example.'],
    ['a\\.b.c', 'a\\.b.c.'],
    ['a\\046b', 'a\\.b.'],
    ['\\097\\065', 'aA.'],
    ['\\a', 'a.'],
    ['a b', 'a\\032b.'],
    ['a\\000\\255', 'a\\000\\255.'],
    ['a;b@c', 'a\\;b\\@c.'],
    ['a\\.', 'a\\..'],
    [MAX_LABEL, `${MAX_LABEL}.`],
    [LONGEST, LONGEST],
    [LONGEST.slice(0, -1), LONGEST],
  ])('reads %j as %j', (text, name) => {
    expect(parseName(text)).toBe(name);
  });

  it.each([
    ['', 0, 'nothing'],
    ['..', 0, 'an empty label'],
    ['.a', 0, 'an empty label'],
    ['a..b', 2, 'an empty label'],
    [`${MAX_LABEL}x.a`, 63, 'a label of more than 63 octets'],
    [`\\120${MAX_LABEL}`, 66, 'a label of more than 63 octets'],
    [`x${LONGEST}`, 63, 'a label of more than 63 octets'],
    [`y.${LONGEST}`, 253, 'more than 255 octets'],
    [`${LONGEST}z`, 254, 'more than 255 octets'],
    ['a\\', 1, 'an incomplete escape'],
    ['a\\12', 1, 'an incomplete escape'],
    ['a\\256', 1, 'an incomplete escape'],
    ['é', 0, 'a character that must be written as \\DDD'],
    ['a\nb', 1, 'a character that must be written as \\DDD'],
  ])('refuses %j at character %i', (text, position, what) => {
    const parse = () => parseName(text);
    expect(parse).toThrow(NameError);
    expect(parse).toThrow(expect.objectContaining({ text, position }));
    expect(parse).toThrow(what);
  });

  it('does not repeat a whole novel in its message', () => {
    expect(() => parseName('..'.repeat(10_000))).toThrow(/^.{1,500}$/);
  });
});

describe('labels', () => {
  it.each([
    ['.', []],
    ['a.', ['a']],
    ['a.b.c.', ['a', 'b', 'c']],
    ['a\\.b.c.', ['a\\.b', 'c']],
    ['a\\\\.b.', ['a\\\\', 'b']],
    ['a\\..', ['a\\.']],
  ])('of %s are %j', (text, labels) => {
    const name = parseName(text);
    expect(splitLabels(name)).toEqual(labels);
    expect(countLabels(name)).toBe(labels.length);
    expect(toParent(name)).toBe(
      labels.length === 0 ? undefined : labels.length === 1 ? ROOT : parseName(labels.slice(1).join('.')),
    );
  });

  it.each([
    ['b.a.example.', 'example.', ['b', 'a']],
    ['a\\.b.c.example.', 'c.example.', ['a\\.b']],
    ['a.b\\.c.', 'b\\.c.', ['a']],
    ['example.', 'example.', []],
    ['b.a.', '.', ['b', 'a']],
    ['.', '.', []],
    ['.', 'example.', []],
    ['a.', 'a.b.example.', []],
  ])('of %s below %s are %j', (name, zone, labels) => {
    expect(labelsBelow(parseName(name), parseName(zone))).toEqual(labels);
  });

  it('are put in front of a name', () => {
    expect(joinName('www', parseName('Example.'))).toBe('www.Example.');
    expect(joinName('com', ROOT)).toBe('com.');
    expect(joinName('a\\.b', ROOT)).toBe('a\\.b.');
    expect(joinName('a\\046b', parseName('c'))).toBe('a\\.b.c.');
  });

  it.each(['', 'a.b', 'a.', '.', MAX_LABEL.repeat(2), 'a\\'])('do not include %j', (label) => {
    expect(() => joinName(label, parseName('example.'))).toThrow(NameError);
    expect(() => joinName(label, ROOT)).toThrow(NameError);
  });

  it('do not make a name longer than names are', () => {
    expect(() => joinName('y', parseName(LONGEST))).toThrow(NameError);
  });
});

describe('isWithin', () => {
  it.each([
    ['a.example.', 'example.', true],
    ['b.a.example.', 'example.', true],
    ['example.', 'example.', true],
    ['.', '.', true],
    ['example.', '.', true],
    ['.', 'example.', false],
    ['example.', 'a.example.', false],
    ['anexample.', 'example.', false],
    ['a\\.example.', 'example.', false],
    ['a\\\\.example.', 'example.', true],
    ['b.a\\.example.', 'a\\.example.', true],
  ])('%s, %s: %s', (name, ancestor, expected) => {
    expect(isWithin(key(name), key(ancestor))).toBe(expected);
  });
});

describe('findClosest', () => {
  const zones = new Map<string, string>([
    ['example.org.', 'zone'],
    ['a.b.example.org.', 'below'],
  ]);
  const find = (name: string) => findClosest(parseKey(name), (at) => zones.get(at));

  it.each([
    ['example.org', 'zone'],
    ['x.b.example.org', 'zone'],
    ['x.a.b.example.org', 'below'],
    ['org', undefined],
    ['x\\.example.org', undefined],
    ['.', undefined],
  ])('finds for %s: %s', (name, expected) => expect(find(name)).toBe(expected));

  it('asks for the root last', () => {
    const asked: string[] = [];
    findClosest(parseKey('a.b'), (at) => void asked.push(at));
    expect(asked).toEqual(['a.b.', 'b.', '.']);
  });
});

describe('toKey', () => {
  it('changes ASCII letters alone', () => {
    expect(key('WWW.\\196Example.')).toBe('www.\\196example.');
  });
});
