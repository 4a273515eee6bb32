import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { beforeEach, describe, expect, it } from 'vitest';
import { ProbeCommand } from './check.ts';
import type { HealthzPlan } from './settings/healthz-plan.ts';
import type { CommandEnd } from './shell-command.ts';

const check = { path: '/healthz', command: 'look' };
const plan: HealthzPlan = {
  checks: [check],
  port: 0,
  period: 2_000,
  latency: 30_000,
  timeout: 30_000,
  showsOutput: false,
};

let clock: ManualClock;
let log: RecordingLog;
let runs: { command: string; timeout: number; end: (end: CommandEnd) => void; killed: boolean }[];

beforeEach(() => {
  clock = new ManualClock(Date.UTC(2026, 0, 1));
  log = new RecordingLog();
  runs = [];
});

function start(changes: Partial<HealthzPlan> = {}): ProbeCommand {
  const run = (command: string, timeout: number) => {
    const { promise, resolve } = deferred<CommandEnd>();
    const entry = { command, timeout, end: resolve, killed: false };
    runs.push(entry);
    return {
      ended: promise,
      kill() {
        entry.killed = true;
      },
    };
  };
  const started = new ProbeCommand(check, { ...plan, ...changes }, { run, clock, log });
  started.start();
  return started;
}

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function end(error: string | undefined, output = ''): Promise<void> {
  runs.at(-1)?.end({ output, error });
  await new Promise((resolve) => setImmediate(resolve));
}

describe('a check', () => {
  it('is well before its command has run, and runs it after a period', () => {
    const started = start();
    expect(started.judge()).toEqual({ kind: 'healthy', text: 'ok' });
    clock.advance(1_999);
    expect(runs).toHaveLength(0);
    clock.advance(1);
    expect(runs).toMatchObject([{ command: 'look', timeout: 30_000 }]);
  });

  it('is unhealthy as soon as its command fails, and healthy when it succeeds again', async () => {
    const started = start();
    clock.advance(2_000);
    await end('exit status 1', 'no servers could be reached\n');
    expect(started.judge()).toEqual({
      kind: 'unhealthy',
      text:
        'Healthz probe on /healthz error: Result of last exec: no servers could be reached\n' +
        ', at 2026-01-01T00:00:02.000Z, error exit status 1\n',
    });
    clock.advance(2_000);
    await end(undefined);
    expect(started.judge()).toEqual({ kind: 'healthy', text: 'ok' });
    expect(log.records.map(({ level, message }) => `${level}: ${message}`)).toEqual([
      'debug: command run',
      'warn: command failed',
      'debug: command run',
      'info: command succeeds again',
    ]);
  });

  it('is unhealthy when its result is too old, without its command having failed', async () => {
    const started = start();
    clock.advance(2_000);
    await end(undefined, 'fine');
    clock.advance(30_000);
    expect(started.judge().kind).toBe('healthy');
    clock.advance(1);
    expect(started.judge()).toEqual({
      kind: 'unhealthy',
      text: 'Latest result too old to be useful: Result of last exec: fine, at 2026-01-01T00:00:02.000Z, error None.\n',
    });
    expect(runs).toHaveLength(2);
  });

  it('is unhealthy when its first command never ends', () => {
    const started = start();
    clock.advance(30_001);
    expect(started.judge().kind).toBe('unhealthy');
    expect(runs).toHaveLength(1);
  });

  it('runs its command at once again if that took longer than the period', async () => {
    start();
    clock.advance(2_000);
    clock.advance(5_000);
    await end(undefined);
    clock.advance(0);
    expect(runs).toHaveLength(2);
  });

  it('shows the output if it is to', async () => {
    const started = start({ showsOutput: true });
    clock.advance(2_000);
    await end(undefined, 'all is well\n');
    expect(started.judge()).toEqual({ kind: 'healthy', text: 'all is well\n' });
  });

  it('kills what runs when it is stopped, and runs nothing more', async () => {
    const started = start();
    clock.advance(2_000);
    started.stop();
    expect(runs).toMatchObject([{ killed: true }]);
    await end('signal: killed');
    expect(started.judge().kind).toBe('healthy');
    expect(clock.pending).toBe(0);
  });
});
