/**
 * Findings as Kubernetes Events (events.k8s.io/v1): which object they concern, and one Event for each finding and object in an hour.
 */
import { createHash } from 'node:crypto';
import type { JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';
import type { Finding } from '@portolan/server/reasons/finding.ts';
import type { EventsPlan, ObjectName } from '@portolan/server/settings/events/events-plan.ts';

/** An Event that is not written yet. */
export interface FindingEvent {
  /** Of the collection. */
  readonly path: string;
  readonly object: JsonRecord;
}

interface EventObject extends ObjectName {
  readonly kind: 'Service' | 'ConfigMap';
}

/** Findings of one kind about one object. */
export interface FindingGroup {
  readonly key: string;
  readonly object: EventObject;
  readonly findings: readonly Finding[];
}

const HOUR = 3_600_000;
/** Bounds of the API server: the note has 1,024 octets, the name 253. */
const MAX_NOTE_OCTETS = 1_000;
const MAX_NAME = 230;
/** Sentences of one note. */
const MAX_SENTENCES = 5;
const CONTROLLER = 'portolan';

/** Leaves out findings that concern no object. */
export function groupFindings(findings: readonly Finding[], plan: EventsPlan): readonly FindingGroup[] {
  const groups = new Map<string, { readonly object: EventObject; readonly findings: Finding[] }>();
  for (const finding of findings) {
    const object = findEventObject(finding, plan);
    if (object === undefined) continue;
    const key = `${finding.kind} ${object.kind} ${object.namespace}/${object.name}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { object, findings: [finding] });
    else group.findings.push(finding);
  }
  return Array.from(groups, ([key, group]) => ({ key, ...group }));
}

/** Undefined: it concerns no object that a user owns. */
function findEventObject(
  { kind, subject }: Finding,
  { service, configMap }: EventsPlan,
): EventObject | undefined {
  switch (kind) {
    case 'external-name-target':
    case 'fqdn-endpoints':
    case 'selector-matches-nothing': {
      const [namespace = '', name = ''] = subject.split('/');
      return { kind: 'Service', namespace, name };
    }
    case 'config-rejected':
      return configMap === undefined ? { kind: 'Service', ...service } : { kind: 'ConfigMap', ...configMap };
    case 'foreign-cluster-domain':
    case 'names-lost':
      return { kind: 'Service', ...service };
    default:
      return undefined;
  }
}

/**
 * The name is the same in all replicas, so the API server takes the first one of an hour and refuses the others.
 *
 * @param instance the name of this replica
 * @param now milliseconds since the epoch
 */
export function createFindingEvent(
  { key, object: { kind, namespace, name }, findings }: FindingGroup,
  { instance, now }: { readonly instance: string; readonly now: number },
): FindingEvent {
  const hash = createHash('sha256')
    .update(`${key} ${Math.floor(now / HOUR)}`)
    .digest('hex')
    .slice(0, 16);
  const [first] = findings;
  const isProblem = findings.some(({ severity }) => severity === 'problem');
  return {
    path: `/apis/events.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/events`,
    object: {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: `${name.slice(0, MAX_NAME)}.${hash}`, namespace },
      // With microseconds, as in the type MicroTime.
      eventTime: new Date(now).toISOString().replace('Z', '000Z'),
      type: isProblem ? 'Warning' : 'Normal',
      reason: first?.kind,
      action: 'Check',
      regarding: { apiVersion: 'v1', kind, namespace, name },
      note: formatNote(findings),
      reportingController: CONTROLLER,
      reportingInstance: instance.slice(0, 128),
    },
  };
}

/** The sentences, and what to do. */
function formatNote(findings: readonly Finding[]): string {
  const sentences = findings.slice(0, MAX_SENTENCES).map(({ sentence }) => `${capitalize(sentence)}.`);
  const more = findings.length - sentences.length;
  const [remedy] = findings[0]?.remedies ?? [];
  const parts = [
    ...sentences,
    ...(more > 0 ? [`And ${more} more.`] : []),
    ...(remedy === undefined ? [] : [remedy.sentence]),
    ...(remedy?.command === undefined ? [] : [remedy.command]),
  ];
  return cut(parts.join(' ').replaceAll(/\p{Cc}+/gu, ' '));
}

function capitalize(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

function cut(text: string): string {
  let whole = '';
  let octets = 0;
  for (const character of text) {
    octets += Buffer.byteLength(character);
    if (octets > MAX_NOTE_OCTETS) return `${whole}…`;
    whole += character;
  }
  return whole;
}
