/**
 * The addresses and hostnames of ready endpoints in slices, as values that can be compared.
 */
import type { TableViews } from '../table/memory.ts';
import { MADE_LABEL } from './endpoint-writer.ts';
import { SECTION, SECTION_HAS_HOSTNAMES, SERVICE_FLAG, SLICE_RECORD } from './layout.ts';
import { SectionWalk } from './record-finder.ts';

/** An IPv4 address as a signed number, an IPv6 address as text with a character per octet. */
export type AddressValue = number | string;

const scratch = new Uint8Array(4);

/** The octets of an address; valid until the next call. */
export function toAddressOctets(address: AddressValue): Uint8Array {
  if (typeof address === 'string') return Buffer.from(address, 'latin1');
  scratch[0] = address >>> 24;
  scratch[1] = address >>> 16;
  scratch[2] = address >>> 8;
  scratch[3] = address;
  return scratch;
}

export const readyIn = ({ atoms }: TableViews, section: number): number =>
  (atoms[(section + SECTION.COUNTS) >> 2] ?? 0) & 0xffff;

/** The address of an endpoint. */
export function readEndpointAddress(views: TableViews, section: number, endpoint: number): AddressValue {
  const { atoms } = views;
  const octets = ((atoms[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff;
  const at = section + SECTION.ADDRESSES;
  return octets === 4 ? (atoms[(at >> 2) + endpoint] ?? 0) : textAt(views, at + endpoint * 16, 16);
}

/** Octets of the table as text, a character each. */
export function textAt({ octets }: TableViews, at: number, length: number): string {
  let text = '';
  for (let index = 0; index < length; index++) text += String.fromCharCode(octets[at + index] ?? 0);
  return text;
}

/** The hostname of an endpoint. */
export function readEndpointHostname(
  views: TableViews,
  section: number,
  endpoint: number,
): string | undefined {
  const { atoms, octets } = views;
  const labels = atoms[(section + SECTION.LABELS) >> 2] ?? 0;
  const word = labels === 0 ? 0 : (atoms[((section + labels) >> 2) + endpoint] ?? 0);
  if (word === 0 || (word & MADE_LABEL) !== 0) return undefined;
  return textAt(views, section + word + 1, octets[section + word] ?? 0);
}

/** The sections of a slice's record. */
export function* listSections({ atoms }: TableViews, record: number): Iterable<number> {
  let section = record + SLICE_RECORD.FIRST;
  for (let left = atoms[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0; left > 0; left--) {
    yield section;
    section += atoms[(section + SECTION.SIZE) >> 2] ?? 0;
  }
}

/** The addresses of a slice's ready endpoints. @param record 0 for none */
export function readyAddresses(views: TableViews, record: number): ReadonlySet<AddressValue> {
  const addresses = new Set<AddressValue>();
  if (record !== 0)
    for (const section of listSections(views, record))
      for (let endpoint = 0, ready = readyIn(views, section); endpoint < ready; endpoint++)
        addresses.add(readEndpointAddress(views, section, endpoint));
  return addresses;
}

/** How many ready endpoints a slice has. @param record 0 for none */
export function countReady(views: TableViews, record: number): number {
  let count = 0;
  if (record !== 0) for (const section of listSections(views, record)) count += readyIn(views, section);
  return count;
}

/** Whether a slice has hostnames. */
export function hasHostnames(views: TableViews, record: number): boolean {
  for (const section of listSections(views, record))
    if (((views.atoms[(section + SECTION.SHAPE) >> 2] ?? 0) & SECTION_HAS_HOSTNAMES) !== 0) return true;
  return false;
}

/** Where the names of a slice's endpoints begin, 0 if it has none. @param record 0 for none */
export function targetsIn({ atoms }: TableViews, record: number): number {
  if (record === 0) return 0;
  let at = record + SLICE_RECORD.FIRST;
  for (let left = atoms[(record + SLICE_RECORD.SECTIONS) >> 2] ?? 0; left > 0; left--)
    at += atoms[(at + SECTION.SIZE) >> 2] ?? 0;
  return at < record + (atoms[record >> 2] ?? 0) ? at : 0;
}

/** Which of `SERVICE_FLAG` the ready endpoints of a service need. @param service the octet of its entry */
export function findRepeats(views: TableViews, service: number): number {
  const walk = new SectionWalk(views);
  const addresses = new Set<AddressValue>();
  const hostnames = new Set<string>();
  let flags = 0;
  for (walk.begin(service); walk.next(); ) {
    const { section } = walk;
    const ready = readyIn(views, section);
    for (let endpoint = 0; endpoint < ready; endpoint++) {
      const address = readEndpointAddress(views, section, endpoint);
      if (addresses.has(address)) flags |= SERVICE_FLAG.OVERLAPS;
      addresses.add(address);
      const hostname = readEndpointHostname(views, section, endpoint);
      if (hostname === undefined) continue;
      if (hostnames.has(hostname)) flags |= SERVICE_FLAG.SHARES;
      hostnames.add(hostname);
    }
  }
  return flags;
}
