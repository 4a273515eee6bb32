/**
 * Probes as by the kubelet: a periodic HTTP request; any status from 200 to 399 means healthy.
 */

/** What kubelet looks at, by a name that tests use: `kubedns liveness`. */
export type Probes = Readonly<Record<string, string>>;

const PERIOD = 100;
const TIMEOUT = 5_000;

/** What a probe hears, if anything. */
export async function fetchStatus(url: string): Promise<number | undefined> {
  try {
    const { status, body } = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
    await body?.cancel();
    return status;
  } catch {
    // No server is there, or it does not answer.
    return undefined;
  }
}

async function isHealthy(url: string): Promise<boolean> {
  const status = await fetchStatus(url);
  return status !== undefined && status >= 200 && status < 400;
}

/**
 * Waits until these probes are healthy, or are not, all at the same time.
 *
 * @param alive throws if waiting is in vain
 */
export async function untilProbes(
  probes: Probes,
  state: 'healthy' | 'unhealthy',
  { deadline = 60_000, alive = () => {} }: { readonly deadline?: number; readonly alive?: () => void } = {},
): Promise<void> {
  const end = performance.now() + deadline;
  for (;;) {
    const entries = Object.entries(probes);
    const found = await Promise.all(entries.map(async ([name, url]) => ({ name, ok: await isHealthy(url) })));
    const others = found.filter(({ ok }) => ok !== (state === 'healthy')).map(({ name }) => name);
    if (others.length === 0) return;
    alive();
    if (performance.now() > end) throw new Error(`not ${state} in time: ${others.join(', ')}`);
    await new Promise((resolve) => setTimeout(resolve, PERIOD));
  }
}

/** Those of the probes that have one of these names. */
export function pick(probes: Probes, names: readonly string[]): Probes {
  return Object.fromEntries(Object.entries(probes).filter(([name]) => names.includes(name)));
}
