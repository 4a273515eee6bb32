import { parseName, toKey } from '@portolan/dns/name.ts';
import { describe, expect, it } from 'vitest';
import { hostnameLabel, isLabel, nameBelow, portLabel } from './labels.ts';

const domain = toKey(parseName('cluster.local.'));

describe('labels', () => {
  it.each(['web', 'a-b', '0', 'x'.repeat(63), '_odd'])('take %s as the name of an object', (name) =>
    expect(isLabel(name)).toBe(true),
  );
  it.each(['', 'Web', 'a.b', 'a b', '-a', 'x'.repeat(64), 'é', '*'])(
    'refuse %s as the name of an object',
    (name) => expect(isLabel(name)).toBe(false),
  );

  it.each([
    ['db-0', 'db-0'],
    ['DB-0', 'db-0'],
    ['x'.repeat(63), 'x'.repeat(63)],
    ['x'.repeat(64), undefined],
    ['a.b', undefined],
    ['_tcp', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('make of hostname %s the label %s', (hostname, label) => expect(hostnameLabel(hostname)).toBe(label));

  it.each([
    ['http', '_http'],
    ['HTTP', '_http'],
    ['y'.repeat(62), `_${'y'.repeat(62)}`],
    ['y'.repeat(63), undefined],
    ['a port', undefined],
    ['', undefined],
  ])('make of port %s the label %s', (name, label) => expect(portLabel(name)).toBe(label));

  it('make no name of more than 255 octets', () => {
    const label = 'x'.repeat(63);
    const long = nameBelow(`${label}.${label}.${label}`, domain);
    expect(long).toHaveLength(206);
    expect(nameBelow('y'.repeat(47), toKey(parseName(long ?? '')))).toHaveLength(254);
    expect(nameBelow('y'.repeat(48), toKey(parseName(long ?? '')))).toBeUndefined();
  });
});
