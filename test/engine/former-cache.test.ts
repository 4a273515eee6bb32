/**
 * The cache of a process of the version before is taken over, although plugins have other names now.
 */
import { expect, it } from 'vitest';
import type { AnswerKeeper } from '../../src/chain/handed-answer.ts';
import { compileCorefile } from '../../src/config/corefile/compile-corefile.ts';
import { readCorefile } from '../../src/config/corefile/read-corefile.ts';
import { memorySources } from '../../src/config/dnsmasq/testing/memory-sources.ts';
import { compileServe } from '../../src/config/serve/compile-serve.ts';
import { NO_SERVERS } from '../../src/config/serve/resolver-settings.ts';
import { planFromFlags } from '../../src/config/serve/serve-plan.ts';
import type { ServerBlockPlan } from '../../src/config/server/server-blocks-plan.ts';
import { DISK_FILES } from '../../src/corefile/syntax/corefile-files.ts';
import { findKeepers } from '../../src/engine/server-blocks/answer-keepers.ts';
import { metaTypesHandler } from '../../src/plugins/meta-types/plugin.ts';

const keeper: AnswerKeeper = { handOver: () => [], adopt: () => {} };

/** The texts of a block whose plugins all have a handler, and whose cache keeps answers. */
function findTexts(plan: ServerBlockPlan) {
  const plugins = plan.plugins.map(({ name }) => ({
    name,
    plugin: { handler: metaTypesHandler, ...(name === 'cache' && { keeper }) },
  }));
  const { current, former } = findKeepers([{ plan, server: 'dns', plugins }]);
  return { current: [...current.keys()], former: [...former.keys()] };
}

/** The block as the version before planned it. @param uses name and options of each plugin */
function planBefore(plan: ServerBlockPlan, uses: readonly (readonly [string, unknown?])[]): ServerBlockPlan {
  const plugins = uses.map(([name, options]) => ({ name, options, definition: { name } }));
  return { zones: plan.zones, plugins };
}

function planServe(command: 'serve' | 'kube-dns'): ServerBlockPlan {
  const machine = { cores: 2, terminal: false, environment: {} };
  const checked = planFromFlags({ upstream: ['192.0.2.53'] }, machine, memorySources({}), command);
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  const plan = compileServe(checked.value, NO_SERVERS, { interfaces: {}, ownAddresses: ['192.0.2.2'] });
  const [block] = plan.engine.blocks;
  if (block === undefined) throw new Error('no block');
  return block;
}

function planCorefile(text: string): ServerBlockPlan {
  const reading = readCorefile(text, {
    file: 'Corefile',
    profile: '1.14',
    defaultPort: 53,
    environment: {},
    files: DISK_FILES,
    interfaces: new Map(),
  });
  if (reading.kind === 'bad') throw new Error(JSON.stringify(reading.problems));
  const [block] = compileCorefile(reading.blocks).engine.blocks;
  if (block === undefined) throw new Error('no block');
  return block;
}

it.each([
  ['serve', 'minimal'],
  ['kube-dns', 'refused'],
] as const)('of %s', (command, policy) => {
  const plan = planServe(command);
  const optionsOf = (wanted: string) => plan.plugins.find(({ name }) => name === wanted)?.options;
  const identity = {
    identifies: true,
    ttl: 30,
    cacheSize: 65_536,
    namesHost: true,
    version: 'all',
    hasCounts: false,
  };
  const before = planBefore(plan, [
    ['probes'],
    ['identity', identity],
    ['meta-types'],
    ['any-type', { policy }],
    ['aliases'],
    ['local-names', optionsOf('local-names')],
    ['stub-zones', { zones: [], to: 'hosts-nodata' }],
    ['federations', optionsOf('federations')],
    ['cluster-zone', optionsOf('cluster-zone')],
    ['hosts-nodata'],
    ['question-rules'],
    ['cache', optionsOf('cache')],
    ['forward', optionsOf('forward')],
  ]);
  expect(findTexts(plan).former).toEqual(findTexts(before).current);
  expect(findTexts(plan).current).not.toEqual(findTexts(before).current);
});

it('of a Corefile', () => {
  const plan = planCorefile('.:53 {\n any\n chaos v1 b a\n cache\n forward . 192.0.2.1\n}\n');
  const optionsOf = (wanted: string) => plan.plugins.find(({ name }) => name === wanted)?.options;
  const before = planBefore(plan, [
    ['any'],
    ['chaos', { version: 'v1', authors: ['a', 'b'] }],
    ['cache', optionsOf('cache')],
    ['forward', optionsOf('forward')],
  ]);
  expect(findTexts(plan).former).toEqual(findTexts(before).current);
});
