/**
 * Load by dnsperf: many clients on one thread with a given number of questions outstanding, as fast as the server answers or
 * at a given rate. Also measures the processor time of the server meanwhile.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readThreadTimes, sumTimes, type ThreadTimes, timesBetween } from './processor-time.ts';

const CLIENTS = 16;
/** Connections are fewer and carry more. */
const CONNECTIONS = 4;
const OUTSTANDING = 400;
const MICROSECONDS_PER_SECOND = 1e6;

export interface Load {
  readonly port: number;
  /** Path of the questions, `name type` per line. */
  readonly questions: string;
  readonly seconds: number;
  /** Queries a second at most; as many as the server answers if undefined. */
  readonly rate?: number;
  readonly outstanding?: number;
  /** Default: UDP from 16 sockets. */
  readonly transport?: 'dot';
  /** An EDNS option of each query, `code:data` in hexadecimal digits; empty: OPT without options. Default: no OPT. */
  readonly option?: string | undefined;
}

/** What dnsperf saw. */
export interface LoadReport {
  readonly completed: number;
  readonly lost: number;
  readonly queriesPerSecond: number;
  /** Microseconds from question to answer, on average. */
  readonly latency: number;
  /** Shares of the answers in percent, by response code. */
  readonly rcodes: Readonly<Record<string, number>>;
}

/** What it saw, and the processor time that the server took for it. */
export interface Cost extends LoadReport {
  /** Microseconds of the whole process, per completed query. */
  readonly perQuery: number;
  /** Microseconds of each thread, in all. */
  readonly threads: ThreadTimes;
}

export class DnsperfError extends Error {
  override readonly name = 'DnsperfError';
}

/** @throws DnsperfError where dnsperf is missing, fails, or says what we do not understand */
export async function measureCost(pid: number, load: Load): Promise<Cost> {
  const before = readThreadTimes(pid);
  const report = await putLoad(load);
  const threads = timesBetween(before, readThreadTimes(pid));
  return { ...report, threads, perQuery: sumTimes(threads) / report.completed };
}

/** @throws DnsperfError as `measureCost` does */
export async function putLoad(load: Load): Promise<LoadReport> {
  const { port, questions, seconds, rate, outstanding = OUTSTANDING, transport, option } = load;
  const limit = rate === undefined ? [] : ['-Q', String(rate)];
  const mode = transport === undefined ? [] : ['-m', transport];
  const edns = option === undefined ? [] : option === '' ? ['-e'] : ['-E', option];
  const flags = [
    '-l',
    String(seconds),
    '-c',
    String(transport === undefined ? CLIENTS : CONNECTIONS),
    '-T',
    '1',
    '-q',
    String(outstanding),
    ...limit,
    ...mode,
    ...edns,
  ];
  const target = ['-s', '127.0.0.1', '-p', String(port), '-d', questions];
  return parseReport(await runDnsperf([...target, ...flags]));
}

async function runDnsperf(args: readonly string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('dnsperf', args);
    return stdout;
  } catch (error) {
    const { code, stderr } = error as NodeJS.ErrnoException & { stderr?: string }; // What execFile rejects with.
    if (code === 'ENOENT') throw new DnsperfError('dnsperf not found: install the package dnsperf');
    throw new DnsperfError(`dnsperf failed: ${stderr ?? code}`);
  }
}

/** @throws DnsperfError where a figure is missing */
export function parseReport(text: string): LoadReport {
  const figure = (title: string): number => {
    const value = new RegExp(`^\\s*${title}:\\s+([0-9.]+)`, 'm').exec(text)?.[1];
    if (value === undefined) throw new DnsperfError(`dnsperf did not report "${title}": ${text.slice(-500)}`);
    return Number(value);
  };
  const codes = /^\s*Response codes:\s+(.*)$/m.exec(text)?.[1] ?? '';
  const shares = [...codes.matchAll(/(\w+) \d+ \(([0-9.]+)%\)/g)];
  return {
    completed: figure('Queries completed'),
    lost: figure('Queries lost'),
    queriesPerSecond: figure('Queries per second'),
    latency: figure('Average Latency \\(s\\)') * MICROSECONDS_PER_SECOND,
    rcodes: Object.fromEntries(shares.map(([, code = '', percent]) => [code, Number(percent)])),
  };
}
