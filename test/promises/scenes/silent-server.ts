/**
 * One client asks for 8,000 random names a second in a zone whose server says nothing, another for names of other zones.
 */

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Program } from '@portolan/testing/program.ts';
import { onTestFinished } from 'vitest';
import { type Role, startRole } from '../../support/roles.ts';
import { startFlood, startUpstreamThread } from '../flood.ts';

const PER_SECOND = 8_000;
/** More than the server takes to find that the other one is down. */
const SECONDS = 8;

export async function askSilentServer(role: Role): Promise<Record<string, number>> {
  const upstream = await startUpstreamThread();
  const silent = createSocket('udp4');
  onTestFinished(() => void silent.close());
  silent.bind(0, '127.0.0.1');
  await once(silent, 'listening');
  const { program, port } = await startRole(role, {
    upstream: upstream.port,
    silent: silent.address().port,
  });
  const before = countLines(program);
  const domains = { domain: 'silent.test', otherDomain: 'other.test' };
  const flood = await startFlood({
    port,
    pid: program.process.pid ?? 0,
    type: 'A',
    perSecond: PER_SECOND,
    ...domains,
  });
  let megabytes = 0;
  for (let second = 0; second < SECONDS; second += 1) {
    await sleep(1_000);
    megabytes = Math.max(megabytes, readResident(program));
  }
  const { asked } = flood;
  await flood.stop();
  await upstream.stop();
  const answered = asked.filter(({ milliseconds }) => milliseconds < Number.POSITIVE_INFINITY).length;
  return {
    answered: (100 * answered) / Math.max(1, asked.length),
    lines: countLines(program) - before,
    megabytes,
  };
}

const countLines = ({ errors, output }: Program): number => (errors + output).split('\n').length;

function readResident({ process: { pid } }: Program): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
