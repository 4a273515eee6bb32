/**
 * Fifteen usual faults of a cluster's DNS, made for each kind of server: one command names the right cause of each.
 *
 * The operator of this test knows only a symptom, and reads only what the command prints. Faults of the API server do not occur in a
 * node cache, which does not ask it.
 */
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { ask } from '../../src/chain/testing/ask.ts';
import { ApiServerDouble, type ApiServerOptions } from '../api-server/api-server.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { PAY, SICK, WELL, writeEvidence } from './cluster.ts';
import { examine, explainName, type NamedCause } from './operator.ts';
import { ROLES, type Role, type RunningRole, startRole, untilStatus } from './roles.ts';
import { findClosedPort, startUpstream, type Upstream } from './upstream.ts';

afterEach(endAllPrograms);

const OF_CLUSTER: readonly Role[] = ['serve', 'kube-dns', 'coredns'];

interface Fault {
  readonly fault: string;
  readonly roles: readonly Role[];
  readonly cause: string;
  readonly sentence: RegExp;
  /** Makes the fault, and runs the one command. */
  find(role: Role): Promise<NamedCause>;
}

interface WorldOptions extends ApiServerOptions {
  /** Replaces the URL of the API server. */
  readonly api?: string;
  /** Replaces the upstream server. */
  readonly upstreamPort?: number;
  /** Whether to wait until the server is ready. Default: yes. */
  readonly isReady?: boolean;
}

async function start(role: Role, options: WorldOptions = {}) {
  const { api, upstreamPort, port, isReady = true, ...settings } = options;
  const double = await ApiServerDouble.start({ objects: WELL, ...settings });
  onTestFinished(() => double.stop());
  const upstream = await startUpstream();
  const world = { api: api ?? double.url, upstreamPort: upstreamPort ?? upstream.port };
  const server = await startRole(role, world, port);
  if (isReady) await untilStatus(server, ({ ready }) => ready);
  return { server, upstream, double };
}

/** A name of a cluster with faults, asked for in a pod of the namespace `web`. */
function ofName(name: string): Fault['find'] {
  return async (role) => {
    const { server } = await start(role, { objects: SICK });
    // As `kubectl portolan explain` hands them over.
    const evidence = await writeEvidence(SICK);
    return await explainName(server.socket, name, ['--from=web/', '--ask', `--evidence=${evidence}`]);
  };
}

async function examineSick(role: Role, words: readonly string[]): Promise<NamedCause> {
  const { server } = await start(role, { objects: [...WELL, PAY] });
  return await examine(server.socket, words);
}

/** A fault of the upstream server, noticed by clients. */
function ofUpstream(spoil: (upstream: Upstream, server: RunningRole) => void): Fault['find'] {
  return async (role) => {
    const { server, upstream } = await start(role);
    spoil(upstream, server);
    await Promise.all([...'abcdefgh'].map((label) => askQuietly(server, `${label}.example.com`)));
    return await examine(server.socket, ['--watch=0s']);
  };
}

async function askQuietly(server: RunningRole, name: string): Promise<void> {
  await ask(server, name, 'A').catch(() => {});
}

/** What clients ask while the command watches. */
function ofTraffic(names: readonly string[]): Fault['find'] {
  return async (role) => {
    const { server } = await start(role);
    let isOver = false;
    const examined = examine(server.socket).finally(() => {
      isOver = true;
    });
    while (!isOver) for (const name of names) await askQuietly(server, name);
    return await examined;
  };
}

const FAULTS: readonly Fault[] = [
  {
    fault: 'a typo in the name of a service',
    roles: ROLES,
    cause: 'no-such-service',
    sentence: /there is no service "catr" in namespace shop$/,
    find: ofName('catr.shop'),
  },
  {
    fault: 'a service of another namespace',
    roles: ROLES,
    cause: 'no-such-service',
    sentence: /there is no service "cart" in namespace web$/,
    find: ofName('cart'),
  },
  {
    fault: 'a headless service whose endpoints are not ready',
    roles: ROLES,
    cause: 'endpoints-not-ready',
    sentence: /service shop\/db has 1 endpoint that is not ready: db-0/,
    find: ofName('db.shop'),
  },
  {
    fault: 'a selector that matches no pod',
    roles: ROLES,
    cause: 'selector-matches-nothing',
    sentence: /the selector app=search of service shop\/search matches no pod/,
    find: ofName('search.shop'),
  },
  {
    fault: 'an ExternalName that is an address',
    roles: OF_CLUSTER,
    cause: 'external-name-target',
    sentence: /service shop\/pay is an ExternalName for 10\.0\.0\.7, which is an address/,
    // Both dialects answer with the address, as the originals do, and others do not: a risk, which only the check sees.
    find: (role) => examineSick(role, ['--watch=0s']),
  },
  {
    fault: 'ExternalNames in a circle',
    roles: ROLES,
    cause: 'external-name-target',
    sentence:
      /service shop\/ring is an ExternalName for gnir\.shop\.svc\.cluster\.local, which leads back to it/,
    find: ofName('ring.shop'),
  },
  {
    fault: 'a search list that multiplies queries',
    roles: ROLES,
    cause: 'search-path-amplification',
    sentence: /^pods of namespace web ask 4\.\d questions for each name that they want$/,
    find: ofTraffic(
      ['web.svc.cluster.local.', 'svc.cluster.local.', 'cluster.local.', ''].map(
        (domain) => `s3.eu-west-1.example.com.${domain}`,
      ),
    ),
  },
  {
    fault: 'an upstream server that is down',
    roles: ROLES,
    cause: 'upstream-unreachable',
    sentence: /no upstream server answers: 127\.0\.0\.1:\d+$/,
    find: async (role) => {
      const { server } = await start(role, { upstreamPort: await findClosedPort() });
      return await explainName(server.socket, 'www.example.com', ['--from=web/', '--ask']);
    },
  },
  {
    fault: 'an upstream server that needs 2.5 s',
    roles: ROLES,
    cause: 'upstream-slow',
    sentence: /^upstream server 127\.0\.0\.1:\d+ needs \d\S*s for a reply$/,
    find: ofUpstream((upstream) => {
      upstream.delay = 2_500;
    }),
  },
  {
    fault: 'an upstream server that asks us',
    roles: ROLES,
    cause: 'forwarding-loop',
    sentence: /sends our queries back: /,
    find: async (role) => {
      const upstream = await startUpstream();
      const port = await findFreePort();
      upstream.loopsTo = port;
      const { server } = await start(role, { port, upstreamPort: upstream.port, isReady: false });
      const until = performance.now() + 30_000;
      const isFound = async () => (await examine(server.socket, ['--watch=0s'])).cause !== undefined;
      while (!(await isFound()) && performance.now() < until);
      return await examine(server.socket, ['--watch=0s']);
    },
  },
  {
    fault: 'a stub domain, or a directive, that is not valid',
    roles: ROLES,
    cause: 'config-rejected',
    sentence: /^the latest configuration is not in force: .*(?:stubDomains|endpiont)/,
    find: async (role) => {
      const { server } = await start(role);
      await server.spoil();
      await untilStatus(server, ({ configuration }) => configuration.isLastGood);
      return await examine(server.socket, ['--watch=0s']);
    },
  },
  {
    fault: 'a role without the right to list',
    roles: OF_CLUSTER,
    cause: 'api-forbidden',
    sentence: /^the server may not list \w+: forbidden: .*cannot (?:list|watch) resource/,
    find: async (role) => examineUnready(role, { access: { rules: { admin: [] } } }),
  },
  {
    fault: 'a token that is not valid any more, at the start',
    roles: OF_CLUSTER,
    cause: 'api-forbidden',
    sentence: /^the server may not list \w+: not authenticated: /,
    find: async (role) => examineUnready(role, { access: { tokens: { secret: 'somebody' } } }),
  },
  {
    fault: 'an API server that is away at the start',
    roles: OF_CLUSTER,
    cause: 'api-unreachable',
    sentence: /^the server cannot list \w+: no connection: .*ECONNREFUSED/,
    find: async (role) => examineUnready(role, { api: `http://127.0.0.1:${await findClosedPort()}` }),
  },
  {
    fault: 'an API server that says nothing any more',
    roles: OF_CLUSTER,
    cause: 'data-stale',
    sentence: /^the server last heard from the API server 1m\d+s ago$/,
    find: async (role) => {
      const { server, double } = await start(role);
      double.freeze();
      await untilStale(server);
      return await examine(server.socket, ['--watch=0s']);
    },
  },
  {
    fault: 'another cluster domain in the settings of kubelet',
    roles: ROLES,
    cause: 'foreign-cluster-domain',
    sentence: /names of the cluster domain corp\.local\.; this server serves cluster\.local\.$/,
    find: ofTraffic(['cart.shop.svc.corp.local']),
  },
];

/** A server that still waits for the API server, once it knows why. */
async function examineUnready(role: Role, options: WorldOptions): Promise<NamedCause> {
  const { server } = await start(role, { ...options, isReady: false });
  await untilStatus(server, ({ data }) => data.kinds.every(({ words = '' }) => !TRYING.test(words)));
  return await examine(server.socket, ['--watch=0s']);
}

/** Before the first failure. */
const TRYING = /^(?:|still listing.*|not started.*)$/;
/** Milliseconds after which data is stale. */
const STALE = 90_000;

async function untilStale(server: RunningRole): Promise<void> {
  await untilStatus(server, ({ data: { age = 0 } }) => age > STALE, 2 * STALE);
}

it.each(FAULTS.map((fault) => [fault.fault, fault] as const))(
  'one command names %s',
  { timeout: 240_000 },
  async (_, { roles, cause, sentence, find }) => {
    const found = await Promise.all(roles.map((role) => find(role)));
    for (const [index, role] of roles.entries()) {
      const { text, ...named } = found[index] ?? { text: '' };
      expect(named, `${role}: ${text}`).toEqual({ cause, sentence: expect.stringMatching(sentence) });
    }
  },
);
