/**
 * The releases of CoreDNS that a migration knows, and the plugins and options that the migration tool of CoreDNS knows in each.
 *
 * Source: github.com/coredns/corefile-migration 1.0.31, which ends with 1.14.2. The releases after it have changed no default.
 */

/** In order. 1.6.8, 1.8.1, 1.8.2 and 1.11.2 had no image. */
export const RELEASES: readonly string[] = [
  '1.1.3',
  '1.1.4',
  '1.2.0',
  '1.2.1',
  '1.2.2',
  '1.2.3',
  '1.2.4',
  '1.2.5',
  '1.2.6',
  '1.3.0',
  '1.3.1',
  '1.4.0',
  '1.5.0',
  '1.5.1',
  '1.5.2',
  '1.6.0',
  '1.6.1',
  '1.6.2',
  '1.6.3',
  '1.6.4',
  '1.6.5',
  '1.6.6',
  '1.6.7',
  '1.6.9',
  '1.7.0',
  '1.7.1',
  '1.8.0',
  '1.8.3',
  '1.8.4',
  '1.8.5',
  '1.8.6',
  '1.8.7',
  '1.9.0',
  '1.9.1',
  '1.9.2',
  '1.9.3',
  '1.9.4',
  '1.10.0',
  '1.10.1',
  '1.11.0',
  '1.11.1',
  '1.11.3',
  '1.11.4',
  '1.12.0',
  '1.12.1',
  '1.12.2',
  '1.12.3',
  '1.12.4',
  '1.13.0',
  '1.13.1',
  '1.13.2',
  '1.14.0',
  '1.14.1',
  '1.14.2',
  '1.14.3',
  '1.14.4',
  '1.14.5',
  '1.14.6',
  '1.14.7',
];

/** A range of releases: `1.5.0-1.5.2`; `1.5.0-` has no end, `-1.5.0` no start, `-` is all. */
type ReleaseRange = string;

interface KnownPlugin {
  readonly in: ReleaseRange;
  readonly options: Readonly<Record<string, ReleaseRange>>;
}

const PLUGINS: ReadonlyMap<string, KnownPlugin> = new Map(
  Object.entries({
    autopath: { in: '-', options: {} },
    cache: {
      in: '-',
      options: {
        denial: '-',
        success: '-',
        prefetch: '-',
        disable: '1.9.4-',
        servfail: '1.9.4-',
        keepttl: '1.10.1-',
        serve_stale: '1.6.6-',
      },
    },
    errors: { in: '-', options: { consolidate: '1.2.6-', stacktrace: '1.9.3-' } },
    forward: {
      in: '-',
      options: {
        except: '-',
        expire: '-',
        force_tcp: '-',
        health_check: '-',
        max_fails: '-',
        policy: '-',
        tls: '-',
        tls_servername: '-',
        prefer_udp: '1.2.0-',
        max_concurrent: '1.6.9-',
        next: '1.11.4-',
        failfast_all_unhealthy_upstreams: '1.12.0-',
      },
    },
    health: { in: '-', options: { lameduck: '-' } },
    hosts: { in: '-', options: { fallthrough: '-', no_reverse: '-', reload: '-', ttl: '-' } },
    k8s_external: { in: '1.3.0-', options: { apex: '-', ttl: '-', fallthrough: '1.11.0-' } },
    kubernetes: {
      in: '-',
      options: {
        endpoint: '-',
        endpoint_pod_names: '-',
        fallthrough: '-',
        ignore: '-',
        labels: '-',
        namespaces: '-',
        noendpoints: '-',
        pods: '-',
        tls: '-',
        ttl: '-',
        kubeconfig: '1.2.3-',
        resyncperiod: '-1.7.1',
        transfer: '-1.8.0',
        upstream: '-1.7.1',
      },
    },
    loadbalance: { in: '-', options: {} },
    log: { in: '-', options: { class: '-' } },
    loop: { in: '1.2.1-', options: {} },
    prometheus: { in: '-', options: {} },
    proxy: {
      in: '-1.5.0',
      options: {
        except: '-',
        fail_timeout: '-',
        health_check: '-',
        max_fails: '-',
        policy: '-',
        protocol: '-',
        spray: '-',
      },
    },
    ready: { in: '1.5.0-', options: {} },
    reload: { in: '-', options: {} },
    rewrite: {
      in: '-',
      options: { class: '-', edns0: '-', name: '-', type: '-', ttl: '1.2.3-', cname_target: '1.11.0-' },
    },
    transfer: { in: '1.8.0-', options: { to: '-' } },
  }),
);

/** The lines of `hosts` are entries that begin with an address. */
const ADDRESS = /\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|[0-9a-f]{1,4}:[:0-9a-f]+:[0-9a-f]{1,4}/i;

export function knowsPlugin(name: string, release: string): boolean {
  const plugin = PLUGINS.get(name);
  return plugin !== undefined && isWithinRange(release, plugin.in);
}

export function knowsOption(plugin: string, option: string, release: string): boolean {
  const range = new Map(Object.entries(PLUGINS.get(plugin)?.options ?? {})).get(option);
  return (
    (plugin === 'hosts' && ADDRESS.test(option)) || (range !== undefined && isWithinRange(release, range))
  );
}

export function isWithinRange(release: string, range: ReleaseRange): boolean {
  const [first = '', last = ''] = range.includes('-') ? range.split('-') : [range, range];
  const place = RELEASES.indexOf(release);
  return (
    (first === '' || place >= RELEASES.indexOf(first)) && (last === '' || place <= RELEASES.indexOf(last))
  );
}

/** A migration between releases that are not known, or in the wrong direction. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/**
 * @returns the releases to pass, in order, from the one after `from` to `to`; empty if they are the same
 * @throws ReleaseError in the words of CoreDNS's tool
 */
export function releasesUp(from: string, to: string): readonly string[] {
  const start = findReleaseIndex(from);
  const end = RELEASES.indexOf(to);
  if (end < start) throw new ReleaseError(`cannot migrate up to '${to}' from '${from}'`);
  return RELEASES.slice(start + 1, end + 1);
}

/**
 * @returns the releases to leave, the last one first; empty if they are the same
 * @throws ReleaseError in the words of CoreDNS's tool
 */
export function releasesDown(from: string, to: string): readonly string[] {
  const start = findReleaseIndex(from);
  const end = RELEASES.indexOf(to);
  if (end < 0 || end > start) throw new ReleaseError(`cannot migrate down to '${to}' from '${from}'`);
  return RELEASES.slice(end + 1, start + 1).toReversed();
}

function findReleaseIndex(from: string): number {
  const place = RELEASES.indexOf(from);
  if (place < 0) throw new ReleaseError(`start version '${from}' not supported`);
  return place;
}
