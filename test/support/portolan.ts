/**
 * The built program in a process of its own, on free ports.
 */
import { fileURLToPath } from 'node:url';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { Program } from '@portolan/testing/program.ts';

const ENTRY = fileURLToPath(new URL('../../dist/portolan.js', import.meta.url));

export interface RunOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** A command that runs the program, which is appended to it: `unshare`, a shell with limits. It must become it by exec. */
  readonly through?: readonly string[];
}

const running = new Set<Program>();

/** Runs a command of the program. */
export function runPortolan(
  args: readonly string[],
  { environment = {}, through = [] }: RunOptions = {},
): Program {
  const { PATH = '' } = process.env;
  // Nothing of the machine that the tests run on: neither its kubeconfig nor its cluster.
  const own = { PATH, HOME: '/nonexistent', ...environment };
  const program = new Program([...through, process.execPath, ENTRY, ...args], { environment: own });
  running.add(program);
  void program.exit.then(() => running.delete(program));
  return program;
}

/** For `afterEach`: no test leaves a process behind. */
export async function endAllPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.end()));
}

/** A program that serves. */
export interface Serving {
  readonly program: Program;
  /** Where it answers DNS. */
  readonly address: string;
  readonly port: number;
  /** `http://127.0.0.1:12345`. */
  readonly health: string;
}

export interface ServeOptions extends RunOptions {
  readonly port?: number;
  readonly address?: string;
}

/** Unless they say otherwise, tests ask none of the servers that the machine knows. */
const isAboutUpstreams = (flag: string): boolean => /^--(upstream|resolv-file)(=|$)/.test(flag);

/** Runs `portolan serve` on a free port of loopback, until its sockets are open. */
export async function servePortolan(
  flags: readonly string[],
  { address = '127.0.0.1', port, ...options }: ServeOptions = {},
): Promise<Serving> {
  const own = port ?? (await findFreePort(address));
  const program = runPortolan(
    [
      'serve',
      '--dns-bind-address',
      address,
      '--dns-port',
      String(own),
      '--healthz-port',
      `${address}:0`,
      '--log-format',
      'json',
      ...(flags.some(isAboutUpstreams) ? [] : ['--upstream=none']),
      ...flags,
    ],
    options,
  );
  const line = await program.heard('serving');
  return { program, address, port: own, health: String(line['health']) };
}

/** What a path of the health server says: status and text. */
export async function look(serving: Serving, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${serving.health}${path}`);
  return { status: response.status, text: await response.text() };
}
