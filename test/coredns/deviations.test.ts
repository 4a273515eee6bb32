/**
 * Deviations that are restored one by one, where a whole server block shows them.
 */
import { compilePlan } from '@portolan/frontends/coredns/settings/testing/compile-plan.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { RestorableId } from '@portolan/kernel/deviations/table.ts';
import { Engine } from '@portolan/kernel/engine/engine.ts';
import { expect, it, onTestFinished } from 'vitest';
import { makePacket, ReaderSubject } from './reader-subject.ts';

const only = (...ids: readonly RestorableId[]): ReadonlySet<RestorableId> => new Set(ids);

it('counts the questions that plugins ask: further-questions', async () => {
  const corefile =
    '.:53 {\n prometheus\n template IN A alias.test {\n answer "{{ .Name }} 60 IN CNAME www.test."\n }\n hosts {\n 192.0.2.1 www.test\n }\n}\n';
  const counts: number[] = [];
  for (const restored of [only(), only('further-questions')]) {
    const subject = new ReaderSubject(corefile, new ManualClock(), restored);
    await subject.engine.start();
    await subject.askChain(makePacket('a.alias.test', 'A'));
    const text = await subject.engine.metrics.render();
    const requests = [...text.matchAll(/^coredns_dns_requests_total\{.*\} (\d+)$/gm)];
    counts.push(requests.reduce((sum, [, count]) => sum + Number(count), 0));
    subject.stop();
  }
  expect(counts).toEqual([1, 2]);
});

it('leaves this server out of the servers of a file: forward-to-itself', async () => {
  const folder = await makeTemporaryFolder();
  const file = await folder.write('resolv.conf', 'nameserver 127.0.0.1\n');
  const warned: boolean[] = [];
  for (const restored of [only(), only('forward-to-itself')]) {
    const log = new RecordingLog();
    const engine = new Engine(
      { ...compilePlan(`.:53 {\n forward . ${file}\n}\n`), restored },
      { readers: 0, version: 'test', clock: new ManualClock(), log },
    );
    onTestFinished(() => engine.stop());
    await engine.start();
    warned.push(log.records.some(({ level, message }) => level === 'warn' && message.includes('127.0.0.1')));
  }
  expect(warned).toEqual([true, false]);
});
