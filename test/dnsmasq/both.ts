/**
 * The real dnsmasq and ours, with the same command line, side by side.
 */
import type { ChildProcess } from 'node:child_process';
import { rcodeName } from '@portolan/dns/mnemonics.ts';
import { presentRecord } from '@portolan/dns/present.ts';
import type { Message, ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { type AskOptions, ask } from '@portolan/testing/client/ask.ts';
import { Program } from '@portolan/testing/program.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

export interface Side {
  readonly address: string;
  readonly port: number;
  /** All that it has said. */
  said(): string;
  signal(signal: NodeJS.Signals): void;
  readonly process: ChildProcess;
  readonly program: Program;
}

export interface Both {
  readonly real: Side;
  readonly ours: Side;
  stop(): Promise<void>;
}

/** What keeps each to its test. */
const HERE = ['-k', '--pid-file=', '--log-facility=-'];
/** And to this machine. */
const ON_LOOPBACK = ['--listen-address=127.0.0.1', '--bind-interfaces'];
const AS_WE_ARE = ['--user=', '--group='];

/**
 * @param words of both; `SIDE` in them becomes what `sides` says
 */
export async function runBoth(
  words: readonly string[],
  sides: { readonly real: string | number; readonly ours: string | number } = { real: 'real', ours: 'ours' },
): Promise<Both> {
  const replaceSide = (side: string | number) => words.map((word) => word.replaceAll('SIDE', String(side)));
  const [real, ours] = await Promise.all([
    runReal(replaceSide(sides.real)),
    runOurs(replaceSide(sides.ours)),
  ]);
  return {
    real,
    ours,
    async stop() {
      await Promise.all([real, ours].map((side) => side.program.end()));
    },
  };
}

const running = new Set<Program>();

/** For `afterEach` and `afterAll`: no test leaves a process behind, on either side. */
export async function endAllSides(): Promise<void> {
  await Promise.all([endAllPrograms(), ...[...running].map((program) => program.end())]);
  running.clear();
}

export async function runReal(words: readonly string[]): Promise<Side> {
  const port = await findFreePort();
  const command = ['dnsmasq', ...HERE, ...ON_LOOPBACK, ...AS_WE_ARE, `--port=${port}`, ...words];
  const program = new Program(command, { environment: { ...process.env, LC_ALL: 'C.UTF-8' } });
  running.add(program);
  return await whenUp(program, port);
}

export interface OurOptions {
  readonly listens?: 'everywhere';
  /** Whom to become; it stays who it is otherwise. */
  readonly user?: string;
  readonly group?: string;
}

/** @param words `PORT` in them becomes the server's own */
export async function runOurs(words: readonly string[], options: OurOptions = {}): Promise<Side> {
  const { listens, user = '', group = '' } = options;
  const port = await findFreePort();
  const where = listens === 'everywhere' ? [] : ON_LOOPBACK;
  const own = words.map((word) => word.replaceAll('PORT', String(port)));
  const program = runPortolan([
    'dnsmasq',
    ...HERE,
    ...where,
    `--user=${user}`,
    `--group=${group}`,
    `--port=${port}`,
    ...own,
  ]);
  return await whenUp(program, port);
}

async function whenUp(program: Program, port: number): Promise<Side> {
  // By then its sockets are open.
  const isUp = () => /started, version/.test(program.errors);
  await waitUntil('a server to start', () => isUp() || program.process.exitCode !== null, {
    deadline: 15_000,
  });
  if (!isUp()) throw new Error(`it does not run: ${program.errors}`);
  return {
    address: '127.0.0.1',
    port,
    said: () => program.errors,
    signal: (signal) => program.signal(signal),
    process: program.process,
    program,
  };
}

export type Question = readonly [name: string, type: keyof typeof TYPE];

export interface Heard {
  /** The response code, or `no answer`. */
  readonly status: string;
  readonly isAuthoritative: boolean;
  readonly isCut: boolean;
  /** Those of the answer section, in lower case and without TTLs, sorted; none where the answer is cut. */
  readonly records: readonly string[];
  /** Seconds, in the order of the records. */
  readonly ttls: readonly number[];
}

const SILENCE: Heard = { status: 'no answer', isAuthoritative: false, isCut: false, records: [], ttls: [] };

export async function hear(side: Side, [name, type]: Question, options: AskOptions = {}): Promise<Heard> {
  try {
    return describe(await ask(side, name, type, options));
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('no answer')) return SILENCE;
    throw error;
  }
}

function describe({ header, answers }: Message): Heard {
  const present = (record: ResourceRecord) => presentRecord({ ...record, ttl: 0 }).toLowerCase();
  // Cut answers hold what fits, and which records those are is not specified.
  const told = header.truncated ? [] : answers.map((record) => ({ text: present(record), ttl: record.ttl }));
  told.sort((one, other) => (one.text < other.text ? -1 : 1));
  return {
    status: rcodeName(header.rcode),
    isAuthoritative: header.authoritative,
    isCut: header.truncated,
    records: told.map(({ text }) => text),
    ttls: told.map(({ ttl }) => ttl),
  };
}

/** Whether both say the same; TTLs may have counted down a little. */
export function isSame(real: Heard, ours: Heard): boolean {
  const { ttls: realTtls, ...realRest } = real;
  const { ttls, ...rest } = ours;
  return (
    JSON.stringify(realRest) === JSON.stringify(rest) &&
    ttls.every((ttl, index) => Math.abs(ttl - (realTtls[index] ?? 0)) <= 2)
  );
}
