/**
 * Says why new pods of a rollout do not become ready: by the states of their containers, their conditions, and the warnings about them.
 */
import type { RestClient } from '@portolan/kubernetes/api/rest/rest-client.ts';
import { asRecord, asRecords, asText, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';

/** What every pod goes through. */
const USUAL: readonly string[] = ['ContainerCreating', 'PodInitializing', 'Completed'];
/** Pods that are described; more of one rollout have the same troubles. */
const MAX_PODS = 3;
/** Characters of a message. */
const MAX_MESSAGE = 300;

/**
 * @param images of the new pods
 * @returns sentences without full stops, such as `pod coredns-x: container coredns: ErrImagePull: not found`
 * @throws RestError
 */
export async function readPodTroubles(
  rest: RestClient,
  namespace: string,
  workload: JsonRecord,
  images: ReadonlySet<string>,
): Promise<readonly string[]> {
  const labels = asRecord(asRecord(asRecord(workload['spec'])?.['selector'])?.['matchLabels']) ?? {};
  const labelSelector = Object.entries(labels)
    .map(([name, value]) => `${name}=${asText(value) ?? ''}`)
    .join(',');
  const place = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const pods = await rest.get(`${place}/pods?${new URLSearchParams({ labelSelector })}`);
  const waiting = asRecords(pods['items']).filter((pod) => isNew(pod, images) && !isReady(pod));
  const troubles = await Promise.all(
    waiting.slice(0, MAX_PODS).map(async (pod) => {
      const name = asText(asRecord(pod['metadata'])?.['name']) ?? '';
      const found = [...describeContainers(pod), ...describeSchedule(pod)];
      const words = found.length > 0 ? found : await readWarnings(rest, place, name);
      return words.map((word) => `pod ${name}: ${word}`);
    }),
  );
  return troubles.flat();
}

function isNew(pod: JsonRecord, images: ReadonlySet<string>): boolean {
  const containers = asRecords(asRecord(pod['spec'])?.['containers']);
  return containers.some(({ image }) => images.has(asText(image) ?? ''));
}

const findCondition = (pod: JsonRecord, type: string): JsonRecord | undefined =>
  asRecords(asRecord(pod['status'])?.['conditions']).find((condition) => condition['type'] === type);

const isReady = (pod: JsonRecord): boolean => findCondition(pod, 'Ready')?.['status'] === 'True';

function describeContainers(pod: JsonRecord): readonly string[] {
  const status = asRecord(pod['status']) ?? {};
  const all = [...asRecords(status['initContainerStatuses']), ...asRecords(status['containerStatuses'])];
  return all.flatMap(({ name, state, lastState }) => {
    const waiting = asRecord(asRecord(state)?.['waiting']);
    const ended = asRecord(asRecord(state)?.['terminated']) ?? asRecord(asRecord(lastState)?.['terminated']);
    const words = [waiting, ended].flatMap((each) => (each === undefined ? [] : describeState(each)));
    return words.length === 0 ? [] : [`container ${asText(name) ?? ''}: ${words.join('; before: ')}`];
  });
}

function describeState({ reason, message, exitCode }: JsonRecord): readonly string[] {
  const word = asText(reason) ?? '';
  if (word === '' || USUAL.includes(word)) return [];
  const code = typeof exitCode === 'number' ? ` (exit code ${exitCode})` : '';
  return [`${word}${code}${afterColon(asText(message))}`];
}

function describeSchedule(pod: JsonRecord): readonly string[] {
  const { status, reason, message } = findCondition(pod, 'PodScheduled') ?? {};
  return status === 'False' ? [`${asText(reason) ?? 'not scheduled'}${afterColon(asText(message))}`] : [];
}

/** The last warning about a pod whose state tells nothing: a volume that cannot be mounted, a probe that fails. */
async function readWarnings(rest: RestClient, place: string, pod: string): Promise<readonly string[]> {
  const query = new URLSearchParams({ fieldSelector: `involvedObject.name=${pod}` });
  const { items } = await rest.get(`${place}/events?${query}`);
  const own = asRecords(items).filter(
    (event) => event['type'] === 'Warning' && asRecord(event['involvedObject'])?.['name'] === pod,
  );
  const { reason, message } = own.at(-1) ?? {};
  return reason === undefined ? [] : [`${asText(reason) ?? ''}${afterColon(asText(message))}`];
}

function afterColon(message: string | undefined): string {
  const line = message?.replaceAll(/\s+/g, ' ').trim() ?? '';
  if (line === '') return '';
  return line.length > MAX_MESSAGE ? `: ${line.slice(0, MAX_MESSAGE)}…` : `: ${line}`;
}
