/**
 * Asks several servers at once, for one question.
 */
import { type Answer, type Query, toWhole, type Upstream } from '@portolan/plugin';
import type { FanoutOptions } from './options.ts';

/** Milliseconds between two tries of a server. */
const PAUSE = 100;

export interface WeightedUpstream {
  readonly upstream: Upstream;
  readonly weight: number;
}

export type FanResult =
  | { readonly kind: 'answer'; readonly answer: Answer }
  /** No server has answered. `reason`: the error of the last one. */
  | { readonly kind: 'failed'; readonly reason: string };

export type FanSettings = Pick<FanoutOptions, 'workers' | 'policy' | 'serverCount' | 'attempts' | 'isRace'>;

/**
 * The servers for one question, in the order in which they are asked.
 *
 * @param random numbers from 0 to below 1
 */
export function chooseServers(
  servers: readonly WeightedUpstream[],
  { policy, serverCount = servers.length }: FanSettings,
  random: () => number,
): readonly Upstream[] {
  if (policy === 'sequential') return servers.map(({ upstream }) => upstream);
  const left = [...servers];
  const chosen: Upstream[] = [];
  while (chosen.length < serverCount && left.length > 0) {
    let rest = random() * left.reduce((sum, { weight }) => sum + weight, 0);
    const found = left.findIndex(({ weight }) => {
      rest -= weight;
      return rest < 0;
    });
    const [picked] = left.splice(found < 0 ? left.length - 1 : found, 1);
    if (picked !== undefined) chosen.push(picked.upstream);
  }
  return chosen;
}

/**
 * The first reply with NOERROR; in a race, the first reply. Without one, the first reply of another code.
 *
 * @param signal ends it: with the best reply so far
 */
export async function fan(
  query: Query,
  servers: readonly Upstream[],
  { workers = servers.length, attempts, isRace }: FanSettings,
  signal: AbortSignal,
): Promise<FanResult> {
  const over = new AbortController();
  let best: FanResult = { kind: 'failed', reason: 'no reply in time' };
  const waiting = [...servers];
  const isGood = (answer: Answer) => isRace || (answer.kind !== 'drop' && toWhole(answer).rcode === 0);
  const work = async () => {
    for (
      let server = waiting.shift();
      server !== undefined && !over.signal.aborted;
      server = waiting.shift()
    ) {
      const result = await askServer(server, query, attempts, over.signal);
      if (over.signal.aborted) return;
      if (best.kind === 'failed') best = result;
      if (result.kind === 'failed' || !isGood(result.answer)) continue;
      best = result;
      over.abort();
    }
  };
  const ended = new Promise<void>((resolve) => {
    if (signal.aborted) over.abort();
    signal.addEventListener('abort', () => over.abort(), { once: true, signal: over.signal });
    over.signal.addEventListener('abort', () => resolve(), { once: true });
    if (over.signal.aborted) resolve();
  });
  await Promise.race([Promise.all(Array.from({ length: workers }, work)), ended]);
  const found = best;
  // Ends pauses, and the wait for `signal`.
  over.abort();
  return found;
}

/** @param attempts 0: any number */
async function askServer(
  server: Upstream,
  query: Query,
  attempts: number,
  signal: AbortSignal,
): Promise<FanResult> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return { kind: 'answer', answer: await server.ask(query) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (attempt === attempts)
        return { kind: 'failed', reason: `attempt limit has been reached: ${reason}` };
      await pause(signal);
      if (signal.aborted) return { kind: 'failed', reason };
    }
  }
}

function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, PAUSE);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
