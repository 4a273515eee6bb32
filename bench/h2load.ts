/**
 * Load of DNS over HTTPS by h2load of nghttp2: one question, by POST, over connections with many streams each.
 *
 * Not by dnsperf: to version 2.10, it leaves all responses of a TLS record but the first unread until more octets come.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import type { LoadReport } from './dnsperf.ts';

const CLIENTS = 4;
const STREAMS = 32;
const MICROSECONDS: Readonly<Record<string, number>> = { us: 1, ms: 1000, s: 1e6 };

export class H2loadError extends Error {
  override readonly name = 'H2loadError';
}

export interface HttpLoad {
  readonly port: number;
  /** Path of the body of each request: a query as octets. */
  readonly query: string;
  readonly seconds: number;
}

/** @returns the path of the query, in the folder */
export async function saveQuery(folder: string, query: Uint8Array): Promise<string> {
  const path = join(folder, 'query');
  await writeFile(path, query);
  return path;
}

/** @throws H2loadError where h2load fails, or says what we do not understand */
export async function putHttpLoad({ port, query, seconds }: HttpLoad): Promise<LoadReport> {
  const form = ['-H', 'content-type: application/dns-message', '-d', query];
  const load = ['-D', String(seconds), '-c', String(CLIENTS), '-m', String(STREAMS)];
  try {
    const { stdout } = await promisify(execFile)('h2load', [
      ...form,
      ...load,
      `https://localhost:${port}/dns-query`,
    ]);
    return parseHttpReport(stdout);
  } catch (error) {
    if (error instanceof H2loadError) throw error;
    throw new H2loadError(`h2load failed: ${describeError(error)}`);
  }
}

/** @throws H2loadError where a figure is missing */
export function parseHttpReport(text: string): LoadReport {
  const find = (pattern: RegExp): RegExpExecArray => {
    const found = pattern.exec(text);
    if (found === null) throw new H2loadError(`h2load did not report ${pattern}: ${text.slice(-500)}`);
    return found;
  };
  const [, rate] = find(/^finished in [^,]+, ([0-9.]+) req\/s/m);
  const [, failed, errored, timedOut] = find(/(\d+) failed, (\d+) errored, (\d+) timeout/);
  const [, right, ...wrong] = find(/^status codes: (\d+) 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx/m);
  const [, mean, unit = ''] = find(/^time for request:\s+\S+\s+\S+\s+([0-9.]+)(us|ms|s)\s/m);
  return {
    completed: Number(right),
    lost: [failed, errored, timedOut, ...wrong].reduce((sum, count) => sum + Number(count), 0),
    queriesPerSecond: Number(rate),
    latency: Number(mean) * (MICROSECONDS[unit] ?? Number.NaN),
    rcodes: {},
  };
}
