import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import { ValueReader } from '../values/value-reader.ts';
import type { FlagKinds } from './flag.ts';
import { GivenFlags, readGoFlags } from './go-flags.ts';
import { readLogLevel } from './klog-flags.ts';

const kinds: FlagKinds = new Map([
  ['config-dir', 'value'],
  ['probe', 'value'],
  ['profiling', 'switch'],
]);

function read(...words: readonly string[]) {
  const reader = new ValueReader();
  const given = readGoFlags(words, { kinds, dashes: '--', remedy: 'See --help.' }, reader);
  if (given === 'help') throw new Error('asked for help');
  return {
    given,
    level: readLogLevel(given.last('v'), reader),
    problems: reader.problems.map(describeProblem),
  };
}

describe('flags in the manner of Go', () => {
  it.each([
    ['--config-dir=/x'],
    ['-config-dir=/x'],
    ['--config_dir=/x'],
    ['--config-dir', '/x'],
    ['--config-dir=/y', '--config-dir=/x'],
  ])('have a value: %s %s', (...words) => {
    const { given, problems } = read(...words);
    expect(given.last('config-dir')).toBe('/x');
    expect(problems).toEqual([]);
  });

  it.each([
    ['--profiling', true],
    ['--profiling=T', true],
    ['--profiling=1', true],
    ['--profiling=False', false],
    ['-profiling=0', false],
  ])('switch: %s', (word, expected) => {
    expect(read(word).given.switch('profiling')).toBe(expected);
    expect(read().given.switch('profiling')).toBeUndefined();
  });

  it('take the next word for a value whatever it is, unless they are switches', () => {
    const { given } = read('--config-dir', '--profiling', '--profiling', 'word', '--', '--probe', 'x');
    expect([given.last('config-dir'), given.switch('profiling')]).toEqual(['--profiling', true]);
    expect([given.words, given.behind, given.has('probe')]).toEqual([['word'], ['--probe', 'x'], false]);
  });

  it('are all kept where several may be given', () => {
    expect(read('--probe=a', '--probe', 'b').given.all('probe')).toEqual(['a', 'b']);
  });

  it('keep what follows the first =', () => {
    expect(read('--probe=a=b=c').given.last('probe')).toBe('a=b=c');
  });

  it.each([
    ['--config-dirs', '--config-dirs: unknown flag. Did you mean --config-dir?'],
    ['--nothing-like-it', '--nothing-like-it: unknown flag. See --help.'],
    ['--probe', '--probe: its value is missing. Give one, as in --probe=VALUE.'],
    ['--profiling=yes', '--profiling: neither true nor false: "yes". Give one of the two.'],
  ])('are refused: %s', (word, problem) => {
    expect(read(word).problems).toEqual([problem]);
  });

  it('show help', () => {
    const manners = { kinds, dashes: '--', remedy: '' };
    for (const word of ['--help', '-help', '-h'])
      expect(readGoFlags(['--probe=x', word], manners, new ValueReader())).toBe('help');
  });

  it('never throw', () => {
    const word = fc.oneof(fc.string(), fc.constantFrom('-', '--', '--=', '-v', '--probe', '-=x', '--v=9e9'));
    fc.assert(
      fc.property(fc.array(word), (words) => {
        const given = readGoFlags(words, { kinds, dashes: '-', remedy: '' }, new ValueReader());
        expect(given === 'help' || given instanceof GivenFlags).toBe(true);
      }),
    );
  });
});

describe('flags of klog', () => {
  it('are taken with one dash or two, everywhere', () => {
    const words = ['--logtostderr', '-alsologtostderr=false', '--vmodule=a=1', '--log-dir', '/x'];
    const { given, problems } = read(...words, '-log_file', '/y', '--log-flush-frequency=5s');
    expect(problems).toEqual([]);
    expect(given.words).toEqual([]);
  });

  it.each([
    [[], 'info'],
    [['--v=2'], 'info'],
    [['-v', '3'], 'info'],
    [['-v=4'], 'debug'],
    [['-v10'], 'debug'],
  ] as const)('say how much is told: %j', (words, level) => {
    expect(read(...words)).toMatchObject({ level, problems: [] });
  });

  it('want a number for a verbosity', () => {
    expect(read('--v=high').problems).toEqual([
      '--v: not a whole number: "high". Give a verbosity from 0 to 2147483647.',
    ]);
  });
});
