import { request } from 'node:http';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { HttpHost, type HttpPort } from '@portolan/server/observe/http-host.ts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Collector } from './collector.ts';
import { createDashboardPort, DASHBOARD_PORT, toExplainWords } from './dashboard-server.ts';
import type { ShownReplica } from './replica.ts';

const TOKEN = 'right';
const files = new Map([['/', { status: 200, type: 'text/html; charset=utf-8', body: '<!doctype html>' }]]);

let http: HttpHost;
let collector: Collector;
let clock: ManualClock;
let asked: string[];
let open: number;

/** Answers no status, so that nothing of its content is read; `top` lasts until it is told to end. */
const replica: ShownReplica = {
  name: 'one',
  async *ask({ verb, words }, signal) {
    asked.push([verb, ...words].join(' '));
    if (verb !== 'top') throw new Error('it is away');
    open += 1;
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    open -= 1;
    yield* [];
  },
};

beforeEach(async () => {
  clock = new ManualClock();
  asked = [];
  open = 0;
  http = new HttpHost({ clock: systemClock, log: silentLog });
  collector = new Collector(async () => [replica], clock);
  const options = { address: '127.0.0.1', port: 0, token: TOKEN, files, flag: '--port' };
  await show(createDashboardPort(options, collector, systemClock));
});

afterEach(async () => {
  collector.stop();
  await http.stop();
});

async function get(path: string, headers: Record<string, string> = {}, method = 'GET', host = '127.0.0.1') {
  return await new Promise<{ status: number | undefined; body: string; policy: unknown }>(
    (resolve, reject) => {
      const sent = request(
        { host, port: http.findPort(DASHBOARD_PORT), path, method, headers },
        (response) => {
          let body = '';
          response.setEncoding('utf8').on('data', (text) => {
            body += text;
          });
          const policy = response.headers['content-security-policy'];
          response.on('end', () => resolve({ status: response.statusCode, body, policy }));
        },
      );
      sent.on('error', reject).end();
    },
  );
}

/** In place of the port that was open. */
async function show(port: HttpPort): Promise<void> {
  await http.stop();
  await http.open(port);
}

const authorized = { authorization: `Bearer ${TOKEN}` };

describe('the port of the dashboard', () => {
  it('answers no request for another host, which DNS rebinding would send', async () => {
    const hosts = [
      'evil.example',
      '127.0.0.1.evil.example',
      'localhost.evil',
      '10.0.0.1:80',
      'evil@localhost',
    ];
    for (const host of hosts) {
      expect((await get('/', { host })).status, host).toBe(421);
      expect((await get('/api/state', { host, ...authorized })).status, host).toBe(421);
    }
    for (const host of ['localhost', 'LOCALHOST:80', '127.0.0.1:1234', '[::1]:99'])
      expect((await get('/', { host })).status, host).toBe(200);
    expect(asked).toEqual([]);
  });

  it('answers for its own address, and for hosts that the user allows', async () => {
    const place = { address: '127.0.0.2', port: 0, token: TOKEN, files, flag: '--dashboard' };
    await show(createDashboardPort({ ...place, hosts: ['dns.example'] }, collector, systemClock));
    const statuses = ['127.0.0.2:80', 'DNS.example:80', 'localhost', '127.0.0.3', 'dns.example.evil'].map(
      async (host) => (await get('/', { host }, 'GET', '127.0.0.2')).status,
    );
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 421, 421]);
  });

  it('gives data only to its own page, with the token', async () => {
    expect((await get('/api/state')).status).toBe(401);
    expect((await get('/api/state', { authorization: 'Bearer wrong' })).status).toBe(401);
    expect((await get('/api/explain?name=a', { authorization: TOKEN })).status).toBe(401);
    expect((await get('/api/live')).status).toBe(401);
    for (const site of ['cross-site', 'same-site'])
      expect((await get('/api/state', { ...authorized, 'sec-fetch-site': site })).status).toBe(403);
    expect(asked).toEqual([]);
    expect((await get('/api/state', { ...authorized, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('has a policy in every reply, which allows nothing of another origin', async () => {
    const policies = await Promise.all(
      [get('/'), get('/api/state'), get('/no-such'), get('/', { host: 'evil' }), get('/', {}, 'POST')].map(
        async (reply) => (await reply).policy,
      ),
    );
    expect(new Set(policies).size).toBe(1);
    expect(policies[0]).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(policies[0]).not.toMatch(/unsafe|https?:|\*/);
  });

  it('takes only GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect((await get('/api/state', authorized, method)).status).toBe(405);
  });

  it('refuses what is not a question', async () => {
    expect((await get('/api/explain', authorized)).status).toBe(400);
    const { status, body } = await get('/api/explain?name=a&type=NOPE', authorized);
    expect([status, JSON.parse(body)]).toEqual([400, { problems: [expect.stringContaining('NOPE')] }]);
    expect(asked).toEqual([]);
  });
});

describe('replicas', () => {
  it('are asked while somebody looks, only to look, and not afterwards', async () => {
    expect(collector.isFollowing).toBe(false);
    await get('/api/state', authorized);
    await expect.poll(() => asked.length).toBe(3);
    expect(asked.map((each) => each.split(' ')[0]).sort()).toEqual(['doctor', 'status', 'top']);
    expect(open).toBe(1);
    await get('/api/state', authorized);
    clock.advance(14_000);
    expect(collector.isFollowing).toBe(true);
    clock.advance(2_000);
    expect(collector.isFollowing).toBe(false);
    await expect.poll(() => open).toBe(0);
  });

  it('say in their row why they cannot be asked, and once in the changes', async () => {
    await get('/api/state', authorized);
    await expect.poll(() => collector.look().replicas[0]?.error).toBe('it is away');
    const before = asked.filter((each) => each === 'status').length;
    clock.advance(10_000);
    await expect.poll(() => asked.filter((each) => each === 'status').length).toBe(before + 1);
    const { health, changes } = collector.look();
    expect(health.word).toBe('unknown');
    expect(changes.map(({ sentence }) => sentence)).toEqual(['cannot be asked: it is away']);
  });

  it('are summed up at most twice a second, whatever the number of requests', async () => {
    const options = { address: '127.0.0.1', port: 0, token: TOKEN, files, flag: '--port' };
    await show(createDashboardPort(options, collector, clock));
    const look = vi.spyOn(collector, 'look');
    for (let request = 0; request < 3; request += 1) await get('/api/state', authorized);
    expect(look).toHaveBeenCalledTimes(1);
    clock.advance(500);
    await get('/api/state', authorized);
    expect(look).toHaveBeenCalledTimes(2);
    clock.advance(14_900);
    expect(collector.isFollowing).toBe(true);
  });

  it('explain with their error', async () => {
    await get('/api/state', authorized);
    await expect.poll(() => collector.replicas.length).toBe(1);
    const { body } = await get('/api/explain?name=cart.shop&ask=1', authorized);
    expect(JSON.parse(body)).toEqual([{ replica: 'one', error: 'it is away' }]);
    expect(asked).toContain('explain cart.shop ask');
  });
});

it('asks upstream only by the button, and lets no name be a setting', () => {
  const words = (query: string) => toExplainWords(new URLSearchParams(query));
  expect(words('name=cart.shop&type=A ask&namespace=web')).toEqual(['cart.shop', 'A', 'namespace=web']);
  expect(words('name=from=10.0.0.1')).toEqual(['from\\06110.0.0.1']);
  expect(words('name=ask')).toEqual(['ask.']);
});
