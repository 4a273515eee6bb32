/**
 * Plugins that others compile into CoreDNS, and what to use in their place.
 */
const UNBOUND = 'Run Unbound beside it, and ask it by forward, as in forward . 127.0.0.1:5335.';
const DATABASE =
  'Write its records to zone files, in a sidecar for one, and serve them by auto, which follows their changes.';
const BLOCK_LIST = 'Use ads, which comes with Portolan as a package: add --plugin=ads=@portolan/ads.';
const RATE_LIMIT = 'Use rrl, which comes with Portolan as a package: add --plugin=rrl=@portolan/rrl.';

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ...['unbound', 'recursor'].map((name) => [name, UNBOUND] as const),
  ...['git', 'mysql', 'netbox', 'pdsql', 'redis', 'rqlite', 'sqlite'].map(
    (name) => [name, DATABASE] as const,
  ),
  ...['adblock', 'blocklist', 'filter'].map((name) => [name, BLOCK_LIST] as const),
  ['ratelimit', RATE_LIMIT],
  ['dump', 'Use log, which has a line for each query.'],
]);

/** What to use in place of a plugin; undefined: it is not known here. */
export function remedyForForeign(plugin: string): string | undefined {
  return REMEDIES.get(plugin);
}
