/**
 * How far a rollout is, by the status that the controller writes.
 */
import { asRecord, asRecords, asText, type JsonRecord } from '@portolan/kubernetes/objects/trim/fields.ts';

export interface Rollout {
  readonly kind: 'under way' | 'done' | 'failed';
  /** `1 of 2 pods updated, 2 available`. */
  readonly words: string;
}

export function readRollout(workload: JsonRecord): Rollout {
  const status = asRecord(workload['status']) ?? {};
  const generation = asRecord(workload['metadata'])?.['generation'];
  const observed = status['observedGeneration'];
  if (typeof generation === 'number' && (typeof observed !== 'number' || observed < generation))
    return { kind: 'under way', words: 'the controller has not seen the change yet' };
  const progress = asRecords(status['conditions']).find(({ type }) => type === 'Progressing');
  if (progress?.['reason'] === 'ProgressDeadlineExceeded')
    return { kind: 'failed', words: asText(progress['message']) ?? 'the rollout does not progress' };
  const count = (field: string) => (typeof status[field] === 'number' ? status[field] : 0);
  const isDaemonSet = 'desiredNumberScheduled' in status;
  const [wanted, updated, available, all] = isDaemonSet
    ? [
        count('desiredNumberScheduled'),
        count('updatedNumberScheduled'),
        count('numberAvailable'),
        count('currentNumberScheduled'),
      ]
    : [readReplicas(workload), count('updatedReplicas'), count('availableReplicas'), count('replicas')];
  const words = `${updated} of ${wanted} pods updated, ${available} available`;
  // Old pods of a Deployment that have not ended yet still answer.
  const isDone = updated >= wanted && available >= wanted && (isDaemonSet || all <= updated);
  return { kind: isDone ? 'done' : 'under way', words };
}

function readReplicas(workload: JsonRecord): number {
  const replicas = asRecord(workload['spec'])?.['replicas'];
  return typeof replicas === 'number' ? replicas : 1;
}

/** The endpoints of a Service that are ready, in its slices. */
export function countReady(slices: readonly JsonRecord[]): number {
  const endpoints = slices.flatMap((slice) => asRecords(slice['endpoints']));
  // Left out, it is ready.
  return endpoints.filter(({ conditions }) => asRecord(conditions)?.['ready'] !== false).length;
}
