/**
 * The resolver with its upstream servers: servers by name, handlers before it, and refusals.
 */
import { parseName, toKey } from '@portolan/dns/name.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import type { Answer } from '@portolan/kernel/chain/answer.ts';
import type { Chain } from '@portolan/kernel/chain/handler.ts';
import { makeQuery, record } from '@portolan/kernel/chain/testing/queries.ts';
import { DNSMASQ_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import {
  DEFAULT_FORWARD_PLAN,
  defaultRule,
  type ForwardPlan,
} from '@portolan/kernel/forward/forward-plan.ts';
import { parseUpstream } from '@portolan/kernel/forward/upstream-address.ts';
import { TableWriter } from '@portolan/kernel/table/writer.ts';
import { createNameResolver } from '@portolan/plugins/forward/name-resolver.ts';
import { UpstreamNames } from '@portolan/testing/upstream/upstream-names.ts';
import { VirtualUpstream } from '@portolan/testing/upstream/virtual-upstream.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CachedResolver, type CachedResolverSettings } from './cached-resolver.ts';

interface Setting {
  readonly clock: ManualClock;
  readonly names: UpstreamNames;
  readonly table: TableWriter;
  readonly resolver: CachedResolver;
  readonly log: RecordingLog;
  /** The addresses that servers were reached at. */
  readonly reached: Set<string>;
}

function make(changes: Partial<ForwardPlan>): Setting {
  const clock = new ManualClock();
  const names = new UpstreamNames();
  const upstream = new VirtualUpstream(clock, names.react);
  const table = new TableWriter({ readers: 0, reservation: 32 * 2 ** 20, seed: 7 });
  const log = new RecordingLog();
  const reached = new Set<string>();
  const settings: CachedResolverSettings = {
    forward: { ...DEFAULT_FORWARD_PLAN, loopDetection: false, ...changes },
    cache: { kind: 'own', caching: DNSMASQ_CACHING, serveStale: undefined },
    filteredTypes: new Set(),
  };
  const chain: Chain = (query) => resolver.answer(query);
  const resolver = new CachedResolver(settings, {
    table,
    clock,
    log,
    resolveName: createNameResolver(() => chain),
    connect: (_, address) => {
      reached.add(address);
      return upstream;
    },
  });
  onTestFinished(() => resolver.stop());
  return { clock, names, table, resolver, log, reached };
}

async function settle<Value>({ clock }: Setting, pending: Value | Promise<Value>): Promise<Value> {
  let isSettled = false;
  const settled = Promise.resolve(pending).finally(() => {
    isSettled = true;
  });
  for (let turn = 0; !isSettled && turn < 10_000; turn += 1) {
    clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return settled;
}

const knows = ({ names }: Setting, name: string, address: string): void => {
  const answers = [record(name, { kind: 'A', address }, 60)];
  names.known.set(toKey(parseName(name)), { rcode: RCODE.NOERROR, answers, authorities: [] });
};

const shown = (answer: Answer): string => {
  if (answer.kind !== 'forwarded') return answer.kind;
  return answer.answers.map(({ data }) => ('address' in data ? data.address : data.kind)).join();
};

describe('upstream servers', () => {
  it('by name are found through ourselves, by servers that have an address', async () => {
    const domain = { kind: 'domain', name: toKey(parseName('corp.test.')) } as const;
    const named = { ...defaultRule([parseUpstream('ns.example')]), names: [domain] };
    const setting = make({ rules: [defaultRule([parseUpstream('192.0.2.53')]), named] });
    knows(setting, 'ns.example.', '192.0.2.77');
    knows(setting, 'x.corp.test.', '10.0.0.1');
    const step = () => setting.clock.advance(1);
    await waitUntil('the second server', () => setting.reached.size === 2, { step });
    expect([...setting.reached]).toEqual(['192.0.2.53', '192.0.2.77']);
    expect(shown(await settle(setting, setting.resolver.answer(makeQuery('x.corp.test.'))))).toBe('10.0.0.1');
  });

  it('without a rule are refused, and domains without any do not exist', async () => {
    const domain = { kind: 'domain', name: toKey(parseName('gone.test.')) } as const;
    const setting = make({ rules: [{ names: [domain], target: { kind: 'local-only' } }] });
    expect(shown(await settle(setting, setting.resolver.answer(makeQuery('www.example.'))))).toBe('refused');
    expect(shown(await settle(setting, setting.resolver.answer(makeQuery('www.gone.test.'))))).toBe(
      'nxdomain',
    );
    expect(setting.table.statistics().cached).toBe(0);
    expect(setting.resolver.stats().forward.failures).toEqual(
      new Map([
        ['no-upstream', 1],
        ['local-only', 1],
      ]),
    );
  });

  it('that are silent are told of in the log, sparingly', async () => {
    const setting = make({ rules: [defaultRule([parseUpstream('192.0.2.53')])] });
    setting.names.isSilent = true;
    for (const name of ['a.example.', 'b.example.', 'c.example.', 'd.example.'])
      expect(shown(await settle(setting, setting.resolver.answer(makeQuery(name))))).toBe('servfail');
    const warnings = setting.log.records.filter(({ message }) => message === 'no answer from upstream');
    expect(warnings.map(({ fields }) => fields?.['name'])).toEqual(['a.example.', 'd.example.']);
  });

  it('with too much to do for us are refused with a word for it', async () => {
    const limits = { ...DEFAULT_FORWARD_PLAN.limits, inFlight: 1, queued: 1, queueDeadline: 50 };
    const setting = make({ limits, rules: [defaultRule([parseUpstream('192.0.2.53')])] });
    setting.names.delay = 200;
    knows(setting, 'a.example.', '192.0.2.1');
    const pending = ['a.example.', 'b.example.'].map((name) => setting.resolver.answer(makeQuery(name)));
    const [first, second] = await settle(setting, Promise.all(pending));
    expect(first && shown(first)).toBe('192.0.2.1');
    expect(second?.kind).toBe('overloaded');
  });
});
