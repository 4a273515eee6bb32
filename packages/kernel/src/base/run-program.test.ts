import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Clock, systemClock } from './clock.ts';
import { createRunProgram, ProgramError } from './run-program.ts';
import { ManualClock } from './testing/manual-clock.ts';
import { hasStarted, isRunning, NOISE, putInPath } from './testing/path-programs.ts';
import { makeTemporaryFolder } from './testing/temporary-folder.ts';
import { waitUntil } from './testing/wait-until.ts';

/** Runs a script as a program of the system. */
async function run(script: string, { clock = new ManualClock() as Clock, input = '' } = {}): Promise<string> {
  await putInPath({ tool: script });
  return await createRunProgram(clock)({ program: 'tool', words: ['-x'], input });
}

const catchFailure = async (script: string): Promise<ProgramError> =>
  await run(script).then(
    () => expect.unreachable('it has not failed'),
    (error: unknown) => (error instanceof ProgramError ? error : expect.unreachable(String(error))),
  );

describe('a program', () => {
  it('has succeeded by its exit status, whatever it writes to standard error', async () => {
    expect(await run(`${NOISE}cat; echo "$@"`, { input: 'in\n' })).toBe('in\n-x\n');
  });

  it('has failed by its exit status, and the end of standard error is the reason', async () => {
    const { message, complaint } = await catchFailure(`${NOISE}echo out; echo 'No such table' >&2; exit 3`);
    expect(message).toBe('tool -x: using dumb terminal settings.; Error: all is well; No such table');
    expect(complaint).toBe(
      'Cannot read termcap database;\nusing dumb terminal settings.\nError: all is well\nNo such table\n',
    );
  });

  it.each([
    ['exit 3', 'tool -x: ended with exit status 3'],
    ['kill -TERM $$', 'tool -x: ended with SIGTERM'],
  ])('has failed without a word: %s', async (script, message) => {
    expect((await catchFailure(script)).message).toBe(message);
  });

  it('that is missing has failed', async () => {
    const missing = createRunProgram(new ManualClock())({ program: 'no-such-program', words: [] });
    await expect(missing).rejects.toThrow(ProgramError);
    await expect(missing).rejects.toThrow('ENOENT');
  });

  it('that hangs is killed together with what it has started', async () => {
    const file = `${(await makeTemporaryFolder()).path}/pid`;
    const clock = new ManualClock();
    const ended = run(`${NOISE}sh -c 'echo $$ > ${file}; exec sleep 600'; true`, { clock });
    ended.catch(() => {});
    await waitUntil('the child', () => hasStarted(file));
    clock.advance(15_000);
    await expect(ended).rejects.toThrow('tool -x: did not end within 15 s');
    await waitUntil('the end of the child', () => !isRunning(file));
  });

  it('has ended although another process holds its output open', async () => {
    const file = `${(await makeTemporaryFolder()).path}/pid`;
    const script = `setsid sh -c 'echo $$ > ${file}; exec sleep 600' &
      until test -s ${file}; do :; done; echo done`;
    expect(await run(script, { clock: systemClock })).toBe('done\n');
    process.kill(Number(readFileSync(file, 'utf8')), 'SIGKILL');
  });
});
