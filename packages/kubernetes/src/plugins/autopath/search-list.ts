/**
 * The search list of a pod, as the kubelet writes it into the resolv.conf of its containers.
 */
import { isWithin, ROOT, toKey, toParent, tryParseKey } from '@portolan/dns/name.ts';
import type { AbsoluteName, NameKey } from '@portolan/dns/types.ts';
import type { SearchingPod } from '../../names/pod-searches.ts';

/** A resolver may ignore what lies beyond (resolv.conf(5)), and kubelets differ in what they leave out. */
const MAX_DOMAINS = 6;
const MAX_CHARACTERS = 256;

/**
 * Undefined: it is not known.
 *
 * @param zone of the cluster
 * @param host the search list of nodes
 */
export function computePodSearchList(
  { namespace, search }: SearchingPod,
  zone: NameKey,
  host: readonly NameKey[],
): readonly NameKey[] | undefined {
  if (search.kind === 'unknown') return undefined;
  const services = `svc.${zone === ROOT ? '' : zone}`;
  const list =
    search.kind === 'own'
      ? readNames(search.domains)
      : readNames([`${namespace}.${services}`, services, zone, ...host, ...search.more]);
  const domains = list && [...new Set(list)];
  if (domains === undefined || domains.length > MAX_DOMAINS || domains.join(' ').length > MAX_CHARACTERS)
    return undefined;
  // Without a namespace first, a question does not tell that the client searches.
  const [first] = domains;
  return first !== undefined && first !== ROOT && toParent(first) === services ? domains : undefined;
}

/**
 * The search list of nodes by that of the server, which has it if its pod takes the resolver of its node. If it has domains of the
 * cluster first, those are its own pod's.
 */
export function searchListOfNodes(own: readonly NameKey[], zone: NameKey): readonly NameKey[] {
  const [first, services, domain] = own;
  const isOfPod =
    first !== undefined && domain === zone && services === `svc.${zone}` && toParent(first) === services;
  return isOfPod ? own.slice(3) : own;
}

/** The names that a client asks for, in order; undefined: `name` is not below the first domain. */
export function listSearchCandidates(
  name: AbsoluteName,
  domains: readonly NameKey[],
): readonly string[] | undefined {
  const [first] = domains;
  if (first === undefined || first === ROOT) return undefined;
  if (name.length <= first.length || !isWithin(toKey(name), first)) return undefined;
  const base = name.slice(0, name.length - first.length);
  return [...new Set([...domains, ROOT])].map((domain) => (domain === ROOT ? base : `${base}${domain}`));
}

function readNames(texts: readonly string[]): readonly NameKey[] | undefined {
  const names = texts.flatMap((text) => tryParseKey(text) ?? []);
  return names.length === texts.length ? names : undefined;
}
