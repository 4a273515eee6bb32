import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readArguments } from './arguments.ts';

/** `name=value`, `name`, or the fault. */
function shown(words: readonly string[]): readonly string[] {
  return readArguments(words).map((argument) => {
    if (argument.kind === 'wrong') return `${argument.written}: ${argument.fault}. ${argument.remedy}`;
    const { option, value } = argument;
    return value === undefined ? option.name : `${option.name}=${value}`;
  });
}

describe('forms', () => {
  it.each([
    [['--port=54'], ['port=54']],
    [['--port', '54'], ['port=54']],
    [['-p', '54'], ['port=54']],
    [['-p54'], ['port=54']],
    [['-p=54'], ['port==54']],
    [['-kqp54'], ['keep-in-foreground', 'log-queries', 'port=54']],
    [['--serv=1.2.3.4'], ['--serv: the beginning of several options. Give one of --servers-file, --server.']],
    // An abbreviation of dnsmasq's, although options of our own begin like it.
    [['--query=54'], ['query-port=54']],
    [['--query-log-f=json'], ['query-log-format=json']],
    [['--domain-suffix=a'], ['domain=a']],
    [['--domain-s', 'a'], ['domain=a']],
    [['--server', '-k'], ['server=-k']],
    [['--cache-size'], ['cache-size']],
    [
      ['--cache-size', '5'],
      ['cache-size', '5: not an option. Options begin with a dash. See --help for all options.'],
    ],
    [['-c', '5'], ['cache-size=5']],
    [['--log-queries=extra'], ['log-queries=extra']],
    [
      ['-q', '-k'],
      ['log-queries', 'keep-in-foreground'],
    ],
    [['--port='], ['port=']],
    [['--txt-record=é'], ['txt-record=Ã©']],
  ])('%j', (words, expected) => {
    expect(shown(words)).toEqual(expected);
  });
});

describe('what is wrong', () => {
  it.each([
    ['--prot=1', '--prot: unknown option. Did you mean --port?'],
    ['--zzzzzzzzzzzz', '--zzzzzzzzzzzz: unknown option. See --help for all options.'],
    ['-%', '-%: unknown option. See --help for all options.'],
    [
      '--filter-',
      '--filter-: the beginning of several options. Give one of --filter-A, --filter-AAAA, --filter-rr.',
    ],
    ['--no-hosts=1', '--no-hosts: a value given to an option without one. Leave it out.'],
    ['--port', '--port: without its value. Give it as in --port=<port>.'],
    ['-p', '-p: without its value. Give it as in --port=<port>.'],
    ['word', 'word: not an option. Options begin with a dash. See --help for all options.'],
  ])('%s', (word, message) => {
    expect(shown([word])).toEqual([message]);
  });

  it('is found behind good options too, and ends none of them', () => {
    expect(shown(['word', '-k', '--', '-d'])).toEqual([
      'keep-in-foreground',
      'word: not an option. Options begin with a dash. See --help for all options.',
      '-d: not an option. Options begin with a dash. See --help for all options.',
    ]);
  });
});

it('takes any words without throwing', () => {
  const word = fc.oneof(
    fc.string(),
    fc.string().map((text) => `-${text}`),
    fc.string().map((text) => `--${text}`),
  );
  fc.assert(fc.property(fc.array(word), (words) => void readArguments(words)));
});
