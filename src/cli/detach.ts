/**
 * Detaching: a child in a session of its own runs on, and the parent exits with the child's exit code.
 *
 * Node cannot fork. So the child is a new process of this program with the same arguments; a variable of its environment marks it as
 * the child. It opens its sockets and files and sends a message when it serves; the parent then exits with 0. If the child ends
 * before, the parent exits with its exit code. Until then the parent passes on what the child writes to standard error.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';

const MARK = 'PORTOLAN_DETACHED';
const SERVES = 'serves';

export interface DetachOptions {
  /** Everything behind the program's name, the command included. */
  readonly words: readonly string[];
  /** What the parent has read of standard input, for the child to read. */
  readonly standardInput: Uint8Array | undefined;
  /** Whether the child keeps standard error for good. */
  readonly keepsStandardError: boolean;
}

/** @returns the exit code for the parent */
export async function startDetached(options: DetachOptions): Promise<number> {
  const { words, standardInput, keepsStandardError } = options;
  const [, entry = ''] = process.argv;
  // Not by another name that it may have been called by, which would be one more command.
  const child = spawn(process.execPath, [...process.execArgv, realpathSync(entry), ...words], {
    detached: true,
    env: { ...process.env, [MARK]: '1' },
    stdio: ['pipe', 'ignore', keepsStandardError ? 'inherit' : 'pipe', 'ipc'],
  });
  child.stderr?.on('data', (octets: Uint8Array) => process.stderr.write(octets));
  // A child that does not read it, or ends at once, is no reason to fail.
  child.stdin?.on('error', () => {});
  child.stdin?.end(standardInput ?? '');
  const code = await verdictOf(child);
  letGo(child);
  return code;
}

/** Closes what would keep the parent as long as the child runs. */
function letGo(child: ChildProcess): void {
  child.stdin?.destroy();
  child.stderr?.destroy();
  child.unref();
}

function verdictOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('message', (message) => {
      if (message === SERVES) resolve(0);
    });
    // After everything that it said.
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Whether this process is such a child. Its own children are none. */
export function takeDetachedMark(): boolean {
  const isMarked = process.env[MARK] !== undefined && process.send !== undefined;
  delete process.env[MARK];
  return isMarked;
}

/** Lets the parent go. */
export async function releaseParent(): Promise<void> {
  await new Promise<void>((resolve) => process.send?.(SERVES, () => resolve()));
  process.disconnect();
}
