/**
 * Profiles of the main thread from V8: CPU time and heap memory.
 */
import type { HeapProfiler, Profiler, Session } from 'node:inspector/promises';
import type { Frame, ProfileData, ProfileSample } from './profile-message.ts';

/** Octets of allocations between samples, V8's default. */
const HEAP_INTERVAL = 32_768;

/** Loaded at first use: the inspector takes memory. */
async function openSession(): Promise<Session> {
  const inspector = await import('node:inspector/promises');
  const session = new inspector.Session();
  session.connect();
  return session;
}

/** @param wait resolves at the end of the profile with the current time, in milliseconds since the epoch */
export async function profileCpu(wait: () => Promise<number>): Promise<ProfileData> {
  const session = await openSession();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    const time = await wait();
    const { profile } = await session.post('Profiler.stop');
    return readCpuProfile(profile, time);
  } finally {
    session.disconnect();
  }
}

/** @param wait as in `profileCpu`; the profile shows memory allocated until then and still in use */
export async function profileHeap(wait: () => Promise<number>): Promise<ProfileData> {
  const session = await openSession();
  try {
    await session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL });
    const time = await wait();
    const { profile } = await session.post('HeapProfiler.stopSampling');
    return readHeapProfile(profile, time);
  } finally {
    session.disconnect();
  }
}

/** @param time the end of the profile, in milliseconds since the epoch */
export function readCpuProfile(profile: Profiler.Profile, time: number): ProfileData {
  const { nodes, samples = [], timeDeltas = [], startTime, endTime } = profile;
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const spent = new Map<number, { count: number; microseconds: number }>();
  for (const [index, id] of samples.entries()) {
    const sum = spent.get(id) ?? { count: 0, microseconds: 0 };
    sum.count += 1;
    sum.microseconds += timeDeltas[index] ?? 0;
    spent.set(id, sum);
  }
  const readStack = (id: number): readonly Frame[] => {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at);
      if (node !== undefined && node.callFrame.functionName !== '(root)') stack.push(toFrame(node.callFrame));
    }
    return stack;
  };
  const duration = (endTime - startTime) / 1000;
  const period = samples.length === 0 ? 0 : ((endTime - startTime) * 1000) / samples.length;
  return {
    types: [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ],
    samples: [...spent]
      // Leave out the idle thread.
      .filter(([id]) => byId.get(id)?.callFrame.functionName !== '(idle)')
      .map(([id, { count, microseconds }]) => ({
        stack: readStack(id),
        values: [count, microseconds * 1000],
      })),
    time: time - duration,
    duration,
    period,
  };
}

export function readHeapProfile({ head }: HeapProfiler.SamplingHeapProfile, time: number): ProfileData {
  const octets = new Map<number, { size: number; stack: readonly Frame[] }>();
  const walk = (
    { callFrame, children, selfSize }: HeapProfiler.SamplingHeapProfileNode,
    outer: readonly Frame[],
  ) => {
    const stack = callFrame.functionName === '(root)' ? outer : [toFrame(callFrame), ...outer];
    if (selfSize > 0) octets.set(octets.size, { size: selfSize, stack });
    for (const child of children) walk(child, stack);
  };
  walk(head, []);
  const samples = [...octets.values()].map(({ size, stack }): ProfileSample => ({ stack, values: [size] }));
  return { types: [['inuse_space', 'bytes']], samples, time, duration: 0, period: HEAP_INTERVAL };
}

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  /** From 0. */
  readonly lineNumber: number;
}

function toFrame({ functionName, url, lineNumber }: CallFrame): Frame {
  return { name: functionName === '' ? '(anonymous)' : functionName, file: url, line: lineNumber + 1 };
}
