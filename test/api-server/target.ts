/**
 * The target of a request to the API server, from its path, method and parameters.
 */
export interface Target {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  /** Empty for all namespaces. */
  readonly namespace: string;
  /** Empty for a collection; a collection that is narrowed down to one object by a field selector has its name, as for RBAC. */
  readonly name: string;
  /** `status`, for one; else empty. */
  readonly subresource: string;
}

export type Verb = 'list' | 'watch' | 'get' | 'create' | 'update' | 'patch' | 'delete';

const CORE = /^\/api\/(?<version>v[^/]+)\/(?<rest>.+)$/;
const GROUPED = /^\/apis\/(?<group>[^/]+)\/(?<version>v[^/]+)\/(?<rest>.+)$/;
const OBJECT = '(?:\\/(?<name>[^/]+)(?:\\/(?<subresource>[^/]+))?)?';
const NAMESPACED = new RegExp(`^namespaces\\/(?<namespace>[^/]+)\\/(?<plural>[^/]+)${OBJECT}$`);
const CLUSTER_WIDE = new RegExp(`^(?<plural>[^/]+)${OBJECT}$`);

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
    subresource: inner['subresource'] ?? '',
  };
}

const VERBS: Readonly<Record<string, Verb>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
};

export function readVerb(method: string, target: Target, query: URLSearchParams): Verb | undefined {
  if (method !== 'GET') return VERBS[method];
  if (target.name !== '') return 'get';
  return isTrue(query.get('watch')) ? 'watch' : 'list';
}

/** The target as RBAC looks at it: a field selector for one name counts as that name. */
export function narrow(target: Target, query: URLSearchParams): Target {
  const selected = /(?:^|,)metadata\.name==?(?<name>[^,=]+)/.exec(query.get('fieldSelector') ?? '');
  const name = selected?.groups?.['name'];
  return target.name !== '' || name === undefined ? target : { ...target, name };
}

/** The resource as rules of RBAC name it. */
export function formatResource({ plural, subresource }: Target): string {
  return subresource === '' ? plural : `${plural}/${subresource}`;
}

export function isTrue(parameter: string | null): boolean {
  return parameter === 'true' || parameter === '1';
}

export function formatApiVersion(target: Target): string {
  return target.group === '' ? target.version : `${target.group}/${target.version}`;
}
