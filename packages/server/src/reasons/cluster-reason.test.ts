import { describe, expect, it } from 'vitest';
import type { ClusterZoneEvidence, PortEvidence } from './cluster-evidence.ts';
import { findClusterReason } from './cluster-reason.ts';
import { describeReason, listRemedies } from './describe-reason.ts';
import { REASON_TEXTS } from './reason-texts.ts';
import { makeEvidence, makeService, NO_ENDPOINTS, OPEN_ZONE } from './testing/listed-evidence.ts';

const WAITING = [
  { address: '10.1.0.7', hostname: 'db-0', pod: 'db-0' },
  { address: '10.1.0.8', hostname: undefined, pod: undefined },
];
function securePort(port: number): PortEvidence {
  return { name: 'https', protocol: 'tcp', port, appProtocol: { kind: 'https', versions: [] } };
}

const evidence = makeEvidence(
  [
    makeService('cart.shop'),
    makeService('card.shop'),
    makeService('kubernetes.default'),
    makeService('db.shop', {
      address: { kind: 'headless' },
      endpoints: { ready: [], notReady: WAITING, terminating: [] },
    }),
    makeService('up.shop', {
      address: { kind: 'headless' },
      endpoints: { ...NO_ENDPOINTS, ready: [{ address: '10.1.0.9', hostname: 'up-0', pod: undefined }] },
      ports: [securePort(8443)],
    }),
    makeService('both.shop', { ports: [securePort(443), { name: 'http', protocol: 'tcp', port: 80 }] }),
    makeService('two.shop', { ports: [securePort(8443), securePort(9443)] }),
    makeService('lost.shop', {
      address: { kind: 'headless' },
      selector: new Map([['app', 'losst']]),
      selectedPods: 0,
    }),
    makeService('manual.shop', { address: { kind: 'headless' }, selector: 'none' }),
    makeService('pay.shop', { address: { kind: 'externalName', name: '10.0.0.7' } }),
    makeService('ring.shop', { address: { kind: 'externalName', name: 'gnir.shop.svc.cluster.local' } }),
    makeService('gnir.shop', { address: { kind: 'externalName', name: 'ring.shop.svc.cluster.local' } }),
    makeService('mail.shop', { address: { kind: 'externalName', name: 'mail.example.com' } }),
  ],
  ['empty'],
);

function findReason(
  name: string,
  changes: Partial<ClusterZoneEvidence> & { isNoData?: boolean; type?: string } = {},
) {
  const { isNoData = false, type = 'A', ...zone } = changes;
  const labels = name === '' ? [] : name.split('.');
  return findClusterReason({ labels, type, isNoData, zone: { ...OPEN_ZONE, ...zone }, evidence });
}

it('says until when a service existed, of the service and of names below it', () => {
  const goneSince = (_: string, name: string) =>
    name === 'cart' ? Date.UTC(2026, 0, 2, 14, 3, 22) : undefined;
  const find = (name: string) => {
    const question = { labels: name.split('.'), type: 'A', isNoData: false, zone: OPEN_ZONE };
    const reason = findClusterReason({ ...question, evidence: { ...evidence, goneSince } });
    return [describeReason(reason), 'existedUntil' in reason ? reason.existedUntil : undefined];
  };
  const until = 'existed until 2026-01-02 14:03:22 UTC';
  const time = '2026-01-02T14:03:22.000Z';
  expect(find('cart.empty.svc')).toEqual([
    `there is no service "cart" in namespace empty; it ${until}`,
    time,
  ]);
  expect(find('_http._tcp.cart.empty.svc')[1]).toBe(time);
  expect(find('cart.gone.svc')).toEqual([`there is no namespace "gone"; the service ${until}`, time]);
  expect(find('other.empty.svc')[1]).toBeUndefined();
  expect(find('pay.shop.svc')[1]).toBeUndefined();
});

describe('the reason', () => {
  it.each([
    ['catr.shop.svc', 'no-such-service', 'there is no service "catr" in namespace shop'],
    ['cart.empty.svc', 'no-such-service', 'there is no service "cart" in namespace empty'],
    ['cart.web.svc', 'no-such-namespace', 'there is no namespace "web"'],
    ['web.svc', 'no-such-namespace', 'there is no namespace "web"'],
    ['cart.shop', 'not-a-name-form', 'no service, endpoint or pod can have a name of this form'],
    ['a.github.com.shop.svc', 'not-a-name-form', 'no service, endpoint or pod can have a name of this form'],
    [
      'db.shop.svc',
      'endpoints-not-ready',
      'service shop/db has 2 endpoints that are not ready: db-0 (10.1.0.7), 10.1.0.8',
    ],
    [
      'db-0.db.shop.svc',
      'endpoints-not-ready',
      'service shop/db has 1 endpoint that is not ready: db-0 (10.1.0.7)',
    ],
    [
      '10-1-0-8.db.shop.svc',
      'endpoints-not-ready',
      'service shop/db has 1 endpoint that is not ready: 10.1.0.8',
    ],
    ['up-1.up.shop.svc', 'no-such-endpoint', 'service shop/up has no endpoint "up-1"'],
    [
      'lost.shop.svc',
      'selector-matches-nothing',
      'the selector app=losst of service shop/lost matches no pod',
    ],
    [
      'manual.shop.svc',
      'no-endpoints',
      'headless service shop/manual has no ready endpoint, and no selector',
    ],
    ['_https._tcp.cart.shop.svc', 'no-such-port', 'service shop/cart has no port "_https._tcp"'],
    ['_http._udp.cart.shop.svc', 'no-such-port', 'service shop/cart has no port "_http._udp"'],
    [
      'pay.shop.svc',
      'external-name-target',
      'service shop/pay is an ExternalName for 10.0.0.7, which is an address and not a name',
    ],
    [
      'mail.shop.svc',
      'external-name-target',
      'service shop/mail is an ExternalName for mail.example.com, which has no address',
    ],
    [
      'ring.shop.svc',
      'external-name-target',
      'service shop/ring is an ExternalName for gnir.shop.svc.cluster.local, which leads back to it',
    ],
    ['10-1-0-8.web.pod', 'no-such-namespace', 'there is no namespace "web"'],
    ['nonsense.shop.pod', 'not-a-name-form', 'no service, endpoint or pod can have a name of this form'],
  ])('of %s is %s', (name, kind, sentence) => {
    const reason = findReason(name);
    expect([reason.kind, describeReason(reason)]).toEqual([kind, sentence]);
  });

  it('is another tenant, of what the client does not see', () => {
    const findHiding = (namespace: string) =>
      namespace === 'shop' ? { owner: 'b', client: 'a' } : undefined;
    const describeFor = (name: string) => describeReason(findReason(name, { findHiding }));
    expect(describeFor('cart.shop.svc')).toBe(
      'service shop/cart is of tenant "b", and the client is of tenant "a"',
    );
    for (const name of ['shop.svc', '10-1-0-8.shop.pod'])
      expect(describeFor(name)).toBe('namespace shop is of tenant "b", and the client is of tenant "a"');
    expect(findReason('missing.shop.svc', { findHiding }).kind).toBe('no-such-service');
    expect(findReason('x.empty.svc', { findHiding }).kind).toBe('no-such-service');
    const unknown = findReason('cart.shop.svc', {
      findHiding: () => ({ owner: undefined, client: undefined }),
    });
    expect(describeReason(unknown)).toBe(
      'the namespace of service shop/cart is not listed, and the client has no tenant',
    );
  });

  it('depends on the settings of the zone', () => {
    expect(findReason('10-1-0-8.shop.pod', { pods: 'disabled' })).toEqual({
      kind: 'pods-not-served',
      mode: 'disabled',
    });
    expect(findReason('10-1-0-8.shop.pod', { pods: 'verified' })).toEqual({
      kind: 'pods-not-served',
      mode: 'verified',
    });
    expect(findReason('cart.shop.svc', { isExcluded: (namespace) => namespace === 'shop' }).kind).toBe(
      'excluded-by-config',
    );
    expect(findReason('cart.shop.svc', { ignoresEmptyServices: true }).kind).toBe('excluded-by-config');
    expect(findReason('cart.shop.svc', { missing: ['services: forbidden'] })).toEqual({
      kind: 'zone-not-known',
      missing: ['services: forbidden'],
    });
  });

  it('of a name that exists is the type', () => {
    for (const name of [
      '',
      'svc',
      'shop.svc',
      'cart.shop.svc',
      'up.shop.svc',
      'up-0.up.shop.svc',
      '_tcp.cart.shop.svc',
    ])
      expect(findReason(name, { isNoData: true, type: 'AAAA' })).toEqual({ kind: 'no-data', type: 'AAAA' });
  });

  it.each([
    ['cart', false, 'HTTPS records are off'],
    ['cart', true, 'no port of the service has appProtocol https'],
    ['both', true, expect.stringContaining('would lead clients of http:// to TLS')],
    ['two', true, 'several ports have appProtocol https, and none is 443'],
    ['up', true, 'the endpoints have other ports than the service'],
  ])('of %s without an HTTPS record (records: %s) is %s', (service, hasHttpsRecords, detail) => {
    const reason = findReason(`${service}.shop.svc`, { isNoData: true, type: 'HTTPS', hasHttpsRecords });
    expect(reason).toEqual({ kind: 'no-data', type: 'HTTPS', detail });
    expect(describeReason(reason)).toMatch(/^the name exists and has no HTTPS record: /);
  });

  it('names what may have been meant: another namespace, a similar word, swapped labels', () => {
    const listNear = (name: string) => {
      const reason = findReason(name);
      return 'near' in reason ? reason.near.map(({ service, namespace }) => `${service}.${namespace}`) : [];
    };
    expect(listNear('cart.empty.svc')[0]).toBe('cart.shop');
    expect(listNear('catr.shop.svc').slice(0, 2)).toEqual(['cart.shop', 'card.shop']);
    expect(listNear('cart.shp.svc')).toEqual(['cart.shop']);
    expect(listNear('shop.cart.svc')[0]).toBe('cart.shop');
    expect(listNear('cart.svc')).toEqual(['cart.shop']);
    expect(listNear('unlike-all-others.shop.svc')).toEqual([]);
    expect(findReason('cart.shop')).toMatchObject({ meant: 'cart.shop.svc.cluster.local.' });
  });

  it('is found without evidence of what was not looked at', () => {
    const blind = makeEvidence([
      makeService('db.shop', {
        address: { kind: 'headless' },
        endpoints: { ready: [], notReady: undefined, terminating: undefined },
      }),
    ]);
    const question = { labels: ['db', 'shop', 'svc'], type: 'A', isNoData: false, zone: OPEN_ZONE };
    expect(findClusterReason({ ...question, evidence: blind })).toMatchObject({
      kind: 'no-endpoints',
      hasSelector: undefined,
    });
  });
});

it('each reason is in the vocabulary, and its remedies are whole sentences', () => {
  for (const name of [
    'catr.shop.svc',
    'cart.web.svc',
    'db.shop.svc',
    'up-1.up.shop.svc',
    'lost.shop.svc',
    'pay.shop.svc',
  ]) {
    const reason = findReason(name);
    expect(REASON_TEXTS[reason.kind].meaning).toMatch(/\.$/);
    for (const { sentence } of listRemedies(reason)) expect(sentence).toMatch(/^[A-Z]/);
  }
});
