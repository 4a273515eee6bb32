/**
 * The HTTP port of the dashboard: the files of the page, the state of all replicas, their queries, and explanations.
 *
 * A page of another origin that the user visits must not read it. Such a page can reach the port by a name that it lets resolve to
 * the address of the port (DNS rebinding), so the header Host must name that address, loopback, or a host that the user has allowed.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { formatHost } from '@portolan/kernel/base/socket-address.ts';
import type { HttpPort } from '@portolan/server/observe/http-host.ts';
import { type HttpReply, type HttpRoute, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import { checkExplanation } from '@portolan/server/reasons/render-explanation.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { readControlOrder } from '../control/settings/control-order.ts';
import type { Collector } from './collector.ts';
import { json } from './json-reply.ts';
import { LiveQueries } from './live-queries.ts';
import type { ExplainedByReplica } from './page-state.ts';
import type { ShownReplica } from './replica.ts';

export interface DashboardPlace {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  /** The flag that sets the port, for error messages. */
  readonly flag: string;
  /** By which browsers may open it, beside loopback; in lower case. Default: none. */
  readonly hosts?: readonly string[];
  /** Whether to wait while another process holds the port. Default: no. */
  readonly waitsForPort?: boolean;
}

export interface DashboardOptions extends DashboardPlace {
  /** Asked for with each look at data; undefined: not needed. */
  readonly token: string | undefined;
  /** The files of the page by path, such as `/page.js`. */
  readonly files: ReadonlyMap<string, HttpReply>;
}

const DATA_PREFIX = '/api/';
const LOOPBACK_HOSTS = ['localhost', '127.0.0.1', '[::1]'];
/** Explanations that are made at a time; each asks all replicas. */
const MAX_EXPLAINING = 4;
/** Milliseconds for which a state is given again. */
const STATE_LASTS = 500;
/** Milliseconds for all of them. */
const EXPLAIN_TIMEOUT = 15_000;

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** The name of the HTTP port. */
export const DASHBOARD_PORT = 'dashboard';

export function createDashboardPort(
  { token, files, hosts = [], waitsForPort: waitForPort = false, ...place }: DashboardOptions,
  collector: Collector,
  clock: Clock,
): HttpPort {
  const explaining = new Explanations(collector, clock);
  const live = new LiveQueries(collector, clock);
  const state = new StateReply(collector, clock);
  const names = new Set([...LOOPBACK_HOSTS, formatHost(place.address), ...hosts]);
  const routes = new Map<string, HttpRoute>([
    ...Array.from(files, ([path, reply]) => [path, () => reply] as const),
    [`${DATA_PREFIX}state`, () => state.reply()],
    [`${DATA_PREFIX}live`, (query) => live.reply(query)],
    [`${DATA_PREFIX}explain`, (query) => explaining.reply(query)],
  ]);
  const options: HttpPort['options'] = {
    ...place,
    waitForPort,
    headers: HEADERS,
    takesTime: false,
    refuse: (path, headers) => refuse(path, headers, names, token),
  };
  return { name: DASHBOARD_PORT, options, routes };
}

/** Why a request gets no answer; undefined: it gets one. */
function refuse(
  path: string,
  headers: IncomingHttpHeaders,
  names: ReadonlySet<string>,
  token: string | undefined,
): HttpReply | undefined {
  const [, host = ''] = /^(.*?)(?::\d{1,5})?$/.exec(headers.host ?? '') ?? [];
  if (!names.has(host.toLowerCase()))
    return text(421, 'the header Host names another server: open the address that portolan printed\n');
  const site = headers['sec-fetch-site'];
  if (!path.startsWith(DATA_PREFIX)) return undefined;
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    return text(403, 'the request comes from a page of another origin\n');
  if (token === undefined || isEqual(headers.authorization ?? '', `Bearer ${token}`)) return undefined;
  return text(401, 'the token is missing or wrong: open the address that portolan printed\n');
}

/** In a time that does not depend on the texts. */
function isEqual(one: string, other: string): boolean {
  const digest = (value: string) => createHash('sha256').update(value).digest();
  return timingSafeEqual(digest(one), digest(other));
}

/** Made at most twice a second, whatever the number of requests. */
class StateReply {
  readonly #collector: Collector;
  readonly #clock: Clock;
  #reply: HttpReply | undefined;
  #madeAt = 0;

  constructor(collector: Collector, clock: Clock) {
    this.#collector = collector;
    this.#clock = clock;
  }

  reply(): HttpReply {
    this.#collector.keepFollowing();
    const now = this.#clock.monotonic();
    if (this.#reply === undefined || now - this.#madeAt >= STATE_LASTS) {
      this.#reply = json(200, this.#collector.look());
      this.#madeAt = now;
    }
    return this.#reply;
  }
}

class Explanations {
  readonly #collector: Collector;
  readonly #clock: Clock;
  #running = 0;

  constructor(collector: Collector, clock: Clock) {
    this.#collector = collector;
    this.#clock = clock;
  }

  async reply(query: URLSearchParams): Promise<HttpReply> {
    const words = toExplainWords(query);
    const checked = readControlOrder(['explain', ...words], 'text');
    if (checked.kind === 'bad') return json(400, { problems: checked.problems.map(describeProblem) });
    if (this.#running >= MAX_EXPLAINING) return json(429, { problems: ['Too many at a time: try again.'] });
    this.#running += 1;
    const abort = new AbortController();
    const timer = this.#clock.after(EXPLAIN_TIMEOUT, () => abort.abort());
    try {
      const { replicas } = this.#collector;
      const explained = await Promise.all(replicas.map((replica) => explain(replica, words, abort.signal)));
      const reply = json(200, explained);
      // In pieces: replies in pieces are never shared between requests, which ask for different names.
      return { ...reply, body: inPieces(String(reply.body)) };
    } finally {
      timer.cancel();
      this.#running -= 1;
    }
  }
}

async function explain(
  replica: ShownReplica,
  words: readonly string[],
  signal: AbortSignal,
): Promise<ExplainedByReplica> {
  const { name } = replica;
  try {
    for await (const data of replica.ask({ verb: 'explain', words }, signal))
      return { replica: name, explanation: checkExplanation(data) };
    return { replica: name, error: signal.aborted ? 'no reply in time' : 'no explanation' };
  } catch (error) {
    return { replica: name, error: describeError(error) };
  }
}

/** The words of the control socket. Fields with a `=` of their own would be read as settings, so names have none. */
export function toExplainWords(query: URLSearchParams): readonly string[] {
  const given = query.get('name')?.trim() ?? '';
  const name = given === 'ask' ? 'ask.' : given;
  const types = (query.get('type') ?? '').split(/[\s,]+/).filter((type) => type !== '' && type !== 'ask');
  const settings = ['from', 'namespace', 'search', 'ndots'].flatMap((setting) => {
    const value = query.get(setting)?.trim() ?? '';
    return value === '' ? [] : `${setting}=${value}`;
  });
  return [name.replaceAll('=', '\\061'), ...types, ...settings, ...(query.get('ask') === '1' ? ['ask'] : [])];
}

async function* inPieces(body: string): AsyncIterable<string> {
  yield body;
}

function text(status: number, body: string): HttpReply {
  return { status, type: PLAIN_TEXT, body };
}
