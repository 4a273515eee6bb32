/**
 * Writes a cluster's services, slices, namespaces and pods as records. Each change is visible at once and whole.
 *
 * It keeps no values of its own: what it must know of an object again, it reads from its record.
 */
import type { AddressMatch } from '@portolan/dns/address-range.ts';
import type { Steps } from '../base/steps.ts';
import { TableFullError } from '../table/arena.ts';
import { BlockBuffer } from '../table/block.ts';
import type { RecordSpace } from '../table/record-space.ts';
import { AddressClaims } from './address-claims.ts';
import type { ServiceDraft, SliceDraft } from './drafts.ts';
import { EndpointIndex } from './endpoint-index.ts';
import { EntryList } from './entry-list.ts';
import { writeHashLabel } from './hash-label.ts';
import {
  EXTERNAL_TARGET,
  NAMESPACE,
  NAMESPACE_FLAG,
  NO_SLOT,
  POD,
  RECORD_KIND,
  SELECTS_PODS,
  SERVICE,
  SERVICE_FLAG,
  SERVICE_KIND,
  SERVICE_RECORD,
} from './layout.ts';
import { encodeServiceRecord, encodeSliceRecord } from './record-blocks.ts';
import { serviceKeyAt } from './service-digest.ts';
import { ServiceFields, writeDashed } from './service-fields.ts';
import { type AddressValue, textAt, toAddressOctets } from './slice-addresses.ts';
import { SliceWriter } from './slice-writer.ts';
import { isSpecialAddress } from './special-addresses.ts';
import { StaleEntries } from './stale-entries.ts';

/** Addresses that are judged in one step, besides reading those of their service. */
const ADDRESSES_OF_STEP = 256;

export interface RecordWriterOptions {
  /** Whether names are those of kube-dns: external names that are addresses have some, endpoints have hashes as labels. */
  readonly isKubeDns: boolean;
  /** Whether loopback and other special addresses have reverse names, as in CoreDNS. */
  readonly namesSpecialAddresses: boolean;
  /**
   * The addresses of pods and nodes. Endpoints of services without a selector have reverse names only there. Undefined: at any
   * address.
   */
  readonly endpointRanges?: AddressMatch | undefined;
  /** Whether records of slices have the zones and nodes of endpoints. */
  readonly keepsPlaces: boolean;
  /** Whether records of services have the application protocols of their ports. */
  readonly keepsAppProtocols: boolean;
}

/** Learns of each change of a service, whose former and new records can both be read then, and of its endpoints. */
export interface ServiceObserver {
  /**
   * @param key the labels of the service and of its namespace
   * @param before octet of its former record; 0: it is new
   * @param after octet of its record now; 0: it is gone
   */
  observeService(key: Uint8Array, before: number, after: number): void;
  /** Called when their number changes. @param before ready endpoints until now; the service may not be there */
  observeReady(key: Uint8Array, before: number, now: number): void;
}

export class RecordWriter {
  readonly space: RecordSpace;
  readonly claims: AddressClaims;
  readonly slices: SliceWriter;
  readonly stale: StaleEntries;
  readonly #words: Int32Array;
  readonly #options: RecordWriterOptions;
  readonly #buffer = new BlockBuffer();
  readonly #fields: ServiceFields;
  readonly #observer: ServiceObserver | undefined;
  readonly #ofNamespace: EntryList;
  readonly #all: EntryList;
  /** The first namespace, 0 for none. */
  #first = 0;
  #changes = 0;
  /** Services and namespaces that are objects. */
  services = 0;
  namespaceObjects = 0;

  constructor(space: RecordSpace, options: RecordWriterOptions, observer?: ServiceObserver) {
    const { views } = space;
    this.space = space;
    this.claims = new AddressClaims(
      space,
      (address, service, isOwn) => (isOwn ? this.#hasName(address) : this.#mayClaim(address, service)),
      options.endpointRanges !== undefined,
    );
    const index = new EndpointIndex(space, options.isKubeDns ? writeHashLabel : writeDashed);
    this.slices = new SliceWriter(space, this.claims, index, (service, address) =>
      this.#isOwn(service, address),
    );
    this.stale = new StaleEntries(space);
    this.#words = views.atoms;
    this.#options = options;
    this.#observer = observer;
    this.#fields = new ServiceFields(views);
    this.#ofNamespace = new EntryList(views, SERVICE.NEXT, SERVICE.PREVIOUS);
    this.#all = new EntryList(views, NAMESPACE.NEXT, NAMESPACE.PREVIOUS);
  }

  /**
   * Adds or replaces a service.
   *
   * @param list the number of the list that it is from, as it is stored
   * @returns whether anything changed
   * @throws TableFullError or RecordTooLargeError; what was there before stays
   */
  putService(draft: ServiceDraft, list: number): boolean {
    encodeServiceRecord(this.#buffer, draft, this.#options.keepsAppProtocols);
    return this.#putService(draft.key.items.subarray(0, draft.key.length), list);
  }

  /** As `putService`, with a record that was checked. @param key the labels of the service and of its namespace */
  putServiceRecord(key: Uint8Array, record: Uint8Array, list: number): boolean {
    this.#fill(record);
    return this.#putService(key, list);
  }

  /** Puts the service whose record is in the buffer. */
  #putService(key: Uint8Array, list: number): boolean {
    const entry = this.#getOrCreateService(key);
    this.stale.leaveService(entry);
    this.#words[(entry + SERVICE.LIST) >> 2] = list;
    const before = this.#get(entry + SERVICE.RECORD);
    if (before !== 0 && this.#isSame(before)) return false;
    let record = 0;
    try {
      record = this.#copyRecord();
      this.#showRecord(entry, before, record);
    } catch (error) {
      if (record !== 0) this.space.give(record, this.#buffer.length);
      throw error;
    } finally {
      this.#dropEmptyService(entry);
    }
    if (before !== 0) this.#leaveRecord(entry, before);
    this.#serviceChanged(entry);
    return true;
  }

  /** Shows a record of a service in place of another, 0 for none. @throws TableFullError */
  #showRecord(entry: number, before: number, record: number): void {
    try {
      for (const address of this.#ownAddresses(record))
        this.claims.add(toAddressOctets(address), entry, NO_SLOT);
    } catch (error) {
      this.#disclaim(entry, record);
      throw error;
    }
    this.space.store(entry + SERVICE.RECORD, record);
    this.#setSelects(entry, (this.#get(record) & SELECTS_PODS) !== 0);
    this.#observe(entry, before);
    if (before === 0) this.services++;
  }

  /**
   * Makes an entry of a service of memory of a run that has its key. Call `settle` after its slices; until then no reader may see it.
   *
   * @param length octets of the key: the labels of the service and of its namespace
   * @param record a checked one in the table, 0 for none
   * @param neighbour the entry of a service of the same namespace, 0: not known
   * @returns false if the service is there already
   * @throws TableFullError and leaves the memory as it was
   */
  adoptService(block: number, length: number, record: number, neighbour: number): boolean {
    const { octets } = this.space.views;
    const labelAt = block + SERVICE.KEY + 1 + (octets[block + SERVICE.KEY] ?? 0);
    const namespace =
      neighbour === 0
        ? this.#getOrCreateNamespace(octets.subarray(labelAt, block + SERVICE.KEY + length))
        : this.#get(neighbour + SERVICE.NAMESPACE);
    if (this.space.place(block, RECORD_KIND.SERVICE, length, SERVICE.KEY) !== block) {
      this.#dropEmptyNamespace(namespace);
      return false;
    }
    this.#enter(block, namespace);
    if (record === 0) return true;
    const words = this.#words;
    words[(block + SERVICE.RECORD) >> 2] = record;
    words[(block + SERVICE.FLAGS) >> 2] = (this.#get(record) & SELECTS_PODS) === 0 ? 0 : SERVICE_FLAG.SELECTS;
    this.#observe(block, 0);
    this.services++;
    return true;
  }

  /** Finds out what a service and its slices have in common, after `adoptService`. */
  settle(entry: number): void {
    this.slices.settle(entry);
    this.#serviceChanged(entry);
    this.#dropEmptyService(entry);
  }

  /** Adds or replaces a slice: as `putService`. */
  putSlice(draft: SliceDraft, list: number): boolean {
    encodeSliceRecord(this.#buffer, draft, this.#options.keepsPlaces);
    const { key, service } = draft;
    return this.#putSlice(key.items.subarray(0, key.length), service.items.subarray(0, service.length), list);
  }

  /** As `putSlice`, with a record that was checked. @param of the key of its service */
  putSliceRecord(key: Uint8Array, of: Uint8Array, record: Uint8Array, list: number): boolean {
    this.#fill(record);
    return this.#putSlice(key, of, list);
  }

  /** Puts the slice whose record is in the buffer. */
  #putSlice(key: Uint8Array, of: Uint8Array, list: number): boolean {
    const slice = this.slices.find(key);
    const service = this.#getOrCreateService(of);
    const ready = this.#get(service + SERVICE.READY);
    try {
      if (slice !== 0) this.stale.leaveSlice(slice, this.slices.readService(slice));
      if (slice === 0) this.slices.add(key, service, list, this.#buffer);
      else if (this.slices.readService(slice) === service) {
        if (!this.slices.replace(slice, list, this.#buffer)) return false;
      } else {
        // It belongs to another service now.
        this.dropSlice(slice);
        this.slices.add(key, service, list, this.#buffer);
      }
      this.#serviceChanged(service, ready);
    } finally {
      this.#dropEmptyService(service);
    }
    return true;
  }

  /** @param label of the namespace, in wire form; @returns whether it is new */
  putNamespace(label: Uint8Array, list: number): boolean {
    const entry = this.#getOrCreateNamespace(label);
    this.stale.leaveNamespace(entry);
    this.#words[(entry + NAMESPACE.LIST) >> 2] = list;
    const flags = this.#get(entry + NAMESPACE.FLAGS);
    if ((flags & NAMESPACE_FLAG.HAS_OBJECT) !== 0) return false;
    this.namespaceObjects++;
    this.space.store(entry + NAMESPACE.FLAGS, flags | NAMESPACE_FLAG.HAS_OBJECT);
    return true;
  }

  /**
   * Claims and gives up the addresses of endpoints again, once `endpointRanges` says otherwise of some. Objects may change between
   * two steps.
   */
  *reclaim(): Steps<void> {
    for (const key of this.#keysWithoutSelector()) {
      const done = new Set<AddressValue>();
      while (this.#reclaimSome(this.findService(key), done)) yield;
    }
  }

  /** The keys of the services with slices and without a selector. */
  #keysWithoutSelector(): readonly Uint8Array[] {
    const keys: Uint8Array[] = [];
    for (const namespace of this.namespaces())
      for (const entry of this.listServices(namespace))
        if (!this.#selectsPods(entry) && this.#get(entry + SERVICE.SLICES) !== 0)
          keys.push(serviceKeyAt(this.space.views, entry).slice());
    return keys;
  }

  /** @param done the addresses so far; @returns whether there may be more */
  #reclaimSome(entry: number, done: Set<AddressValue>): boolean {
    if (entry === 0 || this.#selectsPods(entry)) return false;
    let left = ADDRESSES_OF_STEP;
    for (const address of this.slices.listReadyAddresses(entry)) {
      if (done.has(address)) continue;
      done.add(address);
      const octets = toAddressOctets(address);
      if (this.#mayClaim(octets, entry)) this.#claimAgain(octets, entry);
      else if (!this.#isOwn(entry, address)) this.claims.remove(octets, entry);
      left--;
      if (left === 0) return true;
    }
    return false;
  }

  #claimAgain(address: Uint8Array, entry: number): void {
    try {
      // The slot is a hint.
      this.claims.add(address, entry, 0);
    } catch (error) {
      if (!(error instanceof TableFullError)) throw error;
    }
  }

  #selectsPods(entry: number): boolean {
    return (this.#get(entry + SERVICE.FLAGS) & SERVICE_FLAG.SELECTS) !== 0;
  }

  /** Counts one more pod with an address. @param key the label of the namespace, then the octets of the address */
  addPod(key: Uint8Array): void {
    const known = this.space.find(RECORD_KIND.POD, key, POD.KEY);
    const entry = known === 0 ? this.space.add(RECORD_KIND.POD, key, POD.KEY) : known;
    this.#words[(entry + POD.COUNT) >> 2] = this.#get(entry + POD.COUNT) + 1;
  }

  removePod(key: Uint8Array): void {
    const entry = this.space.find(RECORD_KIND.POD, key, POD.KEY);
    if (entry === 0) return;
    const left = this.#get(entry + POD.COUNT) - 1;
    if (left > 0) this.#words[(entry + POD.COUNT) >> 2] = left;
    else this.space.remove(entry);
  }

  hasPod(key: Uint8Array): boolean {
    return this.space.find(RECORD_KIND.POD, key, POD.KEY) !== 0;
  }

  /** The entries of the services that are not from a list. */
  servicesMissingIn(list: number): readonly number[] {
    return [...this.namespaces()]
      .flatMap((namespace) => [...this.listServices(namespace)])
      .filter((entry) => this.#get(entry + SERVICE.RECORD) !== 0 && this.#get(entry + SERVICE.LIST) !== list);
  }

  /** The entries of the namespaces that are objects and not from a list. */
  namespacesMissingIn(list: number): readonly number[] {
    return [...this.namespaces()].filter(
      (entry) => this.isObject(entry) && this.#get(entry + NAMESPACE.LIST) !== list,
    );
  }

  /** @param key the labels of the service and of its namespace; @returns its entry, or 0 */
  findService(key: Uint8Array): number {
    return this.space.find(RECORD_KIND.SERVICE, key, SERVICE.KEY);
  }

  /** As `findService`, if the service is there itself, not only its endpoints. */
  findServiceObject(key: Uint8Array): number {
    const entry = this.findService(key);
    return entry !== 0 && this.#get(entry + SERVICE.RECORD) !== 0 ? entry : 0;
  }

  /** @param label in wire form; @returns its entry, or 0 */
  findNamespace(label: Uint8Array): number {
    return this.space.find(RECORD_KIND.NAMESPACE, label, NAMESPACE.KEY);
  }

  /** The entries of all namespaces. */
  namespaces(): Iterable<number> {
    return this.#entries(this.#all, this.#first);
  }

  /** The entries of a namespace's services, also those without a record. */
  listServices(namespace: number): Iterable<number> {
    return this.#entries(this.#ofNamespace, this.#get(namespace + NAMESPACE.FIRST));
  }

  *#entries(list: EntryList, first: number): Iterable<number> {
    for (let entry = first; entry !== 0; entry = list.readNext(entry)) yield entry;
  }

  /** All addresses of services and of their ready endpoints that may have names, some more than once. */
  *addresses(): Iterable<AddressValue> {
    for (const address of this.#allAddresses()) if (this.claims.has(toAddressOctets(address))) yield address;
  }

  *#allAddresses(): Iterable<AddressValue> {
    for (const namespace of this.namespaces())
      for (const entry of this.listServices(namespace)) {
        const record = this.#get(entry + SERVICE.RECORD);
        if (record !== 0) yield* this.#ownAddresses(record);
        yield* this.slices.listReadyAddresses(entry);
      }
  }

  #get(at: number): number {
    return this.#words[at >> 2] ?? 0;
  }

  #hasName(address: Uint8Array): boolean {
    return this.#options.namesSpecialAddresses || !isSpecialAddress(address);
  }

  /** Whether an endpoint may have names. Any tenant may list any address as one of a service without a selector. */
  #mayClaim(address: Uint8Array, service: number): boolean {
    if (!this.#hasName(address)) return false;
    return this.#selectsPods(service) || this.#options.endpointRanges?.(address) !== false;
  }

  /** Whether the object of a namespace exists. */
  isObject(namespace: number): boolean {
    return (this.#get(namespace + NAMESPACE.FLAGS) & NAMESPACE_FLAG.HAS_OBJECT) !== 0;
  }

  /** Whether the record in the buffer is this one. */
  #isSame(record: number): boolean {
    const { length, words } = this.#buffer;
    if (this.#get(record + SERVICE_RECORD.SIZE) !== length) return false;
    const held = this.space.views.words;
    for (let word = 0; word < length >> 2; word++)
      if (held[(record >> 2) + word] !== words[word]) return false;
    return true;
  }

  /** Fills the buffer with a record. */
  #fill(record: Uint8Array): void {
    this.#buffer.begin(record.length);
    this.#buffer.octets.set(record);
  }

  #copyRecord(): number {
    const { length, words } = this.#buffer;
    const record = this.space.take(length);
    const held = this.space.views.words;
    for (let word = 0; word < length >> 2; word++) held[(record >> 2) + word] = words[word] ?? 0;
    return record;
  }

  /** The entry of a service, added if there is none. */
  #getOrCreateService(key: Uint8Array): number {
    const known = this.findService(key);
    if (known !== 0) return known;
    const namespace = this.#getOrCreateNamespace(key.subarray(1 + (key[0] ?? 0)));
    const entry = this.space.add(RECORD_KIND.SERVICE, key, SERVICE.KEY);
    this.#enter(entry, namespace);
    return entry;
  }

  /** Adds the entry of a service to those of its namespace. */
  #enter(entry: number, namespace: number): void {
    this.#words[(entry + SERVICE.NAMESPACE) >> 2] = namespace;
    this.#ofNamespace.add(entry, this.#get(namespace + NAMESPACE.FIRST));
    this.#words[(namespace + NAMESPACE.FIRST) >> 2] = entry;
  }

  #getOrCreateNamespace(label: Uint8Array): number {
    const known = this.findNamespace(label);
    if (known !== 0) return known;
    const entry = this.space.add(RECORD_KIND.NAMESPACE, label, NAMESPACE.KEY);
    this.#all.add(entry, this.#first);
    this.#first = entry;
    return entry;
  }

  /** Removes the entry of a service without a record and without slices, then its namespace if that is empty. */
  #dropEmptyService(entry: number): void {
    if (this.#get(entry + SERVICE.RECORD) !== 0 || this.#get(entry + SERVICE.SLICES) !== 0) return;
    const namespace = this.#get(entry + SERVICE.NAMESPACE);
    const first = this.#ofNamespace.remove(entry, this.#get(namespace + NAMESPACE.FIRST));
    this.#words[(namespace + NAMESPACE.FIRST) >> 2] = first;
    this.space.remove(entry);
    this.#dropEmptyNamespace(namespace);
  }

  #dropEmptyNamespace(entry: number): void {
    if (this.isObject(entry) || this.#get(entry + NAMESPACE.FIRST) !== 0) return;
    this.#first = this.#all.remove(entry, this.#first);
    this.space.remove(entry);
  }

  /** Removes the object of a namespace. @param entry that has one */
  dropNamespace(entry: number): void {
    this.stale.leaveNamespace(entry);
    this.namespaceObjects--;
    const flags = this.#get(entry + NAMESPACE.FLAGS);
    this.space.store(entry + NAMESPACE.FLAGS, flags & ~NAMESPACE_FLAG.HAS_OBJECT);
    this.#dropEmptyNamespace(entry);
  }

  /** @param slice its entry */
  dropSlice(slice: number): void {
    const service = this.slices.readService(slice);
    const ready = this.#get(service + SERVICE.READY);
    this.stale.leaveSlice(slice, service);
    this.slices.remove(slice);
    this.#serviceChanged(service, ready);
    this.#dropEmptyService(service);
  }

  /** Removes a service, not its endpoints. @param entry that has a record */
  dropService(entry: number): void {
    this.stale.leaveService(entry);
    const record = this.#get(entry + SERVICE.RECORD);
    this.#setSelects(entry, false);
    this.space.store(entry + SERVICE.RECORD, 0);
    this.#observe(entry, record);
    this.services--;
    this.#leaveRecord(entry, record);
    this.#serviceChanged(entry);
    this.#dropEmptyService(entry);
  }

  #observe(entry: number, before: number): void {
    this.#observer?.observeService(
      serviceKeyAt(this.space.views, entry),
      before,
      this.#get(entry + SERVICE.RECORD),
    );
  }

  /**
   * Notes whether a service selects pods. If it does, its names come first for the addresses that others claim too, and it may
   * claim addresses outside the ranges.
   */
  #setSelects(entry: number, selects: boolean): void {
    const flags = this.#get(entry + SERVICE.FLAGS);
    if (((flags & SERVICE_FLAG.SELECTS) !== 0) === selects) return;
    this.space.store(entry + SERVICE.FLAGS, flags ^ SERVICE_FLAG.SELECTS);
    const { endpointRanges } = this.#options;
    for (const address of this.slices.listReadyAddresses(entry)) {
      const octets = toAddressOctets(address);
      if (endpointRanges === undefined || endpointRanges(octets)) this.claims.reorder(octets, entry);
      // The slot is a hint.
      else if (selects) this.claims.add(octets, entry, 0);
      else if (this.#isOwn(entry, address)) this.claims.reorder(octets, entry);
      else this.claims.remove(octets, entry);
    }
  }

  /** Gives up a record that is replaced or removed, and the addresses that only it has. */
  #leaveRecord(entry: number, record: number): void {
    this.#disclaim(entry, record);
    this.space.retire(record, this.#get(record + SERVICE_RECORD.SIZE));
  }

  /** Gives up the addresses of a record that is not that of its service. */
  #disclaim(entry: number, record: number): void {
    let endpoints: ReadonlySet<AddressValue> | undefined;
    for (const address of this.#ownAddresses(record)) {
      if (this.#isOwn(entry, address)) continue;
      endpoints ??= this.slices.listReadyAddresses(entry);
      const octets = toAddressOctets(address);
      if (!endpoints.has(address) || !this.#mayClaim(octets, entry)) this.claims.remove(octets, entry);
    }
  }

  *#ownAddresses(record: number): Iterable<AddressValue> {
    const head = this.#get(record);
    const ipv6At = record + SERVICE_RECORD.ADDRESSES + ((head >>> 8) & 0xff) * 4;
    for (let at = record + SERVICE_RECORD.ADDRESSES; at < ipv6At; at += 4) yield this.#get(at);
    const end = ipv6At + ((head >>> 16) & 0xff) * 16;
    for (let at = ipv6At; at < end; at += 16) yield textAt(this.space.views, at, 16);
  }

  /** Whether an address is a service's own. */
  #isOwn(entry: number, address: AddressValue): boolean {
    const record = this.#get(entry + SERVICE.RECORD);
    if (record === 0) return false;
    for (const own of this.#ownAddresses(record)) if (own === address) return true;
    return false;
  }

  /** Counts a service among those of its namespace that have names, and notes the change. @param ready endpoints until now */
  #serviceChanged(entry: number, ready = this.#get(entry + SERVICE.READY)): void {
    const words = this.#words;
    const readyNow = this.#get(entry + SERVICE.READY);
    if (ready !== readyNow)
      this.#observer?.observeReady(serviceKeyAt(this.space.views, entry), ready, readyNow);
    this.#changes = (this.#changes + 1) | 0;
    words[(entry + SERVICE.VERSION) >> 2] = this.#changes;
    const flags = this.#get(entry + SERVICE.FLAGS);
    const fields = this.#fields;
    fields.load(entry);
    const isExternal = fields.kind === SERVICE_KIND.EXTERNAL;
    const isLive = isExternal ? this.#hasExternalName(fields.target) : isServed(fields);
    const before = flags & (SERVICE_FLAG.LIVE | SERVICE_FLAG.EXTERNAL);
    const now = (isLive ? SERVICE_FLAG.LIVE : 0) | (isLive && isExternal ? SERVICE_FLAG.EXTERNAL : 0);
    if (before === now) return;
    const namespace = this.#get(entry + SERVICE.NAMESPACE);
    const change = (field: number, flag: number) => {
      const more = ((now & flag) !== 0 ? 1 : 0) - ((before & flag) !== 0 ? 1 : 0);
      if (more !== 0) this.space.store(namespace + field, this.#get(namespace + field) + more);
    };
    change(NAMESPACE.LIVE, SERVICE_FLAG.LIVE);
    change(NAMESPACE.EXTERNALS, SERVICE_FLAG.EXTERNAL);
    this.space.store(entry + SERVICE.FLAGS, (flags & ~before) | now);
  }

  #hasExternalName(target: number): boolean {
    if (target === EXTERNAL_TARGET.NAME) return true;
    return target === EXTERNAL_TARGET.ADDRESS && this.#options.isKubeDns;
  }
}

/** Whether a service that is no external name has addresses. */
function isServed({ kind, ipv4, ipv6, hasEndpoints }: ServiceFields): boolean {
  return kind === SERVICE_KIND.CLUSTER ? ipv4 + ipv6 > 0 : kind === SERVICE_KIND.HEADLESS && hasEndpoints;
}
