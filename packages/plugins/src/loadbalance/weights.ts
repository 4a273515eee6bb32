/**
 * Weights of addresses, from a file: a line with a name, then lines with an address and its weight.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { toKey, tryParseKey } from '@portolan/dns/name.ts';
import type { NameKey, ResourceRecord } from '@portolan/dns/types.ts';

/** A fault in the file, in CoreDNS's words. */
export class WeightsError extends Error {
  override readonly name = 'WeightsError';
}

const DEFAULT_WEIGHT = 1;
const MAX_WEIGHT = 255;

export class Weights {
  /** By name, then by the octets of the address as text. */
  readonly #weights: ReadonlyMap<NameKey, ReadonlyMap<string, number>>;

  private constructor(weights: ReadonlyMap<NameKey, ReadonlyMap<string, number>>) {
    this.#weights = weights;
  }

  static readonly NONE = new Weights(new Map());

  /** @param path for messages @throws WeightsError */
  static parse(text: string, path: string): Weights {
    const weights = new Map<NameKey, Map<string, number>>();
    let ofName: Map<string, number> | undefined;
    for (const line of text.split('\n').map((each) => each.trim())) {
      if (line === '' || line.startsWith('#')) continue;
      const [word = '', weight, ...rest] = line.split(/\s+/);
      if (rest.length > 0)
        throw new WeightsError(`could not parse weight line:"${line}" in weight file ${path}`);
      if (weight === undefined) {
        const name = readName(word, path);
        ofName = weights.get(name) ?? new Map();
        weights.set(name, ofName);
      } else {
        const address = readAddress(word, path);
        const value = readWeight(weight, path);
        if (ofName === undefined) throw new WeightsError(`missing domain name in weight file ${path}`);
        if (!ofName.has(address)) ofName.set(address, value);
      }
    }
    return new Weights(weights);
  }

  /** @returns 1 to 255 */
  of({ name, data }: ResourceRecord): number {
    if (data.kind !== 'A' && data.kind !== 'AAAA') return DEFAULT_WEIGHT;
    return this.#weights.get(toKey(name))?.get(toAddressKey(data.address) ?? '') ?? DEFAULT_WEIGHT;
  }
}

function readName(word: string, path: string): NameKey {
  if (parseAddress(word) !== undefined)
    throw new WeightsError(
      `wrong domain name:"${word}" in weight file ${path}. (Maybe a missing weight value?)`,
    );
  const name = tryParseKey(word);
  if (name === undefined) throw new WeightsError(`wrong domain name:"${word}" in weight file ${path}`);
  return name;
}

function readAddress(word: string, path: string): string {
  const octets = toAddressKey(word);
  if (octets === undefined) throw new WeightsError(`wrong IP address:"${word}" in weight file ${path}`);
  return octets;
}

function toAddressKey(address: string): string | undefined {
  return parseAddress(address)?.join();
}

function readWeight(word: string, path: string): number {
  const weight = /^\d+$/.test(word) ? Number(word) : 0;
  if (weight < 1 || weight > MAX_WEIGHT)
    throw new WeightsError(`wrong weight value:"${word}" in weight file ${path}`);
  return weight;
}
