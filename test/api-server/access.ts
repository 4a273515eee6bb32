/**
 * Authentication and authorization: bearer tokens, client certificates and rules similar to RBAC.
 */
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { formatResource, type Target, type Verb } from './target.ts';

export interface AccessRule {
  readonly groups: readonly string[];
  /** `pods`, `pods/status`. */
  readonly resources: readonly string[];
  /** `*` for all, as elsewhere in a rule. */
  readonly verbs: readonly (Verb | '*')[];
  /** In this namespace alone. */
  readonly namespace?: string;
  /** For these objects alone. */
  readonly names?: readonly string[];
}

/** What is checked. Replaced as a whole while the server runs. */
export interface Access {
  /** Bearer token to user name. Undefined: every client is `admin`. */
  readonly tokens?: Readonly<Record<string, string>> | undefined;
  /** User name to rules. Undefined: all users may do everything. */
  readonly rules?: Readonly<Record<string, readonly AccessRule[]>> | undefined;
}

/** The ClusterRole `system:kube-dns`, which an image swap of kube-dns keeps. */
export const kubeDnsRules: readonly AccessRule[] = [
  { groups: [''], resources: ['endpoints', 'services'], verbs: ['list', 'watch'] },
];

/** @returns the user, or undefined where an API server answers 401. */
export function identify(access: Access, request: IncomingMessage): string | undefined {
  const { socket } = request;
  if (socket instanceof TLSSocket && socket.authorized) {
    const name = socket.getPeerCertificate().subject?.CN;
    if (typeof name === 'string') return name;
  }
  if (access.tokens === undefined) return 'admin';
  const token = /^Bearer (?<token>.+)$/.exec(request.headers.authorization ?? '')?.groups?.['token'];
  return token === undefined ? undefined : access.tokens[token];
}

export function mayDo(access: Access, user: string, verb: Verb, target: Target): boolean {
  if (access.rules === undefined) return true;
  return (access.rules[user] ?? []).some((rule) => allows(rule, verb, target));
}

/** Whether this rule alone lets a request through. */
export function allows(rule: AccessRule, verb: Verb, target: Target): boolean {
  return (
    covers(rule.groups, target.group) &&
    covers(rule.resources, formatResource(target)) &&
    covers(rule.verbs, verb) &&
    (rule.namespace === undefined || rule.namespace === target.namespace) &&
    (rule.names === undefined || rule.names.includes(target.name))
  );
}

function covers(listed: readonly string[], asked: string): boolean {
  return listed.includes('*') || listed.includes(asked);
}
