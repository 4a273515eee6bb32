/**
 * Commands in place of other programs: they read their words, and end with exit codes, as those do.
 */
type RunWords = (words: readonly string[]) => Promise<number>;

export interface Replacement {
  /** What it does, for the list of commands. */
  readonly means: string;
  readonly load: () => Promise<RunWords>;
}

/** By the command's name. */
export const REPLACEMENTS: Readonly<Record<string, Replacement>> = {
  'kube-dns': {
    means: 'serve the zone of a cluster as kube-dns does, with its flags',
    load: async () => (await import('./kube-dns.ts')).runKubeDns,
  },
  dnsmasq: {
    means: "resolve names with dnsmasq's options",
    load: async () => (await import('./dnsmasq.ts')).runDnsmasq,
  },
  'dnsmasq-nanny': {
    means: 'the same, following the ConfigMap of kube-dns in a folder',
    load: async () => (await import('./dnsmasq-nanny.ts')).runDnsmasqNanny,
  },
  sidecar: {
    means: 'probe DNS servers, and tell of them and of dnsmasq by HTTP',
    load: async () => (await import('./sidecar.ts')).runSidecar,
  },
  healthz: {
    means: 'run commands, and tell by HTTP whether they succeed',
    load: async () => (await import('./healthz.ts')).runHealthz,
  },
};
