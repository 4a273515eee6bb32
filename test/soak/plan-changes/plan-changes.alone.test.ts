/**
 * A running server changes its whole plan two hundred times under load: no query is lost or answered wrongly, no answer is from
 * before a change, and memory stays constant.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { CLASS } from '@portolan/dns/types.ts';
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { ServeFrontEnd } from '@portolan/frontends/serve/run/serve-front-end.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { federations as federationsPlugin } from '@portolan/kubernetes/plugins/federations/plugin.ts';
import { localNames as localNamesPlugin } from '@portolan/plugins/local-names/plugin.ts';
import type { FrontEnd, PlanListener } from '@portolan/server/front-end.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { withOptions } from '@portolan/server/plan/testing/with-options.ts';
import { Server } from '@portolan/server/server.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { expect, it } from 'vitest';
import { bundleBurstLoad, bundleServerThreads } from '../../support/bundle-thread.ts';
import { BurstLoad } from '../../support/burst-load.ts';
import '../../support/load-all-plugins.ts';

const CHANGES = 200;
/** Names of each plan beside those that all plans have. */
const NAMES = 500;
const ADDRESS = '127.0.0.1';

/** A front end whose plan a test chooses. */
class ChosenPlans {
  readonly frontEnd: FrontEnd;
  readonly #base: ServeFrontEnd;
  #onChange: PlanListener = async () => {};
  #plan: ServerPlan;

  constructor(base: ServeFrontEnd) {
    this.#base = base;
    this.#plan = variant(base.plan, 0);
    const chosen = () => this.#plan;
    this.frontEnd = {
      get plan() {
        return chosen();
      },
      watching: undefined,
      reloadsPlanAlone: false,
      isSettled: true,
      start: async (onChange) => {
        this.#onChange = onChange;
      },
      reload: () => base.reload(),
      stats: () => base.stats(),
      announce: (facts) => base.announce(facts),
      stop: () => base.stop(),
    };
  }

  choose(index: number): void {
    this.#plan = variant(this.#base.plan, index);
    this.#onChange(this.#plan, false);
  }
}

/** Another plan for each number: local names, a rule for questions, federations. */
function variant(base: ServerPlan, index: number): ServerPlan {
  const { engine } = base;
  const records = [
    address('kept.example.', '192.0.2.1'),
    address('changing.example.', `10.0.${index >> 8}.${index & 255}`),
    ...Array.from({ length: NAMES }, (_, each) => address(`n${each}.v${index}.example.`, '192.0.2.2')),
  ];
  const scope = { kind: 'domain', name: toKey(parseName('rule.example.')) } as const;
  const action = { kind: 'address', address: '192.0.2.3' } as const;
  const federations = index % 2 === 0 ? [] : [{ name: 'fed', domain: toKey(parseName('fed.example.')) }];
  const federated = withOptions(engine, federationsPlugin, ({ domain }) => ({ domain, federations }));
  const changed = withOptions(federated, localNamesPlugin, ({ settings, networks }) => ({
    settings: {
      ...settings,
      names: { ...settings.names, records },
      questions: { ...settings.questions, routes: [{ scope, action }] },
    },
    networks,
  }));
  return { ...base, engine: changed };
}

const address = (name: string, text: string) => ({
  name: parseName(name),
  class: CLASS.IN,
  ttl: 5,
  data: { kind: 'A', address: text } as const,
});

it('loses nothing, and holds no more memory after it', { timeout: 180_000 }, async () => {
  const port = await findFreePort(ADDRESS);
  const flags = {
    dnsBindAddress: [ADDRESS],
    dnsPort: String(port),
    healthzPort: `${ADDRESS}:0`,
    example: true,
  };
  const checked = planFromFlags(
    { ...flags, lameduck: '0s', upstream: ['none'] },
    { cores: 2, terminal: false, environment: {} },
    memorySources(),
  );
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  const readerEntry = await bundleServerThreads();
  const log = new RecordingLog();
  const dependencies = {
    environment: {},
    home: undefined,
    exampleFolder: 'examples/cluster',
    clock: systemClock,
    log,
    http: new HttpHost({ clock: systemClock, log }),
    startReader: makeStartThread(readerEntry),
    queryLogEntry: new URL('query-log.mjs', readerEntry),
    version: 'test',
  };
  const plans = new ChosenPlans(new ServeFrontEnd(checked.value, dependencies));
  const server = new Server(plans.frontEnd, dependencies);
  await server.start();
  try {
    await waitUntil('the cluster to be listed', () => server.readiness().ready);
    const at = { address: ADDRESS, port };
    const inCluster = await askShort(at, 'cart.shop.svc.cluster.local', 'A');
    const load = new BurstLoad(await bundleBurstLoad(), {
      address: ADDRESS,
      port,
      questions: [
        { name: 'kept.example', answer: '192.0.2.1' },
        { name: 'any.rule.example', answer: '192.0.2.3' },
        { name: 'cart.shop.svc.cluster.local', answer: inCluster },
        { name: 'missing.shop.svc.cluster.local', answer: 'NXDOMAIN' },
      ],
      sockets: 8,
      burst: 16,
      every: 10,
    });
    let settled = 0;
    for (let index = 1; index <= CHANGES; index += 1) {
      plans.choose(index);
      const expected = `10.0.${index >> 8}.${index & 255}`;
      while ((await askShort(at, 'changing.example', 'A')) !== expected);
      // What stands after the first changes is what all that follow may take.
      if (index === CHANGES / 4) settled = server.engine.table.statistics().touchedOctets;
    }
    await load.stop();
    expect(load.answered).toBeGreaterThan(1000);
    expect([load.lost, load.wrong, load.refused]).toEqual([0, 0, 0]);
    const { touchedOctets, nodes } = server.engine.table.statistics();
    expect(touchedOctets - settled).toBeLessThan(2 ** 20);
    expect(nodes).toBeLessThan(4 * NAMES);
  } finally {
    await server.stop();
  }
});
