/**
 * The rule of a Role or ClusterRole that permits to follow a resource, as it is pasted into `rules`.
 */

/** @param path of the collection, as in `/apis/discovery.k8s.io/v1/endpointslices` @param only the object, if only one is followed */
export function describeRule({ path, only }: { readonly path: string; readonly only?: string }): string {
  const [, group = '', resource = ''] =
    /^\/(?:api|apis\/([^/]+))\/[^/]+\/(?:namespaces\/[^/]+\/)?([^/?]+)/.exec(path) ?? [];
  const verbs = only === undefined ? 'list, watch' : 'get, watch';
  const names = only === undefined ? '' : `, resourceNames: [${only}]`;
  return `{apiGroups: ["${group}"], resources: [${resource}]${names}, verbs: [${verbs}]}`;
}
