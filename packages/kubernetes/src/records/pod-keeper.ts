/**
 * Keeps the addresses of pods: per pod as text, and as entries that readers find.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { ItemFault, type ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import type { RecordWriter } from '@portolan/kernel/records/record-writer.ts';
import { canonicalAddress } from '../names/endpoints.ts';
import { keyOfObject, type ObjectKey, type PodObject } from '../objects/objects.ts';
import { toWireLabel } from './fill-drafts.ts';
import type { RecordKeeper } from './record-sink.ts';

/** Characters of a line that a message shows. */
const MAX_SHOWN = 80;
const NO_ADDRESSES: readonly string[] = [];

export class PodKeeper implements RecordKeeper<PodObject> {
  readonly #writer: RecordWriter;
  /** The canonical addresses of each pod, in one text. */
  readonly #pods = new Map<ObjectKey, string>();
  /** The pods of the list under way, and its number. */
  #listed = new Set<ObjectKey>();
  #list = 0;
  /** The list that is complete. */
  #swept = 0;

  constructor(writer: RecordWriter) {
    this.#writer = writer;
  }

  put(pod: PodObject, list: number): 'changed' | 'same' | 'unusable' {
    const { namespace, addresses } = pod;
    const label = toWireLabel(namespace);
    if (label === undefined) return 'unusable';
    const key = keyOfObject(pod);
    this.#note(key, list);
    const before = this.#pods.get(key);
    const canonical = new Set(addresses.map(canonicalAddress).filter((address) => address !== undefined));
    const now = [...canonical].join(' ');
    if (now === before) return 'same';
    const former = addressesIn(before);
    for (const address of canonical)
      if (!former.includes(address)) this.#writer.addPod(podKey(label, address));
    this.#pods.set(key, now);
    for (const address of former) if (!canonical.has(address)) this.#writer.removePod(podKey(label, address));
    return 'changed';
  }

  remove(key: ObjectKey): boolean {
    const addresses = this.#pods.get(key);
    const label = toWireLabel(key.slice(0, key.indexOf('/')));
    if (addresses === undefined || label === undefined) return false;
    this.#pods.delete(key);
    for (const address of addressesIn(addresses)) this.#writer.removePod(podKey(label, address));
    return true;
  }

  sweep(list: number): boolean {
    const listed = this.#list === list ? this.#listed : new Set<ObjectKey>();
    const gone = [...this.#pods.keys()].filter((key) => !listed.has(key));
    for (const key of gone) this.remove(key);
    this.#listed = new Set();
    this.#swept = list;
    return gone.length > 0;
  }

  count(): number {
    return this.#pods.size;
  }

  /** Whether a pod of a namespace has an address. @param address canonical */
  has(namespace: string, address: string): boolean {
    const label = toWireLabel(namespace);
    return label !== undefined && this.#writer.hasPod(podKey(label, address));
  }

  /** All pods as text: per line the namespace and the name, then the addresses. */
  copy(): Uint8Array {
    const lines = Array.from(this.#pods, ([key, addresses]) => `${key} ${addresses}\n`);
    return Buffer.from(lines.join(''));
  }

  /** Takes in pods that were copied. They are not from any list. @param guard that a line passes */
  restore(octets: Uint8Array, guard: ItemGuard): void {
    for (const line of Buffer.from(octets.buffer, octets.byteOffset, octets.length).toString().split('\n'))
      if (line !== '')
        guard.take(
          () => line.slice(0, MAX_SHOWN),
          () => this.#restoreLine(line),
        );
  }

  #restoreLine(line: string): void {
    const [key = '', ...addresses] = line.split(' ');
    const [namespace = '', name = '', ...more] = key.split('/');
    if (name === '' || more.length > 0) throw new ItemFault('malformed', 'not the names of a pod');
    this.put({ kind: 'Pod', namespace, name, addresses }, 0);
  }

  #note(key: ObjectKey, list: number): void {
    if (list === this.#swept) return;
    if (list !== this.#list) {
      this.#list = list;
      this.#listed = new Set();
    }
    this.#listed.add(key);
  }
}

function addressesIn(text: string | undefined): readonly string[] {
  return text === undefined || text === '' ? NO_ADDRESSES : text.split(' ');
}

function podKey(label: Uint8Array, address: string): Uint8Array {
  return Buffer.concat([label, parseAddress(address) ?? new Uint8Array()]);
}
