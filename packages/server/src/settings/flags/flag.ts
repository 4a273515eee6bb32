/**
 * Flags of a command as data, from which the parser, `--help`, the reference page, the man page and shell completions are made.
 */

interface FlagText {
  /** Without dashes. */
  readonly name: string;
  /** The effect, in one sentence without a final full stop. */
  readonly help: string;
  /** Further sentences in Markdown, only for the reference page. */
  readonly details?: string;
  /** The heading in help under which it is listed. */
  readonly group?: string;
}

export interface SwitchFlag extends FlagText {
  readonly value: 'none';
}

export interface ValueFlag extends FlagText {
  readonly value: ValueKind;
  /** The name of the value in help, such as `port`. */
  readonly valueName: string;
  /** The default value, as written on the command line. */
  readonly default?: string;
  /** The default in words, if it is not a fixed value. */
  readonly defaultNote?: string;
  /** Whether it may be given several times. */
  readonly repeats?: true;
  /** The value if the flag is given without one; an explicit value is written `--flag=value`. */
  readonly impliedValue?: string;
}

export type Flag = SwitchFlag | ValueFlag;

/** The flags of a table as given on the command line, not validated yet, by their names in camel case. */
export type FlagsOf<Table extends readonly Flag[]> = {
  readonly [Of in Table[number] as KeyOf<Of['name']>]?: GivenValue<Of>;
};

type KeyOf<Name extends string> = Name extends `${infer Word}-${infer Rest}`
  ? `${Word}${Capitalize<KeyOf<Rest>>}`
  : Name;
/** The key of a flag in `FlagsOf` its table. */
export function toFlagKey(name: string): string {
  return name.replace(/-(\w)/g, (_dash, letter: string) => letter.toUpperCase());
}

type GivenValue<Of> = Of extends { readonly value: 'none' }
  ? boolean
  : Of extends { readonly repeats: true }
    ? readonly string[]
    : string;

export type ValueKind =
  /** Any text that is not empty. `of`: its meaning, as in "a namespace"; `suggests`: what completions offer. */
  | { readonly kind: 'text'; readonly of: string; readonly suggests?: readonly string[] }
  /** Paths; `path` is a file or a folder. */
  | { readonly kind: 'file' | 'folder' | 'path' }
  /** `of`: the unit, as in "a number of seconds". */
  | { readonly kind: 'integer'; readonly min: number; readonly max: number; readonly of: string }
  /** Octets, as in `16M`. */
  | { readonly kind: 'size'; readonly min: number; readonly max: number }
  /** As in `1m30s`. */
  | { readonly kind: 'duration' }
  | { readonly kind: 'choice'; readonly choices: readonly string[] };

export const REPORT_FORMAT = {
  name: 'output',
  valueName: 'format',
  value: { kind: 'choice', choices: ['text', 'json'] },
  default: 'text',
  help: 'format of the report',
} as const satisfies Flag;

/** Whether a flag needs a value, may have one, or is a switch. By name, without dashes. */
export type FlagKinds = ReadonlyMap<string, FlagKind>;

type FlagKind = 'value' | 'switch' | { readonly impliedValue: string };

export function toFlagKinds(flags: readonly Flag[]): FlagKinds {
  return new Map(flags.map((flag) => [flag.name, toFlagKind(flag)]));
}

function toFlagKind(flag: Flag): FlagKind {
  if (flag.value === 'none') return 'switch';
  return flag.impliedValue === undefined ? 'value' : { impliedValue: flag.impliedValue };
}

/** `--dns-port <port>`. @param dashes as the program writes them, `-` or `--` */
export function formatFlag(flag: Flag, dashes = '--'): string {
  const form = `${dashes}${flag.name}`;
  if (flag.value === 'none') return form;
  // A name with angle brackets already is the form of the value.
  if (flag.valueName.includes('<')) return `${form}=${flag.valueName}`;
  return flag.impliedValue === undefined ? `${form} <${flag.valueName}>` : `${form}[=<${flag.valueName}>]`;
}

/** The default in help; undefined for switches and for flags without a default. */
export function findDefault(flag: Flag): string | undefined {
  return flag.value === 'none' ? undefined : (flag.defaultNote ?? flag.default);
}

/** The possible values, if they can be listed. */
export function listChoices(flag: Flag): readonly string[] {
  return flag.value !== 'none' && flag.value.kind === 'choice' ? flag.value.choices : [];
}

/** The values that completions offer. */
export function listSuggestions(flag: Flag): readonly string[] {
  if (flag.value === 'none' || flag.value.kind !== 'text') return listChoices(flag);
  return flag.value.suggests ?? [];
}
