/**
 * The API server is down for an hour, silent, or has a gap in its history: DNS serves the last known state until it is updated.
 *
 * The clock is manual, so that an hour is short; sockets, threads and the API server are real.
 */
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import type { KubernetesObject } from '../api-server/object-store.ts';
import { namespace, service, slice } from '../list-watch/harness.ts';
import { bundleServerThreads } from '../support/bundle-thread.ts';
import { type InProcessServer, serveInProcess } from './in-process-server.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
const OBJECTS = [
  namespace('default'),
  service('web', '10.96.0.10'),
  service('old', '10.96.0.11'),
  service('db', 'None'),
  slice('db-1', 'db', '10.244.0.1'),
];

let readerEntry: URL;
beforeAll(async () => {
  readerEntry = await bundleServerThreads();
});

class Scene {
  readonly double: ApiServerDouble;
  readonly clock: ManualClock;
  readonly serving: InProcessServer;

  private constructor(double: ApiServerDouble, clock: ManualClock, serving: InProcessServer) {
    this.double = double;
    this.clock = clock;
    this.serving = serving;
  }

  static async open(objects: readonly KubernetesObject[] = OBJECTS): Promise<Scene> {
    const clock = new ManualClock();
    const double = await ApiServerDouble.start({ clock, objects });
    onTestFinished(() => double.stop());
    const step = () => clock.advance(20);
    const serving = await serveInProcess({ kubeMasterUrl: double.url }, { readerEntry, clock, step });
    const scene = new Scene(double, clock, serving);
    await waitUntil('the watches', () => double.watches.size === 3, { step });
    return scene;
  }

  /** Lets time pass, by steps of so much, until the answer about the service is this one. */
  async untilAnswer(name: string, answer: string, step: number): Promise<void> {
    for (let turn = 0; (await this.answer(name)) !== answer; turn += 1) {
      if (turn === 2000) throw new Error(`the answer never became ${answer}: ${name}`);
      this.clock.advance(step);
    }
  }

  answer(name: string): Promise<string> {
    return askShort(this.serving, `${name}.default.svc.cluster.local`, 'A');
  }

  async expectAnswers(answers: Readonly<Record<string, string>>): Promise<void> {
    for (const [name, answer] of Object.entries(answers)) expect(await this.answer(name), name).toBe(answer);
  }

  get lists(): number {
    return this.serving.server.stats().watches.find(({ title }) => title === 'services')?.lists ?? 0;
  }
}

const BEFORE = { web: '10.96.0.10', old: '10.96.0.11', db: '10.244.0.1', none: 'NXDOMAIN' };

it.each([
  ['whose history went on', 5_000],
  ['whose history went back, as after a restored backup', 10],
])('an API server that is gone for an hour and comes back with other objects, %s', async (_, version) => {
  const scene = await Scene.open();
  const { double, clock, serving } = scene;
  await double.stop();
  for (const end = clock.now() + HOUR; clock.now() < end; ) {
    const turn = clock.now() + 60 * SECOND;
    await waitUntil('a minute', () => clock.now() >= turn, { step: () => clock.advance(5 * SECOND) });
    await scene.expectAnswers(BEFORE);
  }
  expect(serving.server.readiness()).toEqual({
    ready: true,
    note: expect.stringMatching(/^services: nothing heard from the API server for .*: no connection: /),
  });
  expect(serving.server.stats().dataAge).toBeGreaterThanOrEqual(HOUR);
  const others = [
    namespace('default'),
    service('web', '10.96.0.20'),
    service('new', '10.96.0.12'),
    service('db', 'None'),
    slice('db-1', 'db', '10.244.0.2'),
  ];
  await double.restart(others, version);
  await scene.untilAnswer('new', '10.96.0.12', SECOND);
  await scene.untilAnswer('db', '10.244.0.2', SECOND);
  await scene.expectAnswers({ web: '10.96.0.20', old: 'NXDOMAIN', none: 'NXDOMAIN' });
  const isCurrent = () => (serving.server.stats().dataAge ?? HOUR) < 60 * SECOND;
  await waitUntil('all kinds to be current', isCurrent, { step: () => clock.advance(SECOND) });
});

it('events that are lost behind a 410, deletions among them', async () => {
  const scene = await Scene.open();
  const { double } = scene;
  double.resetWatches();
  double.delete('Service', 'old', 'default');
  double.put(service('new', '10.96.0.12'));
  double.put(slice('db-1', 'db', '10.244.0.2'));
  double.compact();
  await scene.untilAnswer('new', '10.96.0.12', 20);
  await scene.untilAnswer('db', '10.244.0.2', 20);
  await scene.expectAnswers({ web: '10.96.0.10', old: 'NXDOMAIN' });
  expect(scene.lists).toBe(2);
});

it('streams that stay open and silent are replaced when their own time is over', async () => {
  const scene = await Scene.open();
  const { double, clock } = scene;
  double.freezeConnections();
  double.delete('Service', 'old', 'default');
  double.put(service('new', '10.96.0.12'));
  const began = clock.now();
  await scene.expectAnswers(BEFORE);
  await scene.untilAnswer('new', '10.96.0.12', SECOND);
  expect(clock.now() - began).toBeLessThan(330 * SECOND);
  await scene.expectAnswers({ web: '10.96.0.10', old: 'NXDOMAIN', db: '10.244.0.1' });
});

it('an event that was lost without a word is found by the check, within ten minutes', async () => {
  const scene = await Scene.open();
  const { double, clock } = scene;
  double.store.forget('services', 'default/old');
  const began = clock.now();
  await scene.untilAnswer('old', 'NXDOMAIN', SECOND);
  expect(clock.now() - began).toBeLessThan(600 * SECOND);
  await scene.expectAnswers({ web: '10.96.0.10', db: '10.244.0.1' });
});
