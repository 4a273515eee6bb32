/**
 * `grpc` with servers on loopback: order, failures, denials, what it counts.
 */
import { join } from 'node:path';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import type { Message } from '@portolan/dns/types.ts';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { MetricRegistry } from '@portolan/kernel/base/metrics/registry.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { DryRun } from '@portolan/kernel/chain/dry-run.ts';
import { Query } from '@portolan/kernel/chain/query.ts';
import { CLIENT, makeQuery, QUERY_HEADER, record } from '@portolan/kernel/chain/testing/queries.ts';
import { expect, it, onTestFinished } from 'vitest';
import { Grpc, type GrpcDependencies } from './grpc.ts';
import type { GrpcOptions, GrpcPlace } from './options.ts';
import { type GrpcDouble, type ReceivedCall, startGrpcDouble } from './testing/grpc-double.ts';

const zone = (text: string) => toKey(parseName(text));
const OPTIONS: GrpcOptions = {
  from: zone('.'),
  except: [],
  servers: [],
  tls: undefined,
  policy: 'sequential',
  fallthrough: [],
};
const BEHIND = { kind: 'servfail', reason: 'the plugin behind' } as const;

function open(options: Partial<GrpcOptions>, dependencies: Partial<GrpcDependencies> = {}) {
  const metrics = new MetricRegistry();
  const plugin = new Grpc(
    { ...OPTIONS, ...options },
    { clock: systemClock, log: silentLog, metrics, isLast: () => false, ...dependencies },
  );
  plugin.start();
  onTestFinished(() => plugin.stop());
  const ask = async (name: string, query = makeQuery(name)) => plugin.handler.handle(query, () => BEHIND);
  return { plugin, ask, metrics };
}

async function serve(
  react: (call: ReceivedCall) => void,
): Promise<GrpcDouble & { readonly place: GrpcPlace }> {
  const double = await startGrpcDouble(react);
  onTestFinished(() => double.stop());
  const place = { kind: 'address', address: '127.0.0.1', port: double.port } as const;
  return Object.assign(double, { place });
}

function answerWith(query: Buffer, parts: Partial<Message>, rcode = 0): Uint8Array {
  const asked = decodeMessage(query);
  return encodeMessage({
    ...asked,
    additionals: [],
    edns: undefined,
    ...parts,
    header: { ...asked.header, response: true, rcode, authoritative: true },
  });
}

const withAddress =
  (address: string) =>
  ({ query, answer }: ReceivedCall) =>
    answer(answerWith(query, { answers: [record('a.example.', { kind: 'A', address })] }));
const withCode =
  (rcode: number) =>
  ({ query, answer }: ReceivedCall) =>
    answer(answerWith(query, {}, rcode));
const withStatus =
  (status: number) =>
  ({ send }: ReceivedCall) =>
    send(new Uint8Array(), status);

/** A port that nobody listens on. */
async function findClosedPlace(): Promise<GrpcPlace> {
  const double = await startGrpcDouble(() => {});
  await double.stop();
  return { kind: 'address', address: '127.0.0.1', port: double.port };
}

it('gives the reply as it is, and asks over one connection', async () => {
  const server = await serve(withAddress('192.0.2.1'));
  const { ask } = open({ servers: [server.place] });
  for (let count = 0; count < 3; count += 1)
    expect(await ask('a.example')).toMatchObject({
      kind: 'message',
      authoritative: true,
      answers: [{ data: { kind: 'A', address: '192.0.2.1' } }],
    });
  expect([server.calls, server.connections]).toEqual([3, 1]);
});

it('counts replies of servers', async () => {
  const server = await serve(({ number, query, answer }) =>
    answer(answerWith(query, {}, number === 1 ? 0 : 3)),
  );
  const { ask, metrics } = open({ servers: [await findClosedPlace(), server.place] });
  await ask('a.example');
  await ask('b.example');
  const to = `127.0.0.1:${server.port}`;
  const text = metrics.render();
  expect(text).toContain(`coredns_grpc_requests_total{to="${to}"} 2\n`);
  expect(text).toContain(`coredns_grpc_responses_total{rcode="NOERROR",to="${to}"} 1\n`);
  expect(text).toContain(`coredns_grpc_responses_total{rcode="NXDOMAIN",to="${to}"} 1\n`);
  expect(text).toContain(`coredns_grpc_request_duration_seconds_count{to="${to}"} 2\n`);
});

it('asks the next server after a failure, and one that has failed last for a while', async () => {
  const clock = new ManualClock();
  const first = await serve(({ number, ...call }) =>
    (number === 1 ? withStatus(14) : withAddress('192.0.2.1'))({ number, ...call }),
  );
  const second = await serve(withAddress('192.0.2.2'));
  const { ask } = open({ servers: [first.place, second.place] }, { clock });
  const askedAddress = async () => {
    const answer = await ask('a.example');
    return answer.kind === 'message' ? answer.answers[0]?.data : undefined;
  };
  expect(await askedAddress()).toMatchObject({ address: '192.0.2.2' });
  expect(await askedAddress()).toMatchObject({ address: '192.0.2.2' });
  expect(first.calls).toBe(1);
  clock.advance(5001);
  expect(await askedAddress()).toMatchObject({ address: '192.0.2.1' });
});

it('gives each server its share of the time', async () => {
  const clock = new ManualClock();
  const silent = await serve(() => {});
  const good = await serve(withAddress('192.0.2.2'));
  const { ask } = open({ servers: [silent.place, good.place] }, { clock });
  const asked = ask('a.example');
  await waitUntil('the call', () => silent.calls === 1);
  clock.advance(2499);
  expect(good.calls).toBe(0);
  clock.advance(2);
  expect(await asked).toMatchObject({ answers: [{ data: { address: '192.0.2.2' } }] });
});

it('fails if no server replies in time, with the reason of the last one', async () => {
  const clock = new ManualClock();
  const silent = await serve(() => {});
  const { ask } = open({ servers: [silent.place] }, { clock });
  const asked = ask('a.example');
  await waitUntil('the call', () => silent.calls === 1);
  clock.advance(5000);
  const reason = 'rpc error: code = DeadlineExceeded desc = context deadline exceeded';
  expect(await asked).toEqual({ kind: 'servfail', reason });
  const closed = await findClosedPlace();
  expect(await open({ servers: [closed] }).ask('a.example')).toMatchObject({
    kind: 'servfail',
    reason: expect.stringMatching(/^rpc error: .* dial tcp 127\.0\.0\.1:\d+: connect: connection refused"$/),
  });
});

it('takes the status NOT_FOUND for NXDOMAIN', async () => {
  const server = await serve(withStatus(5));
  expect(await open({ servers: [server.place] }).ask('a.example')).toMatchObject({
    kind: 'message',
    rcode: 3,
    answers: [],
  });
});

it('takes no reply to another question', async () => {
  const server = await serve(({ query, answer }) => {
    const other = answerWith(query, {});
    other[13] = 0x62;
    answer(other);
  });
  expect(await open({ servers: [server.place] }).ask('a.example')).toMatchObject({ kind: 'servfail' });
});

it('leaves other names, and excepted ones, to the next plugin', async () => {
  const server = await serve(withCode(0));
  const { ask } = open({
    servers: [server.place],
    from: zone('example.'),
    except: [zone('example.'), zone('x.example.')],
  });
  expect(await ask('a.test')).toBe(BEHIND);
  expect(await ask('a.x.example')).toBe(BEHIND);
  expect(await ask('a.example')).toBe(BEHIND);
  expect(await ask('example')).toMatchObject({ kind: 'message' });
});

it.each([
  ['a denial', withCode(3)],
  ['a failure', withStatus(13)],
])('falls through after %s, in the zones that it names', async (_, react) => {
  const server = await serve(react);
  const zones = { servers: [server.place], fallthrough: [zone('example.')] };
  expect(await open(zones).ask('a.example')).toBe(BEHIND);
  expect(await open(zones).ask('a.test')).not.toBe(BEHIND);
  expect(await open(zones, { isLast: () => true }).ask('a.example')).not.toBe(BEHIND);
  expect(await open({ ...zones, fallthrough: [] }).ask('a.example')).not.toBe(BEHIND);
});

it('does not fall through after other codes', async () => {
  const server = await serve(withCode(5));
  const answer = await open({ servers: [server.place], fallthrough: [zone('.')] }).ask('a.example');
  expect(answer).toMatchObject({ kind: 'message', rcode: 5 });
});

it('asks by a Unix socket', async () => {
  const path = join((await makeTemporaryFolder()).path, 's');
  const double = await startGrpcDouble(withAddress('192.0.2.1'), { path });
  onTestFinished(() => double.stop());
  const { ask, metrics } = open({ servers: [{ kind: 'unix', path }] });
  expect(await ask('a.example')).toMatchObject({ kind: 'message' });
  expect(metrics.render()).toContain(`coredns_grpc_requests_total{to="unix://${path}"} 1\n`);
});

it('asks again where a connection was lost', async () => {
  const server = await serve(({ number, session, ...call }) => {
    if (number === 2) session?.destroy();
    else withAddress('192.0.2.1')({ number, session, ...call });
  });
  const { ask } = open({ servers: [server.place] });
  for (let count = 0; count < 3; count += 1)
    expect(await ask('a.example')).toMatchObject({ kind: 'message' });
  expect([server.calls, server.connections]).toEqual([4, 2]);
});

it('answers what is in flight when it stops', async () => {
  const waiting: (() => void)[] = [];
  const server = await serve((call) => waiting.push(() => withAddress('192.0.2.1')(call)));
  const { ask, plugin } = open({ servers: [server.place] });
  const asked = ask('a.example');
  await waitUntil('the call', () => waiting.length === 1);
  const stopped = plugin.stop();
  waiting[0]?.();
  expect(await asked).toMatchObject({ kind: 'message' });
  await stopped;
});

it('sends nothing for an explanation', async () => {
  const server = await serve(withCode(0));
  const { ask } = open({ servers: [server.place] });
  const look = new DryRun();
  const { question } = makeQuery('a.example');
  await ask(
    'a.example',
    new Query(question, { question, header: QUERY_HEADER, edns: undefined }, { ...CLIENT, look }),
  );
  expect(look.open).toMatchObject({ servers: [`grpc://127.0.0.1:${server.port}`] });
  expect(server.calls).toBe(0);
});
