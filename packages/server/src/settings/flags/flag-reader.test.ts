import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import type { Flag } from './flag.ts';
import { FlagReader } from './flag-reader.ts';

const FLAGS = [
  { name: 'on', value: 'none', help: '' },
  { name: 'word', valueName: 'word', value: { kind: 'text', of: 'a word' }, help: '' },
  { name: 'folder', valueName: 'folder', value: { kind: 'folder' }, default: '/etc', help: '' },
  {
    name: 'count',
    valueName: 'n',
    value: { kind: 'integer', min: 1, max: 9, of: 'a count' },
    default: '3',
    help: '',
  },
  { name: 'room', valueName: 'size', value: { kind: 'size', min: 0, max: 2048 }, default: '1K', help: '' },
  { name: 'wait', valueName: 'duration', value: { kind: 'duration' }, default: '2s', help: '' },
  { name: 'pick', valueName: 'word', value: { kind: 'choice', choices: ['a', 'b'] }, help: '' },
] as const satisfies readonly Flag[];

function makeReader(given: Readonly<Record<string, readonly string[]>>) {
  return new FlagReader(FLAGS, (name) => given[name] ?? []);
}

describe('flags read by their table', () => {
  it('have their defaults, by the kinds of their values', () => {
    const read = makeReader({});
    expect([read.isOn('on'), read.value('word'), read.value('folder'), read.value('count')]).toEqual([
      false,
      undefined,
      '/etc',
      3,
    ]);
    expect([read.value('room'), read.value('wait'), read.value('pick')]).toEqual([1024, 2000, undefined]);
    expect([read.texts('word'), read.texts('folder'), read.isGiven('folder')]).toEqual([[], ['/etc'], false]);
    expect(read.problems).toEqual([]);
  });

  it('have the last value given', () => {
    const read = makeReader({ on: ['true'], count: ['4', '5'], room: ['2K'], wait: ['1m'], pick: ['b'] });
    expect([read.isOn('on'), read.value('count'), read.value('room')]).toEqual([true, 5, 2048]);
    expect([read.value('wait'), read.value('pick'), read.texts('count')]).toEqual([60_000, 'b', ['4', '5']]);
  });

  it('have their defaults where the value is wrong, which is a problem', () => {
    const read = makeReader({
      count: ['10'],
      room: ['3K'],
      wait: ['x'],
      pick: ['c'],
      word: [''],
      folder: [''],
    });
    expect([read.value('count'), read.value('room'), read.value('wait')]).toEqual([3, 1024, 2000]);
    expect([read.value('pick'), read.value('word'), read.value('folder')]).toEqual([
      undefined,
      undefined,
      '/etc',
    ]);
    expect(read.problems.map(describeProblem)).toEqual([
      '--count: out of range: "10". Give a count from 1 to 9.',
      '--room: out of range: "3K". Give octets from 0 to 2K, with K, M or G for units of 1024.',
      '--wait: not a duration of at most 24h: "x". Give a number and its unit, as in 2s.',
      '--pick: unknown: "c". Give a or b.',
      '--word: empty: "". Give a word, or leave the flag out.',
      '--folder: empty: "". Give the path of a folder, or leave the flag out.',
    ]);
  });
});
