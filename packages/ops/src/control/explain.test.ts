import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Handler } from '@portolan/kernel/chain/handler.ts';
import { denial, makeHandler } from '@portolan/kernel/chain/testing/queries.ts';
import { usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { writePlainEngine } from '@portolan/server/plan/plain-block.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { expect, it, onTestFinished } from 'vitest';
import { Explainer } from './explain.ts';

function createExplainer(answer: Answer, parts: Pick<Handler, 'explainedBy'>): Explainer {
  const maze = definePlugin({
    name: 'maze',
    create: () => ({ handler: { ...makeHandler(() => answer), name: 'maze', ...parts } }),
  });
  const engine = writePlainEngine({
    clients: undefined,
    plugins: [usePlugin(maze, undefined)],
    responses: { recursionAvailable: true, rotatesAddresses: false, domain: undefined },
    cache: { octets: 2 ** 20, entries: 100 },
    udpSize: 1232,
  });
  const clock = new ManualClock();
  const running = new Engine(engine, { readers: 1, services: [], version: 'test', clock, log: silentLog });
  onTestFinished(() => running.stop());
  // No more of the plan is read.
  const plan = { engine } as unknown as ServerPlan;
  return new Explainer({ engine: running, plan, missing: () => undefined, clock });
}

/** What an explanation says of an answer of a plugin that nothing else knows. */
async function explain(answer: Answer, parts: Pick<Handler, 'explainedBy'>) {
  return await createExplainer(answer, parts).lookUp('www.example.', 'A', undefined);
}

it('reads SERVFAIL of any plugin as a loop, if it says so', async () => {
  const servfail = { kind: 'servfail' } as const;
  expect((await explain(servfail, { explainedBy: 'loop' })).reason?.kind).toBe('forwarding-loop');
  expect((await explain(servfail, {})).reason).toEqual({ kind: 'denied-locally', plugin: 'maze' });
});

it('takes answers of any plugin as those of a cluster, if it says so', async () => {
  expect((await explain(denial('nxdomain'), { explainedBy: 'cluster' })).source).toBe('cluster');
  expect((await explain(denial('nxdomain'), {})).source).toBe('local');
});

it('says which client it does not know', async () => {
  const explainer = createExplainer(denial('nxdomain'), {});
  const notChecked = async (client: { from?: string; namespace?: string; pod?: string }, objects = [POD]) => {
    const unset = {
      from: undefined,
      namespace: undefined,
      pod: undefined,
      search: undefined,
      ndots: undefined,
    };
    const about = { name: 'www.example.', types: ['A'], resolver: 'glibc', asks: false } as const;
    return (await explainer.explain({ kind: 'explain', ...unset, ...about, ...client }, objects)).notChecked;
  };
  expect(await notChecked({ namespace: 'shop', pod: 'nope' })).toEqual([
    'pod shop/nope: not known here, taken for any pod of namespace shop. Pass it by --evidence',
  ]);
  expect(await notChecked({ from: '10.244.9.9' }, [])).toEqual([
    'the pod at 10.244.9.9: not known here, taken for any pod of namespace default. Pass it by --evidence',
  ]);
  expect(await notChecked({ namespace: 'shop', pod: 'web' })).toEqual([]);
  expect(await notChecked({ namespace: 'shop' })).toEqual([]);
});

const POD = { kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: {} };
