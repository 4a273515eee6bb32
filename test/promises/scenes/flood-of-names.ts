/**
 * One client asks for 12,000 random names a second, another for one name at a time.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Role, startRole } from '../../support/roles.ts';
import { type AskedBeside, startFlood, startUpstreamThread } from '../flood.ts';
import type { FloodPlan } from '../flood-plan.ts';

const PER_SECOND = 12_000;
const WARM_MILLISECONDS = 1_000;
const IN_TIME_MILLISECONDS = 100;
/** Questions of the other client, and the longest time for them on a busy machine. */
const ASKED = 150;
const MAX_MILLISECONDS = 6_000;
const LOOK_MILLISECONDS = 100;

export async function floodWith(role: Role, type: FloodPlan['type']): Promise<Record<string, number>> {
  const upstream = await startUpstreamThread();
  const { program, port } = await startRole(role, { upstream: upstream.port });
  const domains = { domain: 'flood.test', otherDomain: 'other.test' };
  const flood = await startFlood({
    port,
    pid: program.process.pid ?? 0,
    type,
    perSecond: PER_SECOND,
    ...domains,
  });
  await sleep(WARM_MILLISECONDS);
  const { length } = flood.asked;
  const end = performance.now() + MAX_MILLISECONDS;
  while (flood.asked.length < length + ASKED && performance.now() < end) await sleep(LOOK_MILLISECONDS);
  const asked = flood.asked.slice(length);
  await flood.stop();
  await upstream.stop();
  return { behind: computeMedian(asked.map(({ behind }) => behind)), inTime: shareInTime(asked) };
}

/** In percent. One late answer says nothing where a busy machine lets few questions pass. */
function shareInTime(asked: readonly AskedBeside[]): number {
  const late = asked.filter(({ milliseconds }) => milliseconds > IN_TIME_MILLISECONDS).length;
  return 100 * (1 - Math.max(0, late - 1) / Math.max(1, asked.length));
}

function computeMedian(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.POSITIVE_INFINITY;
}
