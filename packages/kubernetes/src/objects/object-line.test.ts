import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryObjects } from '../testing/arbitrary-objects.ts';
import { checkLine, ObjectLineError } from './object-line.ts';
import type { ClusterObject, EndpointGroup, ServiceObject, ServicePort } from './objects.ts';

/** As releases before wrote it. */
function writeLine(object: ClusterObject): string {
  return JSON.stringify(listFields(object));
}

function listFields(object: ClusterObject): readonly unknown[] {
  switch (object.kind) {
    case 'Service':
      return ['S', object.namespace, object.name, addressField(object.address), object.ports.map(portField)];
    case 'Endpoints':
      return ['E', object.namespace, object.name, object.service, object.groups.map(groupField)];
    case 'Namespace':
      return ['N', object.name];
    case 'Pod':
      return ['P', object.namespace, object.name, object.addresses];
  }
}

function addressField(address: ServiceObject['address']): unknown {
  if (address.kind === 'clusterIPs') return address.addresses;
  return address.kind === 'headless' ? 0 : address.name;
}

const portField = ({ name, protocol, port }: ServicePort): unknown => [name, protocol, port];

const groupField = ({ addresses, ports }: EndpointGroup): unknown => [
  addresses.map(({ address, hostname }) => (hostname === undefined ? address : [address, hostname])),
  ports.map(portField),
];

/** Lines of this format do not say whether services select pods, and have no endpoints that are names. */
const writableObjects = arbitraryObjects.map((objects) =>
  objects.map((object): ClusterObject => {
    if (object.kind === 'Endpoints')
      return { ...object, groups: object.groups.map(({ targets: _targets, ...group }) => group) };
    if (object.kind !== 'Service') return object;
    const { selects: _selects, ...rest } = object;
    return rest;
  }),
);

describe('lines of objects', () => {
  it('are read back as the objects that they were made of', () => {
    fc.assert(
      fc.property(writableObjects, (objects) => {
        expect(objects.map((object) => checkLine(writeLine(object)))).toEqual(objects);
      }),
    );
  });

  it.each([
    '',
    '{}',
    '[]',
    '["S"]',
    '["N",1]',
    '["X","a","b"]',
    '["S","a","b",0,[["http","TCP",-1]]]',
    '["E","a","b"',
    'null',
  ])('are refused if they hold no object: %s', (line) =>
    expect(() => checkLine(line)).toThrow(ObjectLineError),
  );

  it('are checked without another error, whatever comes', () => {
    fc.assert(
      fc.property(fc.json(), (line) => {
        try {
          checkLine(line);
        } catch (error) {
          expect(error).toBeInstanceOf(ObjectLineError);
        }
      }),
    );
  });
});
