/**
 * The flag for Kubernetes Events about findings, of servers that know a cluster.
 */
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { Flag, ValueFlag } from '../flags/flag.ts';
import type { NameIn } from '../flags/flag-reader.ts';
import type { ValueReader } from '../values/value-reader.ts';
import type { EventsPlan, ObjectName } from './events-plan.ts';

const FLAG = {
  name: 'events',
  valueName: 'namespace/service',
  value: { kind: 'text', of: 'the Service of the server' },
  help: 'write findings as Kubernetes Events on the objects concerned, or on this Service of the server',
  details:
    'It needs the right to create events. See [Examine the server](../how-to/debugging.md#examine-the-server).',
  group: 'Kubernetes objects',
} as const satisfies ValueFlag;

/** Flags of Go have no value of their own, so it must be given. */
export const EVENT_FLAGS = [FLAG] as const satisfies readonly Flag[];

/** For parsers that know flags with an implied value. */
export const IMPLIED_EVENT_FLAGS = [
  { ...FLAG, impliedValue: 'kube-system/kube-dns' },
] as const satisfies readonly Flag[];

/** The flag reader of any server that can write events. */
export interface EventReader extends ValueReader {
  text(name: NameIn<typeof EVENT_FLAGS>): string | undefined;
  shown(name: NameIn<typeof EVENT_FLAGS>): string;
}

/** @param refusal why there can be no events; undefined: there can @returns undefined if none are wanted */
export function readEvents(
  read: EventReader,
  configMap: ObjectName | undefined,
  refusal: { readonly fault: string; readonly remedy: string } | undefined,
): EventsPlan | undefined {
  const text = read.text('events');
  if (text === undefined) return undefined;
  const where = read.shown('events');
  if (refusal !== undefined) read.addProblem(where, refusal.fault, text, refusal.remedy);
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (rest.length > 0 || !isDns1123Subdomain(namespace) || !isDns1123Subdomain(name))
    read.addProblem(where, 'not a namespace and a Service', text, 'Give them as in kube-system/kube-dns.');
  return { service: { namespace, name }, configMap };
}
