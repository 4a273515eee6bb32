/**
 * The texts of the requested keys of a ConfigMap, from any source.
 */

/** By key; missing keys are left out. */
export type ConfigTexts = ReadonlyMap<string, ConfigText>;

export type ConfigText =
  | { readonly kind: 'text'; readonly text: string }
  /** The key exists but cannot be read. */
  | { readonly kind: 'unreadable'; readonly reason: string };

/** Decodes octets, which must be UTF-8 as the values of a ConfigMap. */
export function decodeConfigText(octets: Uint8Array): ConfigText {
  try {
    return { kind: 'text', text: STRICT.decode(octets) };
  } catch {
    return { kind: 'unreadable', reason: 'not UTF-8' };
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
