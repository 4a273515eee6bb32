/**
 * Plugins of others for CoreDNS that come with Portolan as packages: their words, and the packages. The command line loads them.
 */
const PACKAGES: ReadonlyMap<string, string> = new Map([
  ['ads', '@portolan/ads'],
  ['alternate', '@portolan/alternate'],
  ['fanout', '@portolan/fanout'],
  ['k8s_gateway', '@portolan/k8s-gateway'],
  ['records', '@portolan/records'],
  ['rrl', '@portolan/rrl'],
]);

/** The flag that loads a plugin; undefined: it does not come with Portolan. */
export function flagOfPackage(plugin: string): string | undefined {
  const name = PACKAGES.get(plugin);
  return name === undefined ? undefined : `--plugin=${plugin}=${name}`;
}
