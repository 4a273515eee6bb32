/**
 * The latency of each single answer, from the verbose output of dnsperf.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DnsperfError, type Load, parseReport } from './dnsperf.ts';

const CLIENTS = 16;
const MICROSECONDS_PER_SECOND = 1e6;
/** A line for each query. */
const MAX_OCTETS_PRINTED = 256 << 20;

export interface Latencies {
  /** Microseconds, of each query that was answered. */
  readonly latencies: readonly number[];
  readonly lost: number;
}

/** @throws DnsperfError where dnsperf is missing, fails, or says what we do not understand */
export async function measureLatencies(load: Load & { readonly rate: number }): Promise<Latencies> {
  const { port, questions, seconds, rate } = load;
  const target = ['-s', '127.0.0.1', '-p', String(port), '-d', questions];
  const flags = ['-l', String(seconds), '-c', String(CLIENTS), '-T', '1', '-Q', String(rate), '-v'];
  const { stdout } = await promisify(execFile)('dnsperf', [...target, ...flags], {
    maxBuffer: MAX_OCTETS_PRINTED,
  });
  const { completed, lost } = parseReport(stdout);
  const lines = stdout.matchAll(/^> NOERROR \S+ \S+ ([0-9.]+)$/gm);
  const latencies = [...lines].map(([, seconds]) => Number(seconds) * MICROSECONDS_PER_SECOND);
  if (latencies.length !== completed)
    throw new DnsperfError(`not all answers are right: ${latencies.length} of ${completed} are NOERROR`);
  return { latencies, lost };
}
