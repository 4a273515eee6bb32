/**
 * `portolan coredns`: CoreDNS's command line, with CoreDNS's start-up lines and exit codes.
 */
import { compileCorefile } from '../config/corefile/compile-corefile.ts';
import { type CoreDnsCommand, readCoreDnsFlags } from '../config/corefile/coredns-flags.ts';
import { pluginOrder } from '../config/corefile/plugin-order.ts';
import { type CorefileReading, readCorefile } from '../config/corefile/read-corefile.ts';
import { startLines } from '../config/corefile/start-lines.ts';
import { DISK_FILES } from '../config/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '../config/corefile/syntax/findings.ts';
import { CoreDnsFrontEnd } from '../server/coredns/coredns-front-end.ts';
import { createCoreDnsLog } from '../server/coredns/coredns-log.ts';
import { Server } from '../server/server.ts';
import { type CorefileText, loadCorefile } from './load-corefile.ts';
import { addressesByInterface } from './machine-interfaces.ts';
import { serverDependencies } from './server-dependencies.ts';
import { onStopSignal } from './signals.ts';
import { VERSION } from './version.ts';

export type RunPlan = Extract<CoreDnsCommand, { kind: 'run' }>;
type GoodReading = Extract<CorefileReading, { kind: 'good' }>;

/** The version that is stood in for. */
const COREDNS_VERSION = '1.14.7';

/** @param words what stands behind the command @returns the exit code */
export async function runCoreDns(words: readonly string[]): Promise<number> {
  const command = readCoreDnsFlags(words);
  switch (command.kind) {
    case 'end':
      process.stderr.write(command.text);
      return command.exitCode;
    case 'version':
      process.stdout.write(corednsBanner());
      return 0;
    case 'plugins':
      process.stdout.write(listPlugins());
      return 0;
    case 'run':
      return await serveCorefile(command);
  }
}

/** What a program around the server does in step with it. */
export interface ServingSteps {
  /** Called once queries are answered. */
  serving(): void;
  /** Called when the server is about to stop, and when it has stopped. */
  stopping(): Promise<void>;
  stopped(): Promise<void>;
}

const NO_STEPS: ServingSteps = { serving() {}, async stopping() {}, async stopped() {} };

/** Serves a Corefile until a signal comes. @returns the exit code */
export async function serveCorefile(command: RunPlan, steps: ServingSteps = NO_STEPS): Promise<number> {
  try {
    const corefile = loadCorefile(command.conf);
    const reading = read(corefile, command);
    for (const { message } of reading.warnings)
      if (message !== undefined) process.stdout.write(`[WARNING] ${message}\n`);
    if (reading.kind === 'bad') {
      for (const problem of reading.problems) process.stderr.write(`${describeCorefileProblem(problem)}\n`);
      return 1;
    }
    return await runUntilStopped(command, reading, steps);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

function read({ file, text }: CorefileText, { port }: RunPlan): CorefileReading {
  return readCorefile(text, {
    file,
    profile: '1.14',
    defaultPort: Number(port),
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
}

async function runUntilStopped(
  { isQuiet }: RunPlan,
  { blocks }: GoodReading,
  steps: ServingSteps,
): Promise<number> {
  const write = (text: string) => void process.stdout.write(text);
  const isDebug = blocks.some(({ plugins }) => plugins.some(({ name }) => name === 'debug'));
  const log = createCoreDnsLog({ isDebug, write });
  const announce = () => {
    if (!isQuiet) write([...startLines(blocks), corednsBanner()].join('\n'));
  };
  const frontEnd = new CoreDnsFrontEnd({ plan: compileCorefile(blocks), onServing: announce });
  const server = new Server(frontEnd, serverDependencies(log));
  const stopped = new Promise<void>((resolve) => onStopSignal(() => resolve()));
  // Timers alone keep no process alive.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await server.start();
    steps.serving();
    await stopped;
    await steps.stopping();
  } finally {
    clearInterval(hold);
    await server.stop();
    await steps.stopped();
  }
  return 0;
}

/** The version that is stood in for, and ours. */
export function corednsBanner(): string {
  const { platform, arch, version } = process;
  const machine = arch === 'x64' ? 'amd64' : arch;
  return `CoreDNS-${COREDNS_VERSION}\n${platform}/${machine}, portolan-${VERSION}, node ${version}\n`;
}

export function listPlugins(): string {
  const names = [...pluginOrder('1.14')].sort().map((name) => `  dns.${name}\n`);
  return `Server types:\n  dns\n\nCaddyfile loaders:\n  flag\n  default\n\nOther plugins:\n${names.join('')}`;
}
