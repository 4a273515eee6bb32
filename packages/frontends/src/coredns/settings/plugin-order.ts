/**
 * The order in which plugins see a query. It is fixed, whatever the order in the Corefile.
 *
 * In 1.14, `cache` moved behind `rewrite`, so answers are cached under the rewritten name, and `acl` moved behind both. A version
 * rejects plugin names that it does not have as unknown directives.
 */
import type { OrderProfile } from '@portolan/corefile/coredns-version.ts';
import { NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { COREFILE_PLUGINS } from '../../plugins/registry.ts';

const ORDERS: Readonly<Record<OrderProfile, string>> = {
  '1.13': `root metadata geoip cancel tls quic timeouts multisocket reload nsid bufsize bind debug trace ready health pprof
    prometheus errors log dnstap local dns64 acl any chaos loadbalance tsig cache rewrite header dnssec autopath minimal
    template transfer hosts route53 azure clouddns k8s_external kubernetes file auto secondary etcd loop forward grpc
    erratic whoami on sign view nomad`,
  '1.14': `root metadata geoip cancel proxyproto quic grpc_server https https3 timeouts multisocket reload nsid bufsize
    bind debug trace ready health pprof shed prometheus errors log dnstap local dns64 any chaos loadbalance tsig rewrite
    autopath acl cache header dnssec tls minimal template transfer hosts route53 azure clouddns k8s_external kubernetes
    file auto secondary etcd loop forward grpc erratic whoami on sign view nomad`,
};

/**
 * All plugin names of a version in order, including Portolan's own plugins, which CoreDNS lacks.
 *
 * @param restored with `own-directives`, they are left out
 */
export function pluginOrder(profile: OrderProfile, restored = NOTHING_RESTORED): readonly string[] {
  return placeOwnPlugins(
    ORDERS[profile].split(/\s+/),
    restored.has('own-directives') ? [] : COREFILE_PLUGINS,
  );
}

/** @throws RangeError if the order lacks the plugin that an own plugin precedes */
export function placeOwnPlugins(
  order: readonly string[],
  built: readonly { readonly name: string; readonly before?: string }[],
): readonly string[] {
  const names = [...order];
  for (const { name, before } of built) {
    if (before === undefined) continue;
    const place = names.indexOf(before);
    if (place < 0) throw new RangeError(`no plugin for ${name} to stand before: ${before}`);
    names.splice(place, 0, name);
  }
  return names;
}

/** In CoreDNS's format: one per line in alphabetical order, then an empty line. */
export function listPlugins(): string {
  const names = COREFILE_PLUGINS.map(({ name }) => name).toSorted();
  return `${names.join('\n')}\n\n`;
}
