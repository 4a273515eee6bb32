import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { QueryEventRings } from '@portolan/kernel/listen/query-events/event-rings.ts';
import { EventTap } from '@portolan/kernel/listen/query-events/event-tap.ts';
import { ServerFindings } from '@portolan/server/findings.ts';
import type { AnsweredStep } from '@portolan/server/reasons/conclude.ts';
import { WrongClusterDomains } from '@portolan/server/wrong-cluster-domain.ts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { diagnose } from './diagnose.ts';
import { type ExplainedServer, Explainer } from './explain.ts';
import type { Watcher } from './watch-verbs.ts';

const SECOND = 1_000;

/** Notes what it looks up. Names with `bad` cannot be described. */
class ScriptedExplainer extends Explainer {
  readonly lookedUp: string[] = [];
  domainsRead = 0;

  constructor() {
    // What would read the server is replaced.
    super({} as unknown as ExplainedServer);
  }

  override get domain(): string {
    this.domainsRead += 1;
    return 'cluster.local.';
  }

  override get evidence(): undefined {
    return undefined;
  }

  override lookUp(name: string, type: string): Promise<AnsweredStep> {
    this.lookedUp.push(name);
    if (name.startsWith('bad')) return Promise.reject(new Error('not a name'));
    const [service = '', namespace = ''] = name.split('.');
    return Promise.resolve({
      name,
      type,
      rcode: 'NXDOMAIN',
      outcome: 'nxdomain',
      source: 'cluster',
      zone: undefined,
      plugin: undefined,
      records: [],
      addresses: [],
      reason: { kind: 'no-such-service', namespace, service, near: [] },
    });
  }
}

function startDiagnosis() {
  const clock = new ManualClock();
  const rings = new QueryEventRings(0);
  const tap = new EventTap(() => [rings], clock);
  const explainer = new ScriptedExplainer();
  const foreignDomains = new WrongClusterDomains(clock);
  const facts = {
    inspections: [],
    dataAge: 0,
    kinds: [],
    losses: [],
    rejected: [],
    missingRules: undefined,
    foreignDomains,
  };
  const findings = new ServerFindings(() => facts, clock, new RecordingLog());
  // No more of the server is read.
  const server = { tap, findings } as unknown as Watcher['server'] & { readonly findings: ServerFindings };
  const leaving = new AbortController();
  const watcher = { server, explainer, clock, statistics: () => undefined };
  const diagnosis = diagnose({ kind: 'doctor', watch: 2 * SECOND }, watcher, [], leaving.signal);
  return { clock, rings, explainer, leaving, diagnosis };
}

/** Records that a name does not exist. */
function deny(rings: QueryEventRings, name: string): void {
  const labels = name.split('.').flatMap((label) => [label.length, ...Buffer.from(label)]);
  const write = (flags: readonly number[]) =>
    Uint8Array.from([0, 1, ...flags, 0, 1, 0, 0, 0, 0, 0, 0, ...labels, 0, 0, 1, 0, 1]);
  const about = { received: 1, source: 'table', transport: 'udp' } as const;
  rings.main.add(write([1, 0]), write([0x85, 0x83]), { address: '10.244.1.7', port: 5353 }, about);
}

const letOthersRun = () => new Promise((resolve) => setImmediate(resolve));

describe('the diagnosis of watched queries', () => {
  it('describes equal questions once, and goes on after one that cannot be described', async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on('unhandledRejection', note);
    onTestFinished(() => void process.off('unhandledRejection', note));
    const { clock, rings, explainer, diagnosis } = startDiagnosis();
    deny(rings, 'bad.shop.svc.cluster.local');
    for (let turn = 0; turn < 7; turn += 1) deny(rings, 'catr.shop.svc.cluster.local');
    clock.advance(50);
    await letOthersRun();
    // The next reading is a batch of its own. What it collects is described although the time is over.
    deny(rings, 'catr.shop.svc.cluster.local');
    clock.advance(2 * SECOND);
    const { findings } = await diagnosis;
    expect(findings.map(({ kind, subject, sentence }) => [kind, subject, sentence])).toEqual([
      ['no-such-service', 'shop/catr', expect.stringMatching(/asked for 8 times in 2 s$/)],
    ]);
    expect(explainer.lookedUp).toEqual(['bad.shop.svc.cluster.local.', 'catr.shop.svc.cluster.local.']);
    expect(explainer.domainsRead).toBe(1);
    expect(unhandled).toEqual([]);
    expect(rings.main.isOn).toBe(false);
  });

  it('looks at 20,000 queries, and lets other work have its turn', async () => {
    const { clock, rings, diagnosis } = startDiagnosis();
    for (let reading = 0; reading < 11; reading += 1) {
      for (let turn = 0; turn < 2_000; turn += 1) deny(rings, 'catr.shop.svc.cluster.local');
      clock.advance(50);
    }
    clock.advance(2 * SECOND);
    let isOver = false;
    let turns = 0;
    const ended = diagnosis.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await letOthersRun();
      turns += 1;
    }
    const { findings } = await ended;
    expect(findings[0]?.sentence).toMatch(/asked for 20000 times in 2 s$/);
    expect(turns).toBeGreaterThanOrEqual(200);
  });

  it('ends when the client leaves', async () => {
    const { rings, leaving, diagnosis } = startDiagnosis();
    leaving.abort();
    await diagnosis;
    expect(rings.main.isOn).toBe(false);
  });
});
