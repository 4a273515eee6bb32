/**
 * Node: whether it is schedulable, and its allocatable processors.
 */
import type { NodeCapacityObject } from '../objects.ts';
import { parseQuantity } from '../quantity.ts';
import { asList, asRecord, asText } from './fields.ts';
import { nameless, readIdentity, type Trimmed } from './trimmed.ts';

export function trimNodeCapacity(raw: unknown): Trimmed<NodeCapacityObject> {
  const identity = readIdentity(raw, false);
  if (identity === undefined) return nameless();
  const { name } = identity;
  const node = asRecord(raw);
  const status = asRecord(node?.['status']);
  const isCordoned = asRecord(node?.['spec'])?.['unschedulable'] === true;
  const isSchedulable = !isCordoned && isReady(status?.['conditions']);
  const nanocores = readCpu(asRecord(status?.['allocatable'])?.['cpu']);
  if (nanocores === undefined)
    return { kind: 'malformed', key: name, problem: 'its allocatable cpu is no quantity' };
  return { kind: 'object', object: { kind: 'NodeCapacity', name, isSchedulable, nanocores } };
}

function isReady(conditions: unknown): boolean {
  return asList(conditions).some((condition) => {
    const { type, status } = asRecord(condition) ?? {};
    return type === 'Ready' && status === 'True';
  });
}

/** A node without the field has 0 processors. */
function readCpu(value: unknown): bigint | undefined {
  if (value === undefined) return 0n;
  const nanocores =
    typeof value === 'number' ? parseQuantity(String(value)) : parseQuantity(asText(value) ?? '');
  return nanocores === undefined || nanocores < 0n ? undefined : nanocores;
}
