/**
 * Rules from manifests: the permissions from the Roles and ClusterRoles bound to a ServiceAccount, and those that are never
 * used.
 */
import { parseAllDocuments } from 'yaml';
import { type AccessRule, allows } from './access.ts';
import type { RecordedRequest } from './api-server.ts';
import type { Verb } from './target.ts';

export interface Account {
  readonly namespace: string;
  readonly name: string;
}

interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly verbs?: readonly (Verb | '*')[];
  readonly resourceNames?: readonly string[];
}

/** A document of a manifest, as far as it is about RBAC. */
interface Document {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string; readonly namespace?: string };
  readonly rules?: readonly PolicyRule[];
  readonly roleRef?: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly {
    readonly kind: string;
    readonly name: string;
    readonly namespace?: string;
  }[];
}

/** The user that the API server takes a ServiceAccount for. */
export function formatUser({ namespace, name }: Account): string {
  return `system:serviceaccount:${namespace}:${name}`;
}

/**
 * @param manifests texts of YAML, of one or more documents each
 * @returns the rules of all roles that are bound to the account
 */
export function readRules(manifests: readonly string[], account: Account): readonly AccessRule[] {
  // Manifests of our own: their schemas are checked by another test.
  const documents = manifests
    .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Document | null))
    .filter((document) => document !== null);
  return documents
    .filter((binding) => isBoundTo(binding, account))
    .flatMap((binding) => {
      const role = documents.find((document) => isBoundRole(document, binding));
      if (role === undefined) throw new Error(`no such role: ${JSON.stringify(binding.roleRef)}`);
      const scope =
        binding.kind === 'RoleBinding' ? { namespace: binding.metadata?.namespace ?? 'default' } : {};
      return (role.rules ?? []).map((rule) => ({ ...toRule(rule), ...scope }));
    });
}

function isBoundTo({ kind, subjects = [] }: Document, account: Account): boolean {
  if (kind !== 'RoleBinding' && kind !== 'ClusterRoleBinding') return false;
  return subjects.some(
    (subject) =>
      subject.kind === 'ServiceAccount' &&
      subject.name === account.name &&
      subject.namespace === account.namespace,
  );
}

/** A Role is bound in its own namespace alone. */
function isBoundRole({ kind, metadata }: Document, { roleRef, metadata: binding }: Document): boolean {
  if (kind !== roleRef?.kind || metadata?.name !== roleRef?.name) return false;
  return kind !== 'Role' || metadata?.namespace === binding?.namespace;
}

function toRule({ apiGroups = [], resources = [], verbs = [], resourceNames = [] }: PolicyRule): AccessRule {
  const rule = { groups: apiGroups, resources, verbs };
  return resourceNames.length === 0 ? rule : { ...rule, names: resourceNames };
}

/** What rules allow of which no request made use, each in short: `watch configmaps kube-dns`. */
export function findUnused(
  rules: readonly AccessRule[],
  requests: readonly RecordedRequest[],
): readonly string[] {
  return rules.flatMap(split).flatMap((rule) => {
    const isUsed = requests.some(
      ({ verb, target }) => verb !== 'other' && target !== undefined && allows(rule, verb, target),
    );
    return isUsed ? [] : [describe(rule)];
  });
}

/** A rule of many verbs, resources and names as many rules of one of each. */
function split(rule: AccessRule): readonly AccessRule[] {
  const { groups, resources, verbs, names } = rule;
  return groups.flatMap((group) =>
    resources.flatMap((resource) =>
      verbs.flatMap((verb) => {
        const one = { ...rule, groups: [group], resources: [resource], verbs: [verb] };
        return names === undefined ? [one] : names.map((name) => ({ ...one, names: [name] }));
      }),
    ),
  );
}

function describe({ groups, resources, verbs, names = [] }: AccessRule): string {
  const [group = ''] = groups;
  return [...verbs, `${resources.join()}${group === '' ? '' : `.${group}`}`, ...names].join(' ');
}
