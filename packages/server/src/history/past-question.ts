/**
 * Which records of a history are about a name that somebody asks for, as its client wrote it: its search list made other names of it.
 */
import { isIP } from 'node:net';
import { reverseName } from '@portolan/dns/address.ts';
import { hideText } from './hide-text.ts';
import type { FailureRecord, TimeSpan } from './history-record.ts';

export interface PastQuestion extends TimeSpan {
  /** As given, with or without its final dot; or an address. */
  readonly name: string;
  /** The client's, of a name without one. Undefined: any. */
  readonly namespace: string | undefined;
  /** The address of the client. Undefined: any. */
  readonly client: string | undefined;
}

/** What the first domains of the search list of a pod add: `web.svc.` or `svc.`, before the domain of the cluster. */
const OF_CLUSTER = /^(?:([^.]+)\.)?svc\./;
/** What can be behind `svc` if hashes hide names. */
const COMMON_DOMAIN = 'cluster.local.';

/** How well a failed name is the one that is meant. 0: it is another. */
export type NameMatch = (record: Pick<FailureRecord, 'name' | 'client'>) => number;

/** What all records are compared with is computed once. */
export function compileNameMatch(question: PastQuestion): NameMatch {
  const asked = toAbsolute(question.name);
  const labels = countLabels(asked);
  const hidden = new Set(listCandidates(question).map(hideText));
  const clients = question.client === undefined ? undefined : [question.client, hideText(question.client)];
  return ({ name, client }) => {
    if (clients?.includes(client) === false) return 0;
    if (name.startsWith('#')) return hidden.has(name) ? 2 : 0;
    if (name === asked) return 2;
    if (question.name.endsWith('.') || !name.startsWith(asked)) return 0;
    const [match, namespace] = OF_CLUSTER.exec(name.slice(asked.length)) ?? [];
    if (match === undefined) return 1;
    if (namespace === undefined) return labels >= 2 ? 3 : 1;
    if (question.namespace !== undefined && question.namespace !== namespace) return 0;
    return labels === 1 ? 3 : 1;
  };
}

/** The service that a name may be of, as records call it; undefined: it has another form. */
export function findServiceOfName(question: PastQuestion): string | undefined {
  const labels = toAbsolute(question.name).slice(0, -1).toLowerCase().split('.');
  const svc = labels.indexOf('svc');
  const own = svc < 0 ? labels : labels.slice(0, svc);
  if (svc < 0 && own.length === 1)
    return question.namespace && own[0] ? `service ${question.namespace}/${own[0]}` : undefined;
  const [name, namespace] = own.slice(-2);
  return name === undefined || namespace === undefined ? undefined : `service ${namespace}/${name}`;
}

function listCandidates({ name, namespace = 'default' }: PastQuestion): readonly string[] {
  const asked = toAbsolute(name);
  if (name.endsWith('.')) return [asked];
  return [asked, `${asked}svc.${COMMON_DOMAIN}`, `${asked}${namespace}.svc.${COMMON_DOMAIN}`];
}

function toAbsolute(name: string): string {
  if (isIP(name) !== 0) return reverseName(name).toLowerCase();
  return `${name.toLowerCase().replace(/\.$/, '')}.`;
}

const countLabels = (name: string): number => name.split('.').length - 1;
