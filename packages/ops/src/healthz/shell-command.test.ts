import { readFileSync } from 'node:fs';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { hasStarted, isRunning } from '@portolan/kernel/base/testing/path-programs.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { describe, expect, it } from 'vitest';
import { runShellCommand } from './shell-command.ts';

const run = (command: string) => runShellCommand(command, 60_000, systemClock).ended;

describe('a command', () => {
  it.each([
    ['echo healthz', { output: 'healthz\n', error: undefined }],
    ['echo out; echo bad >&2; exit 3', { output: 'out\nbad\n', error: 'exit status 3' }],
    ['kill -TERM $$', { output: '', error: 'signal: terminated' }],
    ['kill -QUIT $$', { output: '', error: 'signal: SIGQUIT' }],
    ['read line; echo "[$line]"', { output: '[]\n', error: undefined }],
  ])('ends: %s', async (command, end) => {
    expect(await run(command)).toEqual(end);
  });

  it('that there is none of is an error like others', async () => {
    const { output, error } = await run('no-such-command-at-all');
    expect(output).toContain('no-such-command-at-all');
    expect(error).toBe('exit status 127');
  });

  it('may print without end, and only the beginning is kept', async () => {
    const { output, error } = await run('head -c 3000000 /dev/zero | tr "\\0" x; echo; exit 1');
    expect(output).toBe(`${'x'.repeat(8_192)}…`);
    expect(error).toBe('exit status 1');
  });
});

describe('what hangs', () => {
  it('is killed when its time is over, with its children', async () => {
    const folder = await makeTemporaryFolder();
    const file = `${folder.path}/pid`;
    const clock = new ManualClock();
    const { ended } = runShellCommand(`sleep 600 & echo $! > ${file}; wait; true`, 5_000, clock);
    await waitUntil('the child to run', () => hasStarted(file));
    expect(isRunning(file)).toBe(true);
    clock.advance(5_000);
    expect(await ended).toEqual({ output: '', error: 'signal: killed, after 5 s' });
    await waitUntil('the child to be gone', () => !isRunning(file));
  });

  it('is killed when its result is not wanted any more', async () => {
    const { ended, kill } = runShellCommand('sleep 600', 60_000, systemClock);
    kill();
    expect((await ended).error).toBe('signal: killed');
  });

  it('in the background does not outlive its command, nor hold it up', async () => {
    const folder = await makeTemporaryFolder();
    const file = `${folder.path}/pid`;
    expect(await run(`sleep 600 & echo $! > ${file}; echo done`)).toEqual({
      output: 'done\n',
      error: undefined,
    });
    await waitUntil('the child to be gone', () => !isRunning(file));
  });

  it('with its output open, out of reach, is waited for a moment only', async () => {
    const folder = await makeTemporaryFolder();
    const file = `${folder.path}/pid`;
    const end = await run(`setsid sh -c 'echo $$ > ${file}; exec sleep 600' & 
      until test -s ${file}; do :; done; echo done`);
    expect(end).toEqual({ output: 'done\n', error: undefined });
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  });
});
