/**
 * When a secondary server asks its primary servers: at first, by the times of the SOA record, and after NOTIFY.
 */
import { typeName } from '@portolan/dns/mnemonics.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { isNewer } from '@portolan/dns/serial.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { record } from '@portolan/kernel/chain/testing/queries.ts';
import { FollowedZone } from '@portolan/plugins/secondary/followed-zone.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { expect, it, onTestFinished } from 'vitest';

const ORIGIN = toKey(parseName('example.'));
const NAME = parseName('ns.example.');
/** Seconds. */
const TIMES = { refresh: 100, retry: 10, expire: 1000 };
const soa = (serial: number) =>
  record('example.', { kind: 'SOA', primary: NAME, mailbox: NAME, serial, minimum: 60, ...TIMES });
const host = (last: number) => record('h.example.', { kind: 'A', address: `192.0.2.${last}` });

async function startScene() {
  const state = { serial: 5, isAway: false };
  const primary = await LoopbackUpstream.start(({ query, send, connection }) => {
    if (state.isAway) {
      connection?.destroy();
      return;
    }
    const newest = soa(state.serial);
    const type = query.questions[0]?.type;
    if (type === TYPE.SOA) send(reply(query, { answers: [newest] }));
    else if (type === TYPE.AXFR) send(reply(query, { answers: [newest, host(state.serial), newest] }));
    else send(reply(query, { header: { ...query.header, response: true, rcode: 4 } }));
  });
  onTestFinished(() => primary.stop());
  const clock = new ManualClock();
  const log = new RecordingLog();
  const changes: number[] = [];
  const plan = { origin: ORIGIN, primaries: [{ address: '127.0.0.1', port: primary.port }] };
  const zone = new FollowedZone(plan, undefined, {
    clock,
    log,
    random: () => 0,
    onChange: () => void changes.push(zone.names?.serial ?? 0),
  });
  onTestFinished(() => zone.stop());
  /** The types of the questions that the primary server has got. */
  const asked = () => primary.queries.map(({ query }) => typeName(query.questions[0]?.type ?? 0));
  const messages = () => log.records.map(({ message }) => message);
  return { state, primary, clock, zone, asked, changes, messages };
}

it('asks for the serial at the refresh interval, for changes, and for the whole zone where there are none', async () => {
  const { state, zone, asked, changes, clock } = await startScene();
  await zone.check();
  expect(asked()).toEqual(['AXFR']);
  expect(zone.names?.serial).toBe(5);
  state.serial = 6;
  clock.advance(99_999);
  expect(asked()).toHaveLength(1);
  clock.advance(1);
  await waitUntil('the change', () => changes.length === 2);
  expect(asked()).toEqual(['AXFR', 'SOA', 'IXFR', 'AXFR']);
  expect(changes).toEqual([5, 6]);
});

it('asks at the retry interval after a failure, and answers nothing once the zone has expired', async () => {
  const { state, zone, asked, clock, messages } = await startScene();
  await zone.check();
  state.isAway = true;
  clock.advance(100_000);
  await waitUntil('a failure', () => messages().some((message) => message.includes('Failed refresh check')));
  expect(zone.names?.serial).toBe(5);
  const { length } = asked();
  clock.advance(10_000);
  await waitUntil('the retry', () => asked().length > length);
  clock.advance(889_999);
  expect(zone.names?.serial).toBe(5);
  clock.advance(1);
  expect(zone.names).toBeUndefined();
  state.isAway = false;
  await zone.check();
  await zone.check();
  expect(zone.names?.serial).toBe(5);
});

it('fetches a zone again and again at first, in growing intervals', async () => {
  const { state, zone, clock, messages } = await startScene();
  state.isAway = true;
  zone.start();
  for (const [failures, pause] of [
    [1, 250],
    [2, 500],
    [3, 1000],
  ] as const) {
    await waitUntil(`failure ${failures}`, () => messages().length === failures);
    expect(messages().at(-1)).toMatch(
      new RegExp(
        `All 'example\\.' masters failed to transfer, retrying in ${pause < 1000 ? `${pause}ms` : '1s'}: read tcp`,
      ),
    );
    clock.advance(pause);
  }
  await waitUntil('failure 4', () => messages().length === 4);
  state.isAway = false;
  clock.advance(2000);
  await waitUntil('the zone', () => zone.names !== undefined);
});

it('asks once for many notifications', async () => {
  const { zone, asked, clock } = await startScene();
  await zone.check();
  for (let count = 0; count < 100; count += 1) zone.notified();
  expect(asked()).toEqual(['AXFR']);
  clock.advance(250);
  await waitUntil('the question', () => asked().length === 2);
  await zone.check();
  expect(asked().slice(0, 2)).toEqual(['AXFR', 'SOA']);
});

it.each([
  [2, 1, true],
  [1, 1, false],
  [1, 2, false],
  [0, 2 ** 32 - 1, true],
  [2 ** 31, 1, true],
  [2 ** 31 + 2, 1, false],
])('serial %i is newer than %i: %s', (serial, than, expected) =>
  expect(isNewer(serial, than)).toBe(expected),
);
