/**
 * An option: its syntax and its effect.
 */
import type { DnsmasqDraft } from './draft.ts';

/** One occurrence of an option. */
export interface OptionUse {
  /** Octets with escaped characters; undefined without a value. */
  readonly value: string | undefined;
  readonly draft: DnsmasqDraft;
  /** @param value the wrong part, if it is not the whole value */
  refuse(fault: string, remedy: string, value?: string): void;
  /** Reports a setting without effect, or with an unexpected one. @param text a whole sentence */
  note(text: string): void;
}

export interface Option {
  /** The long form, without dashes. */
  readonly name: string;
  readonly short?: string;
  /** Further long forms that dnsmasq accepts but `--help` does not show. */
  readonly aliases?: readonly string[];
  readonly takes: OptionValue;
  /** `once`: once on the command line and once in a file; the file wins. */
  readonly repeats: 'once' | 'often';
  /** The form of the value, for `--help`. */
  readonly shows?: string;
  /** The meaning, for `--help`. */
  readonly means: string;
  readonly standing: OptionStanding;
}

/** `long`: the value is optional in the long form and not allowed in the short one. */
export type OptionValue = 'nothing' | 'value' | 'optional' | 'long';

export type OptionStanding =
  | { readonly kind: 'works'; readonly apply: (use: OptionUse) => void }
  /** Values are still checked. */
  | { readonly kind: 'no-effect'; readonly why: string; readonly check: (use: OptionUse) => void }
  /** Accepted with any value: it affects only a feature that Portolan lacks. */
  | { readonly kind: 'ignored'; readonly why: string }
  /** `what` completes the message "... , which Portolan does not do". */
  | { readonly kind: 'refused'; readonly what: string }
  /** Controls the reading itself: `conf-file`, `help` and similar options. */
  | { readonly kind: 'reading' };

type OptionShape = Omit<Option, 'name' | 'standing' | 'takes' | 'repeats'> & { readonly takes?: OptionValue };

/** An option without a value; may be repeated. */
export function flag(name: string, shape: OptionShape, apply: (draft: DnsmasqDraft) => void): Option {
  const standing = { kind: 'works', apply: (use: OptionUse) => apply(use.draft) } as const;
  return { name, takes: 'nothing', repeats: 'often', ...shape, standing };
}

/** An option with a value; may be given several times. */
export function repeatable(
  name: string,
  shape: OptionShape,
  apply: (use: OptionUse, value: string) => void,
): Option {
  return { name, takes: 'value', repeats: 'often', ...shape, standing: worksWithValue(apply) };
}

/** An option with a value; may be given once. */
export function single(
  name: string,
  shape: OptionShape,
  apply: (use: OptionUse, value: string) => void,
): Option {
  return { name, takes: 'value', repeats: 'once', ...shape, standing: worksWithValue(apply) };
}

/** An option that takes a value always has one when it is applied. */
function worksWithValue(apply: (use: OptionUse, value: string) => void): OptionStanding {
  return { kind: 'works', apply: (use) => apply(use, use.value ?? '') };
}
