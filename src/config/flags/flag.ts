/**
 * Flags of a command as data: what the parser, `--help`, the reference page, the man page and shell completions are made from.
 */

interface FlagText {
  /** Without dashes. */
  readonly name: string;
  /** What it does, in one sentence without a final full stop. */
  readonly help: string;
  /** Further sentences, in Markdown, for the reference page alone. */
  readonly details?: string;
  /** The heading that it stands under. */
  readonly group?: string;
}

export interface SwitchFlag extends FlagText {
  readonly value: 'none';
}

export interface ValueFlag extends FlagText {
  readonly value: ValueKind;
  /** What stands for the value in help, as in `port`. */
  readonly valueName: string;
  /** The value that holds where the flag is not given, as it would be written. */
  readonly default?: string;
  /** What holds where the flag is not given, in words, where that is not one value. */
  readonly defaultNote?: string;
  /** Whether it may be given several times. */
  readonly repeats?: true;
  /** The value that it has where it is given without one; with a value it is written `--flag=value`. */
  readonly impliedValue?: string;
}

export type Flag = SwitchFlag | ValueFlag;

export type ValueKind =
  /** Any text but the empty one. `of`: what it is, as in "a namespace". */
  | { readonly kind: 'text'; readonly of: string }
  /** Paths; `path` is a file or a folder. */
  | { readonly kind: 'file' | 'folder' | 'path' }
  /** `of`: what is counted, as in "a number of seconds". */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly of: string }
  /** Octets, as in `16M`. */
  | { readonly kind: 'size'; readonly min: number; readonly max: number }
  /** As in `1m30s`. */
  | { readonly kind: 'duration' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

/** Whether a flag needs a value, may have one, or is a switch. By name, without dashes. */
export type FlagKinds = ReadonlyMap<string, FlagKind>;

type FlagKind = 'value' | 'switch' | { readonly impliedValue: string };

export function kindsOf(flags: readonly Flag[]): FlagKinds {
  return new Map(flags.map((flag) => [flag.name, kindOf(flag)]));
}

function kindOf(flag: Flag): FlagKind {
  if (flag.value === 'none') return 'switch';
  return flag.impliedValue === undefined ? 'value' : { impliedValue: flag.impliedValue };
}

/** `--dns-port <port>`. @param dashes of the program's custom, `-` or `--` */
export function formOf(flag: Flag, dashes = '--'): string {
  const form = `${dashes}${flag.name}`;
  if (flag.value === 'none') return form;
  // A name with brackets of its own is the form of the value.
  if (flag.valueName.includes('<')) return `${form}=${flag.valueName}`;
  return flag.impliedValue === undefined ? `${form} <${flag.valueName}>` : `${form}[=<${flag.valueName}>]`;
}

/** What holds where the flag is not given; nothing for a switch, and where nothing does. */
export function defaultOf(flag: Flag): string | undefined {
  return flag.value === 'none' ? undefined : (flag.defaultNote ?? flag.default);
}

/** The values that there are, where they can be listed. */
export function choicesOf(flag: Flag): readonly string[] {
  return flag.value !== 'none' && flag.value.kind === 'choice' ? flag.value.choices : [];
}
