import { describe, expect, it } from 'vitest';
import { describeProblem } from '../values/problem.ts';
import type { Flag } from './flag.ts';
import { type ProgramManners, readProgramFlags } from './program-flags.ts';

const COUNT = {
  name: 'count',
  valueName: 'n',
  value: { kind: 'integer', min: 1, max: 9, of: 'a count' },
  default: '3',
  help: '',
} as const satisfies Flag;
const VERSION = { name: 'version', value: 'none', help: '' } as const satisfies Flag;

function read(words: readonly string[], manners: Partial<ProgramManners> = {}) {
  const flags = readProgramFlags(words, [COUNT, VERSION], { dashes: '-', remedy: 'See help.', ...manners });
  if (flags.kind !== 'flags') return flags.kind;
  const count = flags.read.value('count');
  return { count, problems: flags.read.problems.map(describeProblem), behind: flags.given.behind };
}

describe('the flags of a program', () => {
  it('have their values, and problems in the order of the command line, then of the readers', () => {
    expect(read(['--count=4'])).toEqual({ count: 4, problems: [], behind: [] });
    expect(read(['-coutn=4', 'word', '-count', '0', '--', 'behind'])).toEqual({
      count: 3,
      problems: [
        '-coutn: unknown flag. Did you mean -count?',
        'word: unexpected argument. Give flags only.',
        'behind: unexpected argument. Give flags only.',
        '-count: out of range: "0". Give a count from 1 to 9.',
      ],
      behind: ['behind'],
    });
  });

  it('ask for help or the version, whatever else is wrong', () => {
    expect(read(['word', '-count=0', '-help', '-version'])).toBe('help');
    expect(read(['word', '-count=0', '-version'])).toBe('version');
    expect(read(['-version=false'])).toMatchObject({ problems: [] });
  });

  it('do not ask for the version where the table has no such flag', () => {
    const flags = readProgramFlags(['-version'], [COUNT], { dashes: '-', remedy: 'See help.' });
    expect(flags.kind).toBe('flags');
    expect(flags.kind === 'flags' && flags.read.problems.map(describeProblem)).toEqual([
      '-version: unknown flag. See help.',
    ]);
  });

  it('may leave what stands behind them to the program, have a remedy for words, and further flags', () => {
    const given = read(['-quiet', 'word', '--', 'behind'], {
      wordRemedy: 'Remove it.',
      leavesBehind: true,
      further: new Map([['quiet', 'switch']]),
    });
    const problems = ['word: unexpected argument. Remove it.'];
    expect(given).toEqual({ count: 3, problems, behind: ['behind'] });
  });
});
