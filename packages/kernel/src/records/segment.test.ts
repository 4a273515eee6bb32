import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RecordSpace } from '../table/record-space.ts';
import { DEFAULT_PUBLICATION } from '../table/types.ts';
import { TableWriter } from '../table/writer.ts';
import { appendLabel, ServiceDraft, SliceDraft } from './drafts.ts';
import { DISTRIBUTION, EXTERNAL_TARGET, SERVICE_KIND } from './layout.ts';
import { RecordWriter } from './record-writer.ts';
import { copySegment } from './segment.ts';
import { loadSegment } from './segment-loader.ts';
import { Segment } from './segment-reader.ts';

const RESERVATION = 64 * 2 ** 20;

function makeWriter(reservation = RESERVATION): {
  readonly writer: RecordWriter;
  readonly space: RecordSpace;
} {
  const table = new TableWriter({ readers: 0, reservation, cacheOctets: 2 ** 20 });
  const space = table.openRecordSpace(DEFAULT_PUBLICATION);
  const options = {
    isKubeDns: false,
    namesSpecialAddresses: false,
    keepsPlaces: false,
    keepsAppProtocols: false,
  };
  return { writer: new RecordWriter(space, options), space };
}

const encodeText = (text: string) => Buffer.from(text, 'latin1');
const NAMESPACE = encodeText('\x04blue');

function makeKey(name: string): Uint8Array {
  return Buffer.concat([Uint8Array.of(name.length), encodeText(name), NAMESPACE]);
}

function putService(writer: RecordWriter, name: string, ...addresses: readonly string[]): void {
  const draft = new ServiceDraft();
  draft.key.append(makeKey(name), 0, makeKey(name).length);
  draft.kind = addresses.length > 0 ? SERVICE_KIND.CLUSTER : SERVICE_KIND.HEADLESS;
  draft.distribution = DISTRIBUTION.NONE;
  for (const address of addresses) draft.addAddress(address);
  draft.ports.add(80, 0, encodeText('http'), 0, 4);
  writer.putService(draft, 1);
}

function putSlice(
  writer: RecordWriter,
  name: string,
  of: string,
  addresses: readonly string[],
  host = '',
  target = '',
): void {
  const draft = new SliceDraft();
  draft.key.append(NAMESPACE, 0, NAMESPACE.length);
  draft.key.append(encodeText(name), 0, name.length);
  appendLabel(draft.service, encodeText(of), 0, of.length);
  draft.service.append(NAMESPACE, 0, NAMESPACE.length);
  for (const [index, address] of addresses.entries())
    draft.addAddress(address, index % 5 === 4 ? 1 : 0, encodeText(host), 0, host.length);
  if (target !== '') draft.addTarget(target, encodeText(host), 0, host.length);
  draft.ports.add(80, 0, encodeText('http'), 0, 4);
  draft.endGroup();
  writer.putSlice(draft, 1);
}

/** Entries, addresses, ready endpoints and index of a service, whatever the places in the table are. */
function describeWriter({ writer, space }: ReturnType<typeof makeWriter>) {
  const { views } = space;
  const readWords = (name: string) => {
    const entry = writer.findService(makeKey(name));
    return [8, 24].map((field) => (entry === 0 ? -1 : views.atoms[(entry + field) >> 2]));
  };
  const services = ['web', 'db', 'large', 'shared', 'early'].map(readWords);
  const counts = [writer.services, writer.slices.count, writer.namespaceObjects, writer.claims.count];
  return { services, counts, entries: space.entries };
}

/** Few addresses, so that services share some. */
const arbitraryAddress = fc.oneof(
  fc.nat(9).map((last) => `10.0.0.${last}`),
  fc.nat(3).map((last) => `fd00::${last}`),
  fc.constantFrom('127.0.0.1', '169.254.169.254', '::1', '::ffff:127.0.0.1'),
);
const arbitraryAddresses = fc.array(arbitraryAddress, { maxLength: 6 });

/** Removes all that no list has. */
function sweep(writer: RecordWriter): void {
  for (const slice of writer.slices.missingIn(2)) writer.dropSlice(slice);
  for (const service of writer.servicesMissingIn(2)) writer.dropService(service);
  for (const namespace of writer.namespacesMissingIn(2)) writer.dropNamespace(namespace);
}

function fill(writer: RecordWriter, own: readonly string[], endpoints: readonly (readonly string[])[]): void {
  writer.putNamespace(NAMESPACE, 1);
  writer.putNamespace(encodeText('\x05green'), 1);
  putService(writer, 'web', ...own);
  putService(writer, 'db');
  putService(writer, 'large');
  for (const [index, addresses] of endpoints.entries()) {
    putSlice(writer, `db-${index}`, 'db', addresses, index % 2 === 0 ? 'host' : '');
    putSlice(writer, `shared-${index}`, 'shared', addresses);
  }
  putSlice(writer, 'db-names', 'db', [], 'host', 'db.example.com');
  putSlice(writer, 'web-names', 'web', [], '', 'web.example.com.');
  // Its service has not come yet.
  putSlice(writer, 'early-1', 'early', ['10.0.0.1']);
  const many = Array.from({ length: 100 }, (_, index) => `10.1.0.${index}`);
  putSlice(writer, 'large-1', 'large', many);
  putSlice(writer, 'large-2.with.dots', 'large', ['10.1.0.1', '10.2.0.1']);
}

describe('a segment', () => {
  it('makes the same records, claims and indexes elsewhere, and all of them can be removed', () => {
    fc.assert(
      fc.property(arbitraryAddresses, fc.array(arbitraryAddresses, { maxLength: 4 }), (own, endpoints) => {
        const before = makeWriter();
        fill(before.writer, own, endpoints);
        const segment = Segment.read(Buffer.concat(copySegment(before.writer)));
        const after = makeWriter();
        expect(segment).toBeDefined();
        if (segment !== undefined) loadSegment(after.writer, segment);
        expect(describeWriter(after)).toEqual(describeWriter(before));
        // What is equal changes nothing, and what differs replaces it.
        fill(after.writer, own, endpoints);
        expect(describeWriter(after)).toEqual(describeWriter(before));
        for (const { writer, space } of [before, after]) {
          sweep(writer);
          expect([space.entries, space.octets, writer.claims.count]).toEqual([0, 0, 0]);
        }
      }),
      { numRuns: 60 },
    );
  });

  it('of an empty cluster is one', () => {
    const segment = Segment.read(Buffer.concat(copySegment(makeWriter().writer)));
    expect(segment).toMatchObject({ count: 0, namespaces: [] });
  });

  it('has external names with a name for a target', () => {
    const before = makeWriter();
    const draft = new ServiceDraft();
    draft.key.append(makeKey('web'), 0, makeKey('web').length);
    draft.kind = SERVICE_KIND.EXTERNAL;
    draft.targetKind = EXTERNAL_TARGET.NAME;
    draft.external.append(encodeText('a.example'), 0, 9);
    before.writer.putService(draft, 1);
    expect(Segment.read(Buffer.concat(copySegment(before.writer)))).toBeUndefined();
    draft.target.append(encodeText('\x01a\x07example\x00'), 0, 11);
    before.writer.putService(draft, 1);
    expect(Segment.read(Buffer.concat(copySegment(before.writer)))).toMatchObject({ count: 1 });
  });

  it('has names of endpoints with their labels and ports, which end where the record does', () => {
    const before = makeWriter();
    putService(before.writer, 'db');
    putSlice(before.writer, 'db-1', 'db', [], 'host', 'db.example.com');
    const octets = Buffer.concat(copySegment(before.writer));
    expect(Segment.read(octets)).toMatchObject({ count: 2 });
    const at = octets.indexOf('\x04host\x02db\x07example\x03com\x00', 'latin1');
    for (const [place, value] of [
      [at, 63],
      [at + 5, 64],
      [at + 16, 40],
      [at - 5, 200],
    ] as const) {
      const other = Buffer.from(octets);
      other[place] = value;
      expect(Segment.read(other), `octet ${place - at}`).toBeUndefined();
    }
  });

  it('is not taken in by a table without room for it, and leaves it usable', () => {
    const before = makeWriter();
    for (let index = 0; index < 3000; index++)
      putService(before.writer, `web-${index}`, `10.9.${index >> 8}.${index & 255}`);
    const segment = Segment.read(Buffer.concat(copySegment(before.writer)));
    const after = makeWriter(2 ** 20 + 2 ** 18);
    expect(() => segment && loadSegment(after.writer, segment)).toThrow(/full/);
    expect([after.space.entries, after.space.octets]).toEqual([0, 0]);
    putService(after.writer, 'web', '10.0.0.1');
    expect(after.writer.services).toBe(1);
  });

  it('gives what is in it twice once', () => {
    const before = makeWriter();
    putService(before.writer, 'aaa', '10.0.0.1');
    putService(before.writer, 'bbb', '10.0.0.2');
    putSlice(before.writer, 'aaa-1', 'aaa', ['10.0.0.3']);
    putSlice(before.writer, 'bbb-1', 'bbb', ['10.0.0.4']);
    const octets = Buffer.from(
      Buffer.concat(copySegment(before.writer)).toString('latin1').replaceAll('bbb', 'aaa'),
      'latin1',
    );
    const segment = Segment.read(octets);
    const after = makeWriter();
    if (segment !== undefined) loadSegment(after.writer, segment);
    expect([after.writer.services, after.writer.slices.count]).toEqual([1, 1]);
    sweep(after.writer);
    expect([after.space.entries, after.space.octets]).toEqual([0, 0]);
  });

  it('is refused if it ends early or claims more than it holds', () => {
    const before = makeWriter();
    fill(before.writer, ['10.0.0.1'], [['10.0.0.2', 'fd00::1']]);
    const octets = Buffer.concat(copySegment(before.writer));
    for (let length = 0; length < octets.length; length++)
      expect(Segment.read(octets.subarray(0, length))).toBeUndefined();
    for (let word = 0; word < 6; word++)
      for (const value of [0, 1, 7, 2 ** 16, 2 ** 31, 2 ** 32 - 1, 2 ** 32 - 4]) {
        const other = Buffer.from(octets);
        if (other.readUInt32LE(word * 4) === value) continue;
        other.writeUInt32LE(value, word * 4);
        expect(Segment.read(other)).toBeUndefined();
      }
  });
});
