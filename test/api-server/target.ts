/**
 * What a request to the API server is about, read from its path and method.
 */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
}

export type Verb = 'list' | 'watch' | 'get' | 'create' | 'update' | 'delete';

const CORE = /^\/api\/(?<version>v[^/]+)\/(?<rest>.+)$/;
const GROUPED = /^\/apis\/(?<group>[^/]+)\/(?<version>v[^/]+)\/(?<rest>.+)$/;
const NAMESPACED = /^namespaces\/(?<namespace>[^/]+)\/(?<plural>[^/]+)(?:\/(?<name>[^/]+))?$/;
const CLUSTER_WIDE = /^(?<plural>[^/]+)(?:\/(?<name>[^/]+))?$/;

export function readTarget(path: string): Target | undefined {
  const outer = (CORE.exec(path) ?? GROUPED.exec(path))?.groups;
  const rest = outer?.['rest'] ?? '';
  const inner = (NAMESPACED.exec(rest) ?? CLUSTER_WIDE.exec(rest))?.groups;
  if (outer === undefined || inner === undefined) return undefined;
  return {
    group: outer['group'] ?? '',
    version: outer['version'] ?? '',
    plural: inner['plural'] ?? '',
    namespace: inner['namespace'] ?? '',
    name: decodeURIComponent(inner['name'] ?? ''),
  };
}

export function readVerb(method: string, target: Target, query: URLSearchParams): Verb | undefined {
  if (method === 'GET' && target.name !== '') return 'get';
  if (method === 'GET') return isTrue(query.get('watch')) ? 'watch' : 'list';
  if (method === 'POST') return 'create';
  if (method === 'PUT') return 'update';
  return method === 'DELETE' ? 'delete' : undefined;
}

export function isTrue(parameter: string | null): boolean {
  return parameter === 'true' || parameter === '1';
}

export function apiVersionOf(target: Target): string {
  return target.group === '' ? target.version : `${target.group}/${target.version}`;
}
