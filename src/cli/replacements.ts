/**
 * Commands in place of other programs: they parse their own arguments, and end with exit codes, as those programs do.
 */
import type { CommandName } from './command-summaries.ts';

/** Runs a command. @param words what stands behind its name @returns the exit code */
type RunCommand = (words: readonly string[]) => Promise<number>;

/** How each is loaded, by the command's name. */
export const REPLACEMENTS = {
  'kube-dns': async () => (await import('./kube-dns.ts')).runKubeDns,
  coredns: async () => (await import('./coredns.ts')).runCoreDns,
  'node-cache': async () => (await import('./node-cache.ts')).runNodeCache,
  dnsmasq: async () => (await import('./dnsmasq.ts')).runDnsmasq,
  'dnsmasq-nanny': async () => (await import('./dnsmasq-nanny.ts')).runDnsmasqNanny,
  skydns: async () => (await import('./skydns.ts')).runSkyDns,
  sidecar: async () => (await import('./sidecar.ts')).runSidecar,
  healthz: async () => (await import('./healthz.ts')).runHealthz,
  kube2sky: async () => (await import('./kube2sky.ts')).runKube2Sky,
  autoscaler: async () => (await import('./autoscaler.ts')).runAutoscaler,
} as const satisfies Partial<Readonly<Record<CommandName, () => Promise<RunCommand>>>>;

/** @returns nothing for other words */
export async function loadReplacement(name: string): Promise<RunCommand | undefined> {
  const replacements: Readonly<Record<string, () => Promise<RunCommand>>> = REPLACEMENTS;
  return Object.hasOwn(replacements, name) ? await replacements[name]?.() : undefined;
}
