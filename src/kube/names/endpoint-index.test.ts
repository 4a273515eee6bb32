import fc from 'fast-check';
import { expect, it } from 'vitest';
import { completeSteps } from '../../base/steps.ts';
import type { EndpointsObject, ServicePort } from '../objects/objects.ts';
import { EndpointIndex } from './endpoint-index.ts';
import { type Endpoint, endpointsOf, mergeEndpoints } from './endpoints.ts';
import { groupByLabel } from './label-groups.ts';

const http: ServicePort = { name: 'http', protocol: 'TCP', port: 80 };
const dns: ServicePort = { name: 'dns', protocol: 'UDP', port: 53 };
const labelOf = ({ address, hostname }: Endpoint) => hostname ?? address;

const address = fc.record({
  address: fc.constantFrom('10.0.0.1', '10.0.0.2', '10.0.0.11', '10.0.0.3', 'fd00::1', 'FD00::1'),
  hostname: fc.constantFrom(undefined, 'a', 'b'),
});
const ports = fc.constantFrom<readonly ServicePort[]>([http], [dns, http], [http, dns], []);
const group = fc.record({ addresses: fc.array(address, { maxLength: 4 }), ports });
/** States of a service's objects; some objects are the same in each state. */
const states = fc.array(fc.uniqueArray(fc.nat({ max: 9 }), { maxLength: 8 }), { maxLength: 10 });

it('holds what merging all objects gives, whichever changed', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(group, { maxLength: 2 }), { minLength: 10, maxLength: 10 }),
      states,
      (all, numbers) => {
        const index = new EndpointIndex(labelOf);
        const read = (line: string) => endpointsOf(objectOf(all[Number(line)] ?? []));
        for (const present of numbers) {
          completeSteps(index.update(() => present.map(String), read));
          const merged = mergeEndpoints(present.map((number) => read(String(number))));
          expect(index.endpoints).toEqual(merged);
          expect(index.groups).toEqual(groupByLabel(merged, labelOf));
        }
      },
    ),
  );
});

it('keeps the values of what stays, though the object is another', () => {
  const index = new EndpointIndex(labelOf);
  const objects = new Map([
    ['before', ['10.0.0.1', '10.0.0.2']],
    ['after', ['10.0.0.1', '10.0.0.3']],
  ]);
  const read = (line: string) =>
    endpointsOf(
      objectOf([{ addresses: (objects.get(line) ?? []).map(withoutHostname), ports: [{ ...http }] }]),
    );
  completeSteps(index.update(() => ['before'], read));
  const [endpoint] = index.endpoints;
  const [named] = index.groups;
  completeSteps(index.update(() => ['after'], read));
  expect(index.endpoints.map((one) => one.address)).toEqual(['10.0.0.1', '10.0.0.3']);
  expect(index.endpoints[0]).toBe(endpoint);
  expect(index.groups[0]).toBe(named);
});

it('ends with the objects that are there when it ends', () => {
  const index = new EndpointIndex(labelOf);
  let current = ['10.0.0.1', '10.0.0.2'];
  const read = (line: string) =>
    endpointsOf(objectOf([{ addresses: [withoutHostname(line)], ports: [http] }]));
  const steps = index.update(() => current, read);
  steps.next();
  current = ['10.0.0.2', '10.0.0.3'];
  completeSteps(index.update(() => current, read));
  completeSteps(steps);
  expect(index.endpoints.map((one) => one.address)).toEqual(current);
});

const withoutHostname = (text: string) => ({ address: text, hostname: undefined });

function objectOf(groups: EndpointsObject['groups']): EndpointsObject {
  return { kind: 'Endpoints', namespace: 'blue', name: 'web', service: 'web', groups };
}
