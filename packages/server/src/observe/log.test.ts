import type { Log, LogLevel } from '@portolan/kernel/base/log.ts';
import { describe, expect, it } from 'vitest';
import { createLog, usesColours } from './log.ts';

function recorder(format: 'text' | 'json', level: LogLevel = 'debug'): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const clock = { now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 678) };
  return { log: createLog({ level, format, clock, write: (line) => lines.push(line) }), lines };
}

describe('text', () => {
  it('is one line with its fields behind the message', () => {
    const { log, lines } = recorder('text');
    log.info('zone listed', { services: 12, zone: 'cluster.local.', reason: undefined });
    expect(lines).toEqual(['2026-01-02T03:04:05.678Z INFO  zone listed services=12 zone=cluster.local.\n']);
  });

  it('quotes what would be ambiguous or move the cursor', () => {
    const { log, lines } = recorder('text');
    log.warn('odd\nnews', { empty: '', spaced: 'a b', quoted: 'a"b', equals: 'a=b', escape: '\u001b[2J' });
    expect(lines[0]).toBe(
      '2026-01-02T03:04:05.678Z WARN  odd news empty="" spaced="a b" quoted="a\\"b" equals="a=b" escape="\\u001b[2J"\n',
    );
  });
});

describe('JSON', () => {
  it('is one object a line, whose own keys no field can take', () => {
    const { log, lines } = recorder('json');
    log.error('bad file', { file: 'a\nb.yaml', line: 3, message: 'forged', level: 'forged' });
    expect(lines).toHaveLength(1);
    expect(lines[0]?.indexOf('\n')).toBe((lines[0]?.length ?? 0) - 1);
    expect(lines[0]).toMatch(/^\{"time":"[^"]+","level":"error","message":"bad file",/);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      time: '2026-01-02T03:04:05.678Z',
      level: 'error',
      message: 'bad file',
      file: 'a\nb.yaml',
      line: 3,
    });
  });
});

it.each([
  ['error', ['ERROR']],
  ['warn', ['ERROR', 'WARN ']],
  ['info', ['ERROR', 'WARN ', 'INFO ']],
  ['debug', ['ERROR', 'WARN ', 'INFO ', 'DEBUG']],
] as const)('level %s writes what is at least as urgent', (level, written) => {
  const { log, lines } = recorder('text', level);
  for (const urgency of ['error', 'warn', 'info', 'debug'] as const) log[urgency]('x');
  expect(lines.map((line) => line.slice(25, 30))).toEqual(written);
});

it('takes another level while it is used', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    format: 'text',
    clock: { now: () => 0 },
    write: (line) => lines.push(line),
  });
  log.debug('unseen');
  log.level = 'debug';
  log.debug('seen');
  log.level = 'error';
  log.warn('unseen');
  expect(lines.map((line) => line.slice(31))).toEqual(['seen\n']);
});

describe('colours', () => {
  it('mark the level, and leave no state behind', () => {
    const lines: string[] = [];
    const options = { level: 'info', format: 'text', colours: true, clock: { now: () => 0 } } as const;
    createLog({ ...options, write: (line) => lines.push(line) }).warn('odd', { port: 53 });
    expect(lines).toEqual([
      '\u001b[2m1970-01-01T00:00:00.000Z\u001b[0m \u001b[33mWARN \u001b[0m odd\u001b[2m port=53\u001b[0m\n',
    ]);
  });

  it.each([
    [true, {}, true],
    [true, { NO_COLOR: '' }, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
  ])('on a terminal (%s) with %o: %s', (isTerminal, environment, expected) => {
    expect(usesColours(isTerminal, environment)).toBe(expected);
  });
});
