/**
 * What a ConfigMap holds, wherever it is read from: the texts of the keys that were asked for.
 */

/** By key; keys that are not there are left out. */
export type ConfigTexts = ReadonlyMap<string, ConfigText>;

export type ConfigText =
  | { readonly kind: 'text'; readonly text: string }
  /** There, but not to be had. */
  | { readonly kind: 'unreadable'; readonly reason: string };

/** The text of octets that must be UTF-8, as the values of a ConfigMap are. */
export function decodeConfigText(octets: Uint8Array): ConfigText {
  try {
    return { kind: 'text', text: STRICT.decode(octets) };
  } catch {
    return { kind: 'unreadable', reason: 'not UTF-8' };
  }
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
