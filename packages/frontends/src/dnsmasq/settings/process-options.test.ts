import { describe, expect, it } from 'vitest';
import { readNotes, readPlan, readProblems } from './testing/read-plan.ts';

describe('the process', () => {
  it.each([
    ['keep-in-foreground', { mode: 'foreground' }],
    ['no-daemon', { mode: 'debug' }],
    ['no-daemon\nkeep-in-foreground', { mode: 'debug' }],
    ['user=nobody2', { user: 'nobody2' }],
    ['user=', { user: undefined }],
    ['group=dns', { group: { kind: 'named', name: 'dns' } }],
    ['group', { group: { kind: 'keep' } }],
    ['pid-file=/run/x', { pidFile: '/run/x' }],
    ['pid-file', { pidFile: undefined }],
  ])('%j', (lines, process) => {
    expect(readPlan(lines).process).toMatchObject(process);
  });
});

describe('the log', () => {
  it.each([
    ['log-facility=-', { to: { kind: 'standard-error' } }],
    ['log-facility=/var/log/x', { to: { kind: 'file', path: '/var/log/x' } }],
    ['log-facility=LOCAL3', { to: { kind: 'syslog', facility: 'local3' } }],
    ['no-daemon', { to: { kind: 'syslog', facility: 'local0' } }],
    ['log-queries', { queries: 'plain' }],
    ['log-queries=extra\nlog-queries', { queries: 'extra' }],
    ['log-debug', { debug: true }],
  ])('%j', (lines, log) => {
    expect(readPlan(lines).log).toMatchObject(log);
  });

  it('goes to a known facility', () => {
    expect(readProblems('log-facility=nowhere')).toHaveLength(1);
  });

  it('tells that dnsmasq 2.90 knows one word only', () => {
    expect(readNotes('log-queries=proto')).toEqual([
      'Only `extra` has a meaning; questions are logged as without it.',
    ]);
  });
});

it('answers for itself unless told not to', () => {
  expect(readPlan('').local.identifies).toBe(true);
  expect(readPlan('no-ident').local.identifies).toBe(false);
});

describe('the query log of all servers', () => {
  it('is off, or writes selected queries to the given file', () => {
    expect(readPlan('log-queries').process.queryLog).toBeUndefined();
    expect(readPlan('query-log').process.queryLog).toMatchObject({
      file: undefined,
      settings: { sample: 1 },
    });
    const lines = 'query-log-zone=a.test\nquery-log=/q\nquery-log-zone=b.test\nquery-log-format=json';
    expect(readPlan(lines).process.queryLog).toMatchObject({
      file: '/q',
      settings: { format: 'json', zones: ['a.test.', 'b.test.'] },
    });
  });

  it.each([
    ['query-log\nquery-log-sample=0', 'out of range: "0"'],
    ['query-log-client=10.0.0.0/8', '--query-log-client: has no effect without --query-log'],
  ])('is refused: %j', (lines, problem) => {
    expect(readProblems(lines)).toEqual([expect.stringContaining(problem)]);
  });
});
