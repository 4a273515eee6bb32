/**
 * The recorded steps of the original, one after the other: its requests and writes, the state of the target afterwards, and the
 * answer of `/last-poll`.
 */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { readRecording } from '../support/recordings.ts';
import { dropJsonText } from './json-text.ts';
import { makeNode } from './nodes.ts';
import { CONFIG_MAP, configMap, FLAGS, NAMESPACE, nodes, scalable, World } from './world.ts';

interface Step {
  readonly sequence: string;
  readonly step: string;
  readonly deployment?: number | null;
  readonly configMap?: unknown;
  readonly given?: string;
  readonly polls: readonly (readonly string[])[];
  readonly lastPoll: { readonly body: string };
}

const steps = readRecording<Step>('test/autoscaler/steps.jsonl');

type Act = (world: World) => unknown;

const setData =
  (data: Readonly<Record<string, string>>): Act =>
  ({ double }) =>
    double.put(configMap(data));
const setReplicas =
  (count: number): Act =>
  ({ double }) =>
    double.put(scalable('coredns', count));

/** What was done at each step. */
const ACTS: Readonly<Record<string, Act>> = {
  'steady, two polls': () => {},
  'ConfigMap changed to nodesPerReplica 1': setData({ linear: '{"nodesPerReplica":1}' }),
  'ConfigMap with malformed JSON': setData({ linear: '{"nodesPerReplica":' }),
  'while malformed: deployment set to 9 by hand': setReplicas(9),
  'ConfigMap repaired': setData({ linear: '{"nodesPerReplica":1}' }),
  'mode changed to ladder': setData({ ladder: '{"nodesToReplicas":[[1,1],[3,2],[6,4]]}' }),
  'sixth node': ({ double }) => double.put(makeNode('w5', { cpu: '4', ready: 'True' })),
  'sixth node cordoned': ({ double }) =>
    double.put(makeNode('w5', { cpu: '4', ready: 'True', unschedulable: true })),
  'deployment set to 7 by hand': setReplicas(7),
  'ConfigMap deleted': ({ double }) => double.delete('ConfigMap', CONFIG_MAP, NAMESPACE),
  'ConfigMap with two keys': setData({ linear: '{"nodesPerReplica":2}', ladder: '{}' }),
  'ladder without lists': setData({ ladder: '{}' }),
  'good again': setData({ linear: '{"nodesPerReplica":2}' }),
  'target deleted': ({ double }) => double.delete('Deployment', 'coredns', NAMESPACE),
  'target made again': setReplicas(1),
};

/** Where the original scaled to 0: nothing is scaled, and it is said why. */
const DIFFERENCES: Readonly<
  Record<string, { readonly deployment: number; readonly error: string | undefined }>
> = {
  'ladder without lists': {
    deployment: 3,
    error:
      'Error syncing configMap with controller: error parsing ladder params: should provide coresToReplicas or nodesToReplicas with at least one entry',
  },
};

function findError({ lastPoll }: Step): string | undefined {
  return lastPoll.body === ''
    ? undefined
    : dropJsonText(lastPoll.body.replace('Encountered error at last poll cycle: ', ''));
}

const seenError = ({ error }: { readonly error: string | undefined }): string | undefined =>
  error === undefined ? undefined : dropJsonText(error);

/** The requests of a poll, without what they were answered with. */
const listRequests = ({ polls }: Step): readonly (readonly string[])[] =>
  polls.map((poll) => poll.map((line) => line.replace(/ -> \d+$/, '')));

it('follows the main sequence', async () => {
  const world = await World.start({ objects: [...nodes(5), scalable('coredns', 1)] });
  const [first, ...others] = steps.filter(({ sequence }) => sequence === 'main');
  const instance = await world.runPolled();
  expect(world.requests).toEqual(listRequests(first as Step)[0]);
  expect(world.replicas()).toBe(first?.deployment);
  expect(world.data).toEqual(first?.configMap);
  const followed = others.filter(({ step }) => Object.hasOwn(ACTS, step));
  expect(followed).toHaveLength(15);
  for (const recorded of followed) {
    const { step, deployment } = recorded;
    ACTS[step]?.(world);
    const { [step]: difference = { deployment, error: findError(recorded) } } = DIFFERENCES;
    const expected = { step, replicas: difference.deployment ?? null, error: difference.error };
    const look = () => ({ step, replicas: world.replicas() ?? null, error: seenError(instance) });
    // A change of nodes arrives by a watch, which may come after the poll.
    for (let polls = 0; polls < 20 && !isDeepStrictEqual(look(), expected); polls += 1)
      await world.nextPoll(instance);
    world.double.requests.length = 0;
    await world.nextPoll(instance);
    expect(look()).toEqual(expected);
    if (Object.hasOwn(DIFFERENCES, step)) continue;
    // Nothing has changed since, so nothing is written.
    const shape = listRequests(recorded)
      .at(-1)
      ?.filter((line) => !line.startsWith('PUT '));
    expect(world.requests).toEqual(shape);
  }
});

it.each(steps.filter(({ sequence }) => sequence === 'default-params'))(
  'creates the ConfigMap from $given',
  async (recorded) => {
    const world = await World.start({ objects: nodes(5) });
    const flags = FLAGS.filter((flag) => !flag.startsWith('--default-params'));
    const instance = await world.runPolled([...flags, `--default-params=${recorded.given}`]);
    expect(world.data).toEqual(recorded.configMap ?? {});
    expect(seenError(instance)).toBe(findError(recorded));
  },
);
