/**
 * Detaching: a child in its own session keeps running, and the parent exits with the child's exit code.
 *
 * Node cannot fork, so the child is a new process of this program with the same arguments. An environment variable marks it as the
 * child. It opens its sockets and files, then sends a message when it serves; the parent exits with 0. If the child ends earlier, the
 * parent exits with the child's exit code. Until then the parent forwards the child's standard error.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';

const MARK = 'PORTOLAN_DETACHED';
const SERVES = 'serves';

export interface DetachOptions {
  /** All arguments, including the command. */
  readonly words: readonly string[];
  /** Standard input that the parent has already read, passed to the child. */
  readonly standardInput: Uint8Array | undefined;
  /** Whether the child keeps standard error after start. */
  readonly keepsStandardError: boolean;
}

/** @returns the exit code of the parent */
export async function startDetached(options: DetachOptions): Promise<number> {
  const { words, standardInput, keepsStandardError } = options;
  const [, entry = ''] = process.argv;
  // Use the real path: a link name could select another command.
  const child = spawn(process.execPath, [...process.execArgv, realpathSync(entry), ...words], {
    detached: true,
    env: { ...process.env, [MARK]: '1' },
    stdio: ['pipe', 'ignore', keepsStandardError ? 'inherit' : 'pipe', 'ipc'],
  });
  child.stderr?.on('data', (octets: Uint8Array) => process.stderr.write(octets));
  // The child may end early or not read its input.
  for (const pipe of [child.stdin, child.stderr]) pipe?.on('error', () => {});
  child.stdin?.end(standardInput ?? '');
  const code = await waitForVerdict(child);
  letGo(child);
  return code;
}

/** Closes everything that would keep the parent running with the child. */
function letGo(child: ChildProcess): void {
  child.stdin?.destroy();
  child.stderr?.destroy();
  child.unref();
}

function waitForVerdict(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('message', (message) => {
      if (message === SERVES) resolve(0);
    });
    // `close` follows the last output of the child.
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Whether this process is a detached child. Removes the mark, so that its own children are not. */
export function takeDetachedMark(): boolean {
  const isMarked = process.env[MARK] !== undefined && process.send !== undefined;
  delete process.env[MARK];
  return isMarked;
}

/** Tells the parent that this process serves, so that the parent exits. It may have ended before. */
export async function releaseParent(): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(SERVES, () => resolve()));
  if (process.connected) process.disconnect();
}
