import { expect, it } from 'vitest';
import { formatHelp, readCommandLine } from './command-line.ts';

const FLAGS = [
  {
    name: 'output',
    value: { kind: 'choice', choices: ['text', 'json'] },
    valueName: 'format',
    help: 'format',
  },
  {
    name: 'dns-port',
    value: { kind: 'text', of: 'a port' },
    valueName: 'port',
    help: 'port',
    group: 'Listen',
  },
  { name: 'name', value: { kind: 'text', of: 'a name' }, valueName: 'name', help: 'names', repeats: true },
  { name: 'log', value: { kind: 'text', of: 'a file' }, valueName: 'file', help: 'log', impliedValue: '-' },
  { name: 'once', value: 'none', help: 'look once' },
] as const;
const FORM = {
  name: 'corefile check',
  summary: 'check files',
  flags: FLAGS,
  operands: [
    { form: '<file>', help: 'a Corefile' },
    { form: '[type]', help: 'a type' },
  ],
};

function readOr(words: string) {
  const line = readCommandLine(words.split(' '), FORM);
  if (line.kind === 'help') return line.kind;
  const { flags, operands, problems } = line;
  return problems.length === 0
    ? { flags, operands }
    : problems.map(({ where, fault, remedy }) => `${where}: ${fault}. ${remedy}`);
}

it.each([
  ['a', { flags: {}, operands: ['a'] }],
  ['--output json a B', { flags: { output: 'json' }, operands: ['a', 'B'] }],
  ['a --dns-port=53 -once', { flags: { dnsPort: '53', once: true }, operands: ['a'] }],
  ['--once=false - --name x --name=y', { flags: { once: false, name: ['x', 'y'] }, operands: ['-'] }],
  ['--log a', { flags: { log: '-' }, operands: ['a'] }],
  ['--output= -- --once', { flags: { output: '' }, operands: ['--once'] }],
  ['a --help', 'help'],
  ['-h', 'help'],
])('reads %s', (words, read) => {
  expect(readOr(words)).toEqual(read);
});

it.each([
  ['--once', ["<file>: missing. See 'portolan corefile check --help'."]],
  ['a B c', ["c: unexpected argument. See 'portolan corefile check --help'."]],
  ['--onc', ['--onc: unknown flag. Did you mean --once?']],
  ['--quux x a', ["--quux: unknown flag. See 'portolan corefile check --help' for all flags."]],
  ['a --output', ['--output: its value is missing. Give one, as in --output=VALUE.']],
  ['a --once=x', ['--once: neither true nor false. Give one of the two.']],
  ['-v2 a', ["--v2: unknown flag. See 'portolan corefile check --help' for all flags."]],
])('refuses %s', (words, problems) => {
  expect(readOr(words)).toEqual(problems);
});

it('leaves flags behind the first operand to it', () => {
  const operands = [
    { form: '<command>', help: 'a command' },
    { form: '[flags...]', help: 'its flags' },
  ];
  const form = { name: 'systemd', summary: 'print a unit', operands, passesFlagsOn: true } as const;
  expect(readCommandLine(['serve', '--ttl=5', '-h'], form)).toMatchObject({
    operands: ['serve', '--ttl=5', '-h'],
    problems: [],
  });
});

it('shows operands, and flags under the headings of their groups', () => {
  expect(formatHelp(FORM)).toBe(`Usage: portolan corefile check [flags] <file> [type]

check files

  <file>  a Corefile
  [type]  a type

  --output <format>  format: text, json
  --name <name>      names
  --log[=<file>]     log
  --once             look once
  -h, --help         print this help

Listen:
  --dns-port <port>  port
`);
});
