/**
 * Reads the values of a command's flags by its table, which defines kind, range and default of each value.
 */
import { parseDuration } from '@portolan/kernel/base/duration.ts';
import type { Problem } from '../values/problem.ts';
import { parseSize } from '../values/size.ts';
import { ValueReader } from '../values/value-reader.ts';
import { type Flag, type FlagsOf, toFlagKey, type ValueFlag, type ValueKind } from './flag.ts';

/** The type that a kind of value is read to. Octets and milliseconds are numbers. */
type ReadValue<Kind> = Kind extends { readonly kind: 'integer' | 'size' | 'duration' }
  ? number
  : Kind extends { readonly kind: 'choice'; readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

export type NameIn<Table extends readonly Flag[]> = Table[number]['name'];
type FlagNamed<Table extends readonly Flag[], Name> = Extract<Table[number], { readonly name: Name }>;
type ValueOf<Named> = Named extends { readonly value: infer Kind }
  ? ReadValue<Kind> | (Named extends { readonly default: string } ? never : undefined)
  : never;

/** The texts given for a flag, in order; a switch has `true` or `false`. */
export type GivenTexts = (name: string) => readonly string[];

export class FlagReader<const Table extends readonly Flag[]> extends ValueReader {
  readonly #flags: ReadonlyMap<string, Flag>;
  readonly #given: GivenTexts;
  readonly #dashes: string | ((name: string) => string);

  /**
   * @param dashes of flags in messages: the same for all, or one for each
   * @param problems the list to add problems to
   */
  constructor(
    table: Table,
    given: GivenTexts,
    dashes: string | ((name: string) => string) = '--',
    problems: Problem[] = [],
  ) {
    super(problems);
    this.#flags = new Map(table.map((flag) => [flag.name, flag]));
    this.#given = given;
    this.#dashes = dashes;
  }

  isGiven(name: NameIn<Table>): boolean {
    return this.#given(name).length > 0;
  }

  isOn(name: NameIn<Table>): boolean {
    return this.#given(name).at(-1) === 'true';
  }

  /** The last value given, otherwise the default. A wrong value adds a problem and yields the default. */
  value<Name extends NameIn<Table>>(name: Name): ValueOf<FlagNamed<Table, Name>> {
    // The table determines the value type of each name, and `#read` follows the same table.
    return this.#read(this.#valueFlag(name)) as ValueOf<FlagNamed<Table, Name>>;
  }

  /** The last text given, otherwise the text of the default. Not validated. */
  text(name: NameIn<Table>): string | undefined {
    return this.#given(name).at(-1) ?? this.#valueFlag(name).default;
  }

  /** All texts given, otherwise the text of the default. Not validated. */
  texts(name: NameIn<Table>): readonly string[] {
    const given = this.#given(name);
    const fallback = this.#valueFlag(name).default;
    return given.length > 0 || fallback === undefined ? given : [fallback];
  }

  /** Reports a flag that is given without another one that it needs. @param remedy how to add that one: `name a file with` */
  requireWith(name: NameIn<Table>, other: NameIn<Table>, remedy: string): void {
    if (!this.isGiven(name) || this.isGiven(other)) return;
    const needed = this.shown(other);
    const fault = `has no effect without ${needed}`;
    const value = this.#flags.get(name)?.value === 'none' ? undefined : this.text(name);
    this.addProblem(this.shown(name), fault, value, `Leave it out, or ${remedy} ${needed}.`);
  }

  /** The flag as messages show it: `--default-params`. */
  shown(name: NameIn<Table>): string {
    return this.#shown(name);
  }

  #shown(name: string): string {
    return `${typeof this.#dashes === 'string' ? this.#dashes : this.#dashes(name)}${name}`;
  }

  #valueFlag(name: string): ValueFlag {
    const flag = this.#flags.get(name);
    if (flag === undefined || flag.value === 'none') throw new TypeError(`no flag with a value: ${name}`);
    return flag;
  }

  #read({ name, value, default: fallback }: ValueFlag): unknown {
    const where = this.#shown(name);
    const given = this.#given(name).at(-1);
    switch (value.kind) {
      case 'integer':
        return this.integer(where, given, value, fallback === undefined ? undefined : Number(fallback));
      case 'size':
        return this.size(where, given, value, fallback === undefined ? undefined : parseSize(fallback));
      case 'duration':
        return this.duration(where, given, fallback === undefined ? undefined : parseDuration(fallback));
      case 'choice':
        return this.choice(where, given, value.choices, fallback);
      default:
        return this.nonEmpty(where, given, describeText(value)) ?? fallback;
    }
  }
}

/** A reader of flags as the command line parser gives them. @param problems the list to add problems to */
export function createFlagReader<const Table extends readonly Flag[]>(
  table: Table,
  flags: FlagsOf<Table>,
  problems: Problem[] = [],
): FlagReader<Table> {
  const given = new Map<string, boolean | string | readonly string[] | undefined>(Object.entries(flags));
  const texts: GivenTexts = (name) => {
    const value = given.get(toFlagKey(name)) ?? [];
    return typeof value === 'object' ? value : [String(value)];
  };
  return new FlagReader(table, texts, '--', problems);
}

function describeText(value: Extract<ValueKind, { kind: 'text' | 'file' | 'folder' | 'path' }>): string {
  switch (value.kind) {
    case 'text':
      return value.of;
    case 'path':
      return 'the path of a file or folder';
    default:
      return `the path of a ${value.kind}`;
  }
}
