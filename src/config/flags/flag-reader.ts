/**
 * The values of a command's flags, read by its table: the kind of each value, its range and its default stand there alone.
 */
import { parseDuration } from '../../base/duration.ts';
import type { Problem } from '../values/problem.ts';
import { parseSize } from '../values/size.ts';
import { ValueReader } from '../values/value-reader.ts';
import type { Flag, ValueFlag, ValueKind } from './flag.ts';

/** What a kind of value is read to. Octets and milliseconds are numbers. */
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

/** The texts that a flag was given with, in their order; a switch has `true` or `false`. */
export type GivenTexts = (name: string) => readonly string[];

export class FlagReader<const Table extends readonly Flag[]> extends ValueReader {
  readonly #flags: ReadonlyMap<string, Flag>;
  readonly #given: GivenTexts;
  readonly #dashes: string | ((name: string) => string);

  /**
   * @param dashes how flags are written in messages, all of them or each
   * @param problems where problems are added to
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

  /** The last value given, else the default. A wrong one is a problem, and the default holds. */
  value<Name extends NameIn<Table>>(name: Name): ValueOf<FlagNamed<Table, Name>> {
    // The table gives each name its kind of value, which `#read` returns by the same table.
    return this.#read(this.#valueFlag(name)) as ValueOf<FlagNamed<Table, Name>>;
  }

  /** The last text given, else the text of the default. Unchecked. */
  text(name: NameIn<Table>): string | undefined {
    return this.#given(name).at(-1) ?? this.#valueFlag(name).default;
  }

  /** All texts given, else the text of the default. Unchecked. */
  texts(name: NameIn<Table>): readonly string[] {
    const given = this.#given(name);
    const fallback = this.#valueFlag(name).default;
    return given.length > 0 || fallback === undefined ? given : [fallback];
  }

  /** Refuses a flag that was given without the one that it belongs to. @param remedy how to give that one: `name a file with` */
  requireWith(name: NameIn<Table>, other: NameIn<Table>, remedy: string): void {
    if (!this.isGiven(name) || this.isGiven(other)) return;
    const needed = this.shown(other);
    const fault = `has no effect without ${needed}`;
    this.addProblem(this.shown(name), fault, this.text(name), `Leave it out, or ${remedy} ${needed}.`);
  }

  /** The flag as messages name it: `--default-params`. */
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
