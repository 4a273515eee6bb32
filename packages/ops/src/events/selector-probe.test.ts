import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { RestError } from '@portolan/kubernetes/api/rest/rest-client.ts';
import type {
  ClusterEvidence,
  EndpointEvidence,
  ServiceEvidence,
} from '@portolan/server/reasons/cluster-evidence.ts';
import { expect, it } from 'vitest';
import { SelectorProbe } from './selector-probe.ts';

const ENDPOINT: EndpointEvidence = { address: '10.0.0.1', hostname: undefined, pod: undefined };
const NO_ENDPOINTS = { ready: [], notReady: [], terminating: [] };
const MINUTE = 60_000;

function makeService(name: string, change: Partial<ServiceEvidence> = {}): ServiceEvidence {
  return {
    namespace: 'shop',
    name,
    address: { kind: 'headless' },
    ports: [],
    selector: undefined,
    selectedPods: undefined,
    endpoints: NO_ENDPOINTS,
    ...change,
  };
}

/** @param pods the answer to a list of pods @param selector of all services */
function makeProbe(
  services: ServiceEvidence[],
  pods: () => unknown[] = () => [],
  selector: unknown = { app: 'cart' },
) {
  const clock = new ManualClock();
  const asked: string[] = [];
  const byName = () => new Map(services.map((service) => [service.name, service]));
  let known = byName();
  const evidence: ClusterEvidence = {
    hasNamespace: () => true,
    findService: (_namespace, name) => known.get(name),
    services: () => services,
    namespaces: () => ['shop'],
  };
  const rest = {
    async get(path: string) {
      asked.push(decodeURIComponent(path));
      return { items: path.includes('/pods?') ? pods() : [{ spec: { selector } }] };
    },
  };
  const probe = new SelectorProbe({ clusters: () => [evidence], rest, clock });
  const look = async (milliseconds = 0) => {
    known = byName();
    clock.advance(milliseconds);
    await probe.look();
  };
  return {
    probe,
    look,
    asked,
    found: () => probe.findings.map(({ subject, sentence }) => [subject, sentence]),
  };
}

it('finds a selector that matches no pod, of a service that has had no endpoint for a minute', async () => {
  const { look, asked, found } = makeProbe([makeService('cart')]);
  await look();
  await look(MINUTE - 1);
  expect(asked).toEqual([]);
  await look(1);
  expect(found()).toEqual([['shop/cart', 'the selector app=cart of service shop/cart matches no pod']]);
  expect(asked).toEqual([
    '/api/v1/namespaces/shop/services?fieldSelector=metadata.name=cart',
    '/api/v1/namespaces/shop/pods?labelSelector=app=cart&limit=1',
  ]);
  await look(30 * MINUTE);
  expect(asked).toHaveLength(2);
  await look(30 * MINUTE);
  expect(asked).toHaveLength(4);
});

it('forgets it when the service has an endpoint, or is gone', async () => {
  const services = [makeService('cart'), makeService('pay')];
  const { look, found } = makeProbe(services);
  await look();
  await look(MINUTE);
  expect(found()).toHaveLength(2);
  services[0] = makeService('cart', { endpoints: { ...NO_ENDPOINTS, notReady: [ENDPOINT] } });
  services.pop();
  await look(MINUTE);
  expect(found()).toEqual([]);
});

it('says nothing of services with pods, without a selector, with endpoints or a name', async () => {
  const some = makeProbe([makeService('cart')], () => [{}]);
  const none = makeProbe([makeService('cart')], undefined, null);
  const others = makeProbe([
    makeService('a', { endpoints: { ...NO_ENDPOINTS, terminating: [ENDPOINT] } }),
    makeService('b', { address: { kind: 'externalName', name: 'b.example.' } }),
  ]);
  for (const { look, found } of [some, none, others]) {
    await look();
    await look(MINUTE);
    expect(found()).toEqual([]);
  }
  expect(others.asked).toEqual([]);
});

it('says nothing without the right to list pods', async () => {
  const { look, found, asked } = makeProbe([makeService('cart')], () => {
    throw new RestError('forbidden', 403);
  });
  await look();
  for (let minutes = 0; minutes < 30; minutes += 1) await look(MINUTE);
  expect(found()).toEqual([]);
  expect(asked).toHaveLength(2);
});

it('reads few services at a time, of a bounded number', async () => {
  const { look, asked } = makeProbe(Array.from({ length: 1_200 }, (_, index) => makeService(`s${index}`)));
  for (let looks = 0; looks < 12; looks += 1) await look();
  await look(MINUTE);
  expect(asked).toHaveLength(10);
  for (let looks = 0; looks < 210; looks += 1) await look();
  expect(asked).toHaveLength(2_000);
});
