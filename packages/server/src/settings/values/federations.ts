/**
 * Federations in kube-dns's format, from its flag and its ConfigMap: `name=domain,name=domain`.
 */
import { isDns1123Label, isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { Federation } from '@portolan/kubernetes/plugins/federations/federation.ts';
import { readDomain } from './domain.ts';
import type { Problem } from './problem.ts';

const REMEDY =
  'Give names and their domains in lower case, as in myfederation=example.com,other=example.org.';

/**
 * @param where the flag or key, for messages
 * @returns only the last federation of each name
 */
export function readFederations(where: string, text: string, problems: Problem[]): readonly Federation[] {
  if (text.trim() === '') return [];
  const federations = new Map<string, Federation>();
  for (const pair of text.split(',')) {
    const federation = readPair(pair);
    if (typeof federation === 'string')
      problems.push({ where, fault: federation, value: pair.trim().slice(0, 100), remedy: REMEDY });
    else federations.set(federation.name, federation);
  }
  return [...federations.values()];
}

/** @returns the federation, or its fault */
function readPair(pair: string): Federation | string {
  const equals = pair.indexOf('=');
  if (equals < 0) return 'not a name and its domain';
  const name = pair.slice(0, equals).trim();
  const text = pair.slice(equals + 1).trim();
  const domain = isDns1123Subdomain(text) ? readDomain(text) : undefined;
  if (!isDns1123Label(name)) return 'not the name of a federation';
  return domain === undefined ? 'not the domain of a federation' : { name, domain };
}
