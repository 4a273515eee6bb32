import { describe, expect, it } from 'vitest';
import type {
  CheckEvidence,
  PodEvidence,
  PolicyEvidence,
  ServerEvidence,
  TrafficEvidence,
} from '../finding.ts';
import { runChecks } from '../finding.ts';
import { REASON_TEXTS } from '../reason-texts.ts';
import { makeService, NO_ENDPOINTS } from '../testing/listed-evidence.ts';
import { ALL_CHECKS } from './all-checks.ts';

const UPSTREAM = { server: '10.0.0.2:53', state: 'well', since: 1_000, lastReply: 10, roundTrip: 20 };
const SERVER: ServerEvidence = {
  dataAge: 400,
  kinds: [{ kind: 'services', state: 'watching', age: 400, words: 'watching' }],
  losses: [],
  rejected: [],
  missingRules: undefined,
  upstreams: [UPSTREAM],
  forwardedDomains: [{ domain: '.', servers: ['10.0.0.2:53'] }],
  loopingZones: [],
  domains: ['cluster.local.'],
  foreignDomains: new Map([['cluster.lokal.', 4]]),
  fqdnEndpoints: [],
  unreversedServices: [],
  externalNames: [{ namespace: 'shop', name: 'mail', target: 'mail.example.com', domain: 'cluster.local.' }],
};
const POD: PodEvidence = {
  namespace: 'shop',
  name: 'web-0',
  labels: new Map([['app', 'web']]),
  hostNetwork: false,
  dnsPolicy: 'ClusterFirst',
};
const POLICY: PolicyEvidence = {
  namespace: 'shop',
  name: 'default-deny',
  selects: () => true,
  restrictsEgress: true,
  allows: { udp: false, tcp: false },
};
const ALLOWING: PolicyEvidence = { ...POLICY, name: 'allow-dns', allows: { udp: true, tcp: true } };
const TRAFFIC: TrafficEvidence = {
  seconds: 2,
  queries: 100,
  namespaces: new Map([['shop', { queries: 100, searched: 20 }]]),
  missing: [],
  foreignDomains: new Map(),
  domain: 'cluster.local.',
};
const HEALTHY: CheckEvidence = {
  server: SERVER,
  services: [makeService('cart.shop', { selector: new Map([['app', 'web']]), selectedPods: 1 })],
  pods: [POD],
  policies: [POLICY, ALLOWING],
  traffic: TRAFFIC,
};
function externalName(name: string, target: string) {
  return { namespace: 'shop', name, target, domain: 'cluster.local.' };
}

const HEADLESS = { address: { kind: 'headless' } } as const;

/** One sick state for each check, and what is found. */
const SICK: readonly (readonly [string, Partial<CheckEvidence>, string])[] = [
  [
    'names-lost',
    {
      server: {
        ...SERVER,
        losses: [
          { kind: 'services', subject: 'cluster.local.', names: 57, of: 60, age: 60_000, left: 540_000 },
        ],
      },
    },
    'problem services of cluster.local.: of 60 names, 57 were lost at once 1m0s ago; they are answered as stale for 9m0s more',
  ],
  [
    'upstream-unreachable',
    {
      server: {
        ...SERVER,
        upstreams: [{ ...UPSTREAM, state: 'down', since: 60_000, lastReply: 61_000 }],
      },
    },
    'problem 10.0.0.2:53: upstream server 10.0.0.2:53 is down for 1m0s; its last reply came 1m1s ago; all names outside of the cluster fail',
  ],
  [
    'upstream-unreachable',
    {
      server: {
        ...SERVER,
        upstreams: [UPSTREAM, { ...UPSTREAM, server: '10.0.0.9:5353', state: 'silent', since: 60_000 }],
        forwardedDomains: [
          ...SERVER.forwardedDomains,
          { domain: 'corp.example.', servers: ['10.0.0.9:5353'] },
        ],
      },
    },
    'problem 10.0.0.9:5353: upstream server 10.0.0.9:5353 is silent for 1m0s; its last reply came 10ms ago; all names of corp.example fail',
  ],
  [
    'upstream-unreachable',
    {
      server: {
        ...SERVER,
        upstreams: [UPSTREAM, { ...UPSTREAM, server: '10.0.0.3:53', state: 'down', since: 60_000 }],
        forwardedDomains: [{ domain: '.', servers: ['10.0.0.2:53', '10.0.0.3:53'] }],
      },
    },
    'risk 10.0.0.3:53: upstream server 10.0.0.3:53 is down for 1m0s; its last reply came 10ms ago',
  ],
  [
    'upstream-slow',
    { server: { ...SERVER, upstreams: [{ ...UPSTREAM, roundTrip: 2_500 }] } },
    'risk 10.0.0.2:53: upstream server 10.0.0.2:53 needs 2.5s for a reply',
  ],
  [
    'forwarding-loop',
    {
      server: {
        ...SERVER,
        upstreams: [{ ...UPSTREAM, server: '127.0.0.53:53', state: 'looping' }],
      },
    },
    'problem 127.0.0.53:53: the upstream server sends our queries back: 127.0.0.53:53',
  ],
  [
    'forwarding-loop',
    { server: { ...SERVER, loopingZones: ['.'] } },
    'problem those that zone "." is forwarded to: the upstream server sends our queries back: those that zone "." is forwarded to',
  ],
  [
    'data-stale',
    { server: { ...SERVER, dataAge: 120_000 } },
    'problem data of the cluster: the server last heard from the API server 2m0s ago',
  ],
  [
    'api-forbidden',
    {
      server: {
        ...SERVER,
        kinds: [
          { kind: 'endpoints', state: 'waiting', age: undefined, words: 'forbidden: User "x" cannot list' },
        ],
      },
    },
    'problem endpoints: the server may not list endpoints: forbidden: User "x" cannot list',
  ],
  [
    'api-unreachable',
    {
      server: {
        ...SERVER,
        kinds: [
          { kind: 'services', state: 'waiting', age: undefined, words: 'no connection: ECONNREFUSED' },
          { kind: 'endpoints', state: 'waiting', age: 400, words: 'no connection: ECONNREFUSED' },
        ],
      },
    },
    'problem services: the server cannot list services: no connection: ECONNREFUSED',
  ],
  [
    'config-rejected',
    { server: { ...SERVER, losses: [], rejected: ['stubDomains: not a list. Give one.'] } },
    'problem stubDomains: the latest configuration is not in force: stubDomains: not a list. Give one',
  ],
  [
    'node-rules-missing',
    { server: { ...SERVER, missingRules: { reason: 'nft -i: spawn nft ENOENT', age: 12_000 } } },
    'risk packet filter: the cache of this node has had no packet filter rules for 12s, so queries to the Service pass it by: nft -i: spawn nft ENOENT',
  ],
  [
    'external-name-target',
    { server: { ...SERVER, externalNames: [externalName('pay', '10.0.0.7')] } },
    'problem shop/pay: service shop/pay is an ExternalName for 10.0.0.7, which is an address and not a name',
  ],
  [
    'external-name-target',
    {
      server: {
        ...SERVER,
        externalNames: [
          externalName('in', 'Loop.shop.svc.cluster.local'),
          externalName('loop', 'loop.shop.svc.cluster.local.'),
          externalName('out', 'mail.example.com'),
        ],
      },
    },
    'problem shop/loop: service shop/loop is an ExternalName for loop.shop.svc.cluster.local., which leads back to it',
  ],
  [
    'fqdn-endpoints',
    { server: { ...SERVER, fqdnEndpoints: [{ namespace: 'shop', name: 'db', target: 'db.example.com.' }] } },
    'risk shop/db: service shop/db has an EndpointSlice of addressType FQDN, which Kubernetes deprecates; it leads to db.example.com.',
  ],
  [
    'no-reverse-zone',
    {
      server: {
        ...SERVER,
        unreversedServices: [
          { namespace: 'shop', name: 'cart', address: '10.112.0.5', domain: 'cluster.local.' },
          { namespace: 'shop', name: 'pay', address: '10.112.0.6', domain: 'cluster.local.' },
        ],
      },
    },
    'risk reverse zones of cluster.local.: address 10.112.0.5 of service shop/cart is in no reverse zone of the server, so it has no PTR record; so are those of 1 other services',
  ],
  [
    'endpoints-not-ready',
    {
      services: [
        makeService('db.shop', {
          ...HEADLESS,
          endpoints: {
            ...NO_ENDPOINTS,
            notReady: [{ address: '10.1.0.7', hostname: undefined, pod: 'db-0' }],
          },
        }),
      ],
    },
    'problem shop/db: service shop/db has 1 endpoint that is not ready: db-0',
  ],
  [
    'selector-matches-nothing',
    { services: [makeService('cart.shop', { selector: new Map([['app', 'cat']]), selectedPods: 0 })] },
    'risk shop/cart: the selector app=cat of service shop/cart matches no pod',
  ],
  [
    'host-network-policy',
    { pods: [{ ...POD, hostNetwork: true, dnsPolicy: undefined }] },
    'risk shop/web-0: pod shop/web-0 uses the network of its node and the policy ClusterFirst, so it asks the servers of the node',
  ],
  [
    'network-policy',
    { policies: [POLICY] },
    'problem shop: default-deny: network policy default-deny of namespace shop selects pods such as web-0, and none lets UDP and TCP to port 53 pass',
  ],
  [
    'no-such-service',
    { traffic: { ...TRAFFIC, missing: [{ service: 'catr', namespace: 'shop', count: 9, near: [] }] } },
    'risk shop/catr: there is no service "catr" in namespace shop, asked for 9 times in 2 s',
  ],
  [
    'search-path-amplification',
    { traffic: { ...TRAFFIC, namespaces: new Map([['etl', { queries: 100, searched: 75 }]]) } },
    'risk etl: pods of namespace etl ask 4.0 questions for each name that they want',
  ],
  [
    'foreign-cluster-domain',
    { server: { ...SERVER, foreignDomains: new Map([['corp.local.', 12]]) } },
    'risk corp.local.: upstream servers denied 12 names of services in the cluster domain corp.local.; this server serves cluster.local.',
  ],
  [
    'foreign-cluster-domain',
    { traffic: { ...TRAFFIC, foreignDomains: new Map([['corp.local.', 12]]) } },
    'problem corp.local.: 12 queries asked for names of the cluster domain corp.local.; this server serves cluster.local.',
  ],
];

describe('a check', () => {
  it('finds nothing in a healthy cluster', () => {
    const { findings, notChecked, checked } = runChecks(ALL_CHECKS, HEALTHY);
    expect([findings, notChecked]).toEqual([[], []]);
    expect(checked).toEqual(ALL_CHECKS.map(({ kind }) => kind));
  });

  it.each(SICK)('%s finds what is sick', (kind, changes, text) => {
    const { findings } = runChecks(ALL_CHECKS, { ...HEALTHY, ...changes });
    expect(findings.map((each) => `${each.severity} ${each.subject}: ${each.sentence}`)).toEqual([text]);
    expect(findings.map((each) => each.kind)).toEqual([kind]);
    expect(findings.flatMap(({ remedies }) => remedies).length).toBeGreaterThan(0);
  });

  it('has a sick state each, and an entry in the vocabulary', () => {
    expect(ALL_CHECKS.map(({ kind }) => kind).sort()).toEqual(
      [...new Set(SICK.map(([kind]) => kind))].sort(),
    );
    for (const { kind } of ALL_CHECKS) expect(REASON_TEXTS[kind].remedy).toMatch(/\.$/);
  });

  it('that lacks its evidence is named', () => {
    const blind = {
      server: SERVER,
      services: undefined,
      pods: undefined,
      policies: undefined,
      traffic: undefined,
    };
    const { checked, notChecked } = runChecks(ALL_CHECKS, blind);
    expect(checked).toHaveLength(13);
    expect(notChecked).toContainEqual({ kind: 'network-policy', needs: ['pods', 'policies'] });
  });

  it('says which protocol a policy stops', () => {
    const udpOnly = { ...POLICY, allows: { udp: true, tcp: false } };
    const { findings } = runChecks(ALL_CHECKS, { ...HEALTHY, policies: [udpOnly] });
    expect(findings[0]).toMatchObject({
      severity: 'risk',
      sentence: expect.stringContaining('none lets TCP to port 53'),
    });
    const other = { ...POLICY, selects: (labels: ReadonlyMap<string, string>) => labels.get('app') === 'db' };
    expect(runChecks(ALL_CHECKS, { ...HEALTHY, policies: [other] }).findings).toEqual([]);
  });

  it('counts one silent server of several as a risk', () => {
    const down = {
      server: '10.0.0.3:53',
      state: 'down',
      since: 1,
      lastReply: undefined,
      roundTrip: undefined,
    };
    const upstreams = [...SERVER.upstreams, down];
    const { findings } = runChecks(ALL_CHECKS, { ...HEALTHY, server: { ...SERVER, upstreams } });
    expect(findings.map(({ severity }) => severity)).toEqual(['risk']);
  });
});
