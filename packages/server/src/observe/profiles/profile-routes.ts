/**
 * `/debug/pprof/`: profiles of the main thread over HTTP, at the paths of Go's package net/http/pprof.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '../http-route.ts';
import { encodeProfile, type ProfileData } from './profile-message.ts';

/** Takes a profile until `wait` resolves with the current time, in milliseconds since the epoch. */
export type TakeProfile = (wait: () => Promise<number>) => Promise<ProfileData>;

export interface ProfileRoutesOptions {
  readonly clock: Clock;
  /** Default: V8's profiler. */
  readonly takeCpu?: TakeProfile;
  readonly takeHeap?: TakeProfile;
}

const ROOT = '/debug/pprof';
const BINARY = 'application/octet-stream';
/** Seconds. The CPU default is that of Go's package; a heap profile is sampled, so it takes time too. */
const DEFAULT_SECONDS = { profile: 30, heap: 5 } as const;
/** One client must not keep the profiler for long: others wait for its profile. */
const MAX_SECONDS = 60;
/** Profiles that Go has but V8 lacks. */
const MISSING = ['block', 'goroutine', 'mutex', 'symbol', 'threadcreate', 'trace'] as const;

/** Loaded at first use. */
const fromV8 = () => import('./v8-profiles.ts');

/** The routes by path. */
export function profileRoutes({
  clock,
  takeCpu = async (wait) => (await fromV8()).profileCpu(wait),
  takeHeap = async (wait) => (await fromV8()).profileHeap(wait),
}: ProfileRoutesOptions): ReadonlyMap<string, HttpRoute> {
  const taking = new Map<string, Promise<HttpReply>>();
  const takeFor = async (seconds: number, take: TakeProfile): Promise<HttpReply> => {
    const wait = () =>
      new Promise<number>((resolve) => void clock.after(seconds * 1000, () => resolve(clock.now())));
    return { status: 200, type: BINARY, body: await encodeProfile(await take(wait)) };
  };
  const route =
    (name: 'profile' | 'heap', take: TakeProfile): HttpRoute =>
    async (query) => {
      const seconds = readSeconds(query.get('seconds'), DEFAULT_SECONDS[name]);
      if (seconds === undefined)
        return text(400, `seconds: not a number from 1 to ${MAX_SECONDS}: ${query.get('seconds')}\n`);
      // All who ask while one is taken get that one.
      const running = taking.get(name) ?? takeFor(seconds, take).finally(() => taking.delete(name));
      taking.set(name, running);
      return await running;
    };
  const heap = route('heap', takeHeap);
  return new Map<string, HttpRoute>([
    [`${ROOT}/`, () => text(200, INDEX)],
    [`${ROOT}/cmdline`, () => text(200, process.argv.join('\0'))],
    [`${ROOT}/profile`, route('profile', takeCpu)],
    [`${ROOT}/heap`, heap],
    [`${ROOT}/allocs`, heap],
    ...MISSING.map((name): [string, HttpRoute] => [
      `${ROOT}/${name}`,
      () => text(501, `${name}: V8 has no such profile\n`),
    ]),
  ]);
}

const INDEX = `${ROOT}/

Profiles of the main thread, for go tool pprof:

${ROOT}/profile?seconds=30
${ROOT}/heap?seconds=5
${ROOT}/cmdline
`;

function readSeconds(given: string | null, otherwise: number): number | undefined {
  if (given === null) return otherwise;
  const seconds = Number(given);
  return seconds >= 1 && seconds <= MAX_SECONDS ? seconds : undefined;
}

function text(status: number, body: string): HttpReply {
  return { status, type: PLAIN_TEXT, body };
}
