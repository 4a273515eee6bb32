/**
 * An option: how it is written, and what it does.
 */
import type { Draft } from './draft.ts';

/** One use of an option, at one place. */
export interface Use {
  /** Octets, with escaped characters; undefined where no value was given. */
  readonly value: string | undefined;
  readonly draft: Draft;
  /** @param value what is wrong, where it is not the whole value */
  refuse(fault: string, remedy: string, value?: string): void;
  /** Reports what has no effect, or another effect than expected, in a whole sentence. */
  note(text: string): void;
}

export interface Option {
  /** The long form, without dashes. */
  readonly name: string;
  readonly short?: string;
  /** Other long forms that dnsmasq knows and its `--help` does not show. */
  readonly aliases?: readonly string[];
  readonly takes: OptionValue;
  /** `once` on the command line and once more in a file, which then counts. */
  readonly repeats: 'once' | 'often';
  /** What the value looks like, for `--help`. */
  readonly shows?: string;
  /** For `--help`. */
  readonly means: string;
  readonly standing: Standing;
}

/** `long` is a value that is optional in the long form and never read in the short one. */
export type OptionValue = 'nothing' | 'value' | 'optional' | 'long';

export type Standing =
  | { readonly kind: 'works'; readonly apply: (use: Use) => void }
  /** Values are checked all the same. */
  | { readonly kind: 'no-effect'; readonly why: string; readonly check: (use: Use) => void }
  /** Accepted with any value: it matters only to a feature that is never on. */
  | { readonly kind: 'ignored'; readonly why: string }
  /** `what` it is, as the end of "... , which Portolan does not do". */
  | { readonly kind: 'refused'; readonly what: string }
  /** It steers the reading itself: `conf-file`, `help` and their like. */
  | { readonly kind: 'reading' };

type Shape = Omit<Option, 'name' | 'standing' | 'takes' | 'repeats'> & { readonly takes?: OptionValue };

/** An option without a value; it may be repeated. */
export function flag(name: string, shape: Shape, apply: (draft: Draft) => void): Option {
  const standing = { kind: 'works', apply: (use: Use) => apply(use.draft) } as const;
  return { name, takes: 'nothing', repeats: 'often', ...shape, standing };
}

/** An option with a value that may be given often. */
export function repeatable(name: string, shape: Shape, apply: (use: Use, value: string) => void): Option {
  return { name, takes: 'value', repeats: 'often', ...shape, standing: worksWithValue(apply) };
}

/** An option with a value that may be given once. */
export function single(name: string, shape: Shape, apply: (use: Use, value: string) => void): Option {
  return { name, takes: 'value', repeats: 'once', ...shape, standing: worksWithValue(apply) };
}

/** Options that take a value always have one when they are applied. */
function worksWithValue(apply: (use: Use, value: string) => void): Standing {
  return { kind: 'works', apply: (use) => apply(use, use.value ?? '') };
}
