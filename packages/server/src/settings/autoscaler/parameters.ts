/**
 * The parameters of the autoscaler: the data of its ConfigMap, which has one key, `linear` or `ladder`, whose value is JSON.
 *
 * They are read as in cluster-proportional-autoscaler, with its error messages, but for those of JSON. Exception: where that
 * program would scale to 0 by mistake, this is an error. This applies to a ladder without rungs and a rung without a replica count.
 */
import { JsonError, type JsonNode, parseJson, showJson } from './json-node.ts';

export interface LinearParameters {
  readonly mode: 'linear';
  /** 0: ignore cores. The same holds for the fields below. */
  readonly coresPerReplica: number;
  readonly nodesPerReplica: number;
  /** At least 1. */
  readonly min: number;
  /** 0: no maximum. */
  readonly max: number;
  readonly preventSinglePointFailure: boolean;
  readonly includeUnschedulableNodes: boolean;
}

export interface Rung {
  /** The lowest number of nodes or cores that this rung applies to. */
  readonly from: number;
  readonly replicas: number;
}

export interface LadderParameters {
  readonly mode: 'ladder';
  /** By `from`, ascending; the last of equal rungs counts. */
  readonly coresToReplicas: readonly Rung[];
  readonly nodesToReplicas: readonly Rung[];
  readonly includeUnschedulableNodes: boolean;
}

export type Parameters = LinearParameters | LadderParameters;

/** The parameters are unusable: no target is scaled until they are corrected. */
export class ParametersError extends Error {
  override readonly name = 'ParametersError';
}

/** `spec.replicas` is a signed number of 32 bits. */
export const MAX_REPLICAS = 2 ** 31 - 1;

/**
 * @param data the data of the ConfigMap
 * @throws ParametersError
 */
export function readParameters(data: ReadonlyMap<string, string>): Parameters {
  const [entry, ...others] = data;
  if (entry === undefined || others.length > 0)
    throw new ParametersError(`invalid configMap format, expected only one entry, got: ${showMap(data)}`);
  const [mode, text] = entry;
  if (mode !== 'linear' && mode !== 'ladder')
    throw new ParametersError(`not a supported control mode: ${mode}`);
  try {
    const read = new FieldReader(parseJson(text));
    return mode === 'linear' ? readLinear(read) : readLadder(read);
  } catch (error) {
    if (error instanceof JsonError) throw refusal(mode, `could not parse parameters (${error.message})`);
    throw error;
  }
}

function refusal(mode: Parameters['mode'], problem: string): ParametersError {
  return new ParametersError(
    `Error syncing configMap with controller: error parsing ${mode} params: ${problem}`,
  );
}

/** Formats a map as Go prints it. */
function showMap(data: ReadonlyMap<string, string>): string {
  const sorted = [...data].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `map[${sorted.map(([key, value]) => `${key}:${value}`).join(' ')}]`;
}

function readLinear(read: FieldReader): LinearParameters {
  const coresPerReplica = read.float('coresPerReplica');
  const nodesPerReplica = read.float('nodesPerReplica');
  const least = read.integer('min');
  const max = read.integer('max');
  const preventSinglePointFailure = read.flag('preventSinglePointFailure');
  const includeUnschedulableNodes = read.flag('includeUnschedulableNodes');
  read.finish();
  if (coresPerReplica === 0 && nodesPerReplica === 0)
    throw refusal(
      'linear',
      'should at least provide either CoresPerReplica or NodesPerReplica (Greater than 0)',
    );
  for (const [name, value] of Object.entries({ coresPerReplica, nodesPerReplica, min: least }))
    if (value < 0) throw refusal('linear', `invalid negative value for ${name}: ${value}`);
  const min = Math.max(1, least);
  if (max !== 0 && max < min)
    throw refusal(
      'linear',
      `max replicas count ${max} should be greater than / equal to min replicas count ${min}`,
    );
  return {
    mode: 'linear',
    coresPerReplica,
    nodesPerReplica,
    min,
    max,
    preventSinglePointFailure,
    includeUnschedulableNodes,
  };
}

function readLadder(read: FieldReader): LadderParameters {
  const cores = read.rungs('coresToReplicas');
  const nodes = read.rungs('nodesToReplicas');
  const includeUnschedulableNodes = read.flag('includeUnschedulableNodes');
  read.finish();
  const coresToReplicas = checkRungs(cores, 'cores_to_replicas_map');
  const nodesToReplicas = checkRungs(nodes, 'nodes_to_replicas_map');
  if (cores.length === 0 && nodes.length === 0)
    throw refusal('ladder', 'should provide coresToReplicas or nodesToReplicas with at least one entry');
  return { mode: 'ladder', coresToReplicas, nodesToReplicas, includeUnschedulableNodes };
}

/** A rung as written; undefined for `null`. */
type WrittenRung = readonly number[] | undefined;

function checkRungs(written: readonly WrittenRung[], name: string): readonly Rung[] {
  return (
    written
      .map((entry) => readRung(entry, name))
      // The sort is stable, so the last of equal rungs is found.
      .toSorted((one, other) => one.from - other.from)
  );
}

function readRung(entry: WrittenRung, name: string): Rung {
  // `null` does not ask for 0 replicas.
  if (entry === undefined) return { from: 0, replicas: 1 };
  const shown = `entry [${entry.join(' ')}] in ${name}`;
  if (entry.some((each) => each < 0)) throw refusal('ladder', `invalid negative values in ${shown}`);
  const [from, replicas] = entry;
  if (from === undefined || replicas === undefined)
    throw refusal('ladder', `${shown} has no number of replicas: give [from, replicas]`);
  if (replicas > MAX_REPLICAS)
    throw refusal('ladder', `more replicas than ${MAX_REPLICAS} in ${shown}: give fewer`);
  return { from, replicas };
}

/** The largest integer that a number represents exactly. */
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);
/** JSON has no leading zeros, so a longer integer exceeds 64 bits. */
const MAX_INTEGER_LENGTH = '-9223372036854775808'.length;

/** What a value must be, and what to write instead. */
interface Expectation {
  readonly fault: string;
  readonly remedy: string;
}

const EXPECTED = {
  number: { fault: 'not a number', remedy: 'Give a number, as in 16 or 0.5.' },
  float: { fault: 'beyond the range of 64-bit floats', remedy: 'Give a smaller number.' },
  integer: { fault: 'not an integer', remedy: 'Give digits only, as in 2.' },
  range: { fault: 'beyond the range of 64-bit integers', remedy: 'Give a smaller number.' },
  flag: { fault: 'not true or false', remedy: 'Give true or false, without quotes.' },
  rungs: { fault: 'not a list of rungs', remedy: 'Give [[from, replicas], ...].' },
  rung: { fault: 'not a rung', remedy: 'Give [from, replicas].' },
} as const satisfies Readonly<Record<string, Expectation>>;

/**
 * Reads the fields of an object as Go reads them into a struct: names are case-insensitive, the last of equal names counts, and
 * `null` changes nothing. A value of another type is an error; only the first one is reported.
 */
class FieldReader {
  readonly #fields: readonly (readonly [name: string, value: JsonNode])[];
  #firstError: { readonly at: number; readonly words: string } | undefined;

  /** @throws JsonError unless it is an object or null */
  constructor(node: JsonNode) {
    if (node.kind !== 'object' && node.kind !== 'null')
      throw new JsonError(`not an object: ${showJson(node)}. Give an object, as in {"nodesPerReplica":16}.`);
    this.#fields = node.kind === 'null' ? [] : node.fields;
  }

  float(name: string): number {
    return this.#last(name, 0, (node, refuse) => {
      if (node.kind !== 'number') return refuse(node, EXPECTED.number);
      const value = Number(node.text);
      return Number.isFinite(value) ? value : refuse(node, EXPECTED.float);
    });
  }

  integer(name: string): number {
    return this.#last(name, 0, readInteger);
  }

  flag(name: string): boolean {
    return this.#last(name, false, (node, refuse) =>
      node.kind === 'bool' ? node.value : refuse(node, EXPECTED.flag),
    );
  }

  rungs(name: string): readonly WrittenRung[] {
    return this.#last<readonly WrittenRung[]>(
      name,
      [],
      (node, refuse) => {
        if (node.kind !== 'array') return refuse(node, EXPECTED.rungs);
        return node.items.map((item) => readEntry(item, refuse));
      },
      [],
    );
  }

  /** @throws JsonError about the first value of a wrong type */
  finish(): void {
    if (this.#firstError !== undefined) throw new JsonError(this.#firstError.words);
  }

  #last<Value>(
    name: string,
    fallback: Value,
    read: (node: JsonNode, refuse: RefuseNode) => Value | undefined,
    ofNull?: Value,
  ): Value {
    let last = fallback;
    for (const [at, [written, node]] of this.#fields.entries()) {
      if (written.toLowerCase() !== name.toLowerCase()) continue;
      const refuse: RefuseNode = (refused, expected) => this.#note(at, name, refused, expected);
      last = node.kind === 'null' ? (ofNull ?? last) : (read(node, refuse) ?? last);
    }
    return last;
  }

  #note(at: number, field: string, node: JsonNode, { fault, remedy }: Expectation): undefined {
    if (this.#firstError !== undefined && this.#firstError.at <= at) return;
    this.#firstError = { at, words: `${field}: ${fault}: ${showJson(node)}. ${remedy}` };
  }
}

/** Records a value that is not as expected. */
type RefuseNode = (node: JsonNode, expected: Expectation) => undefined;

function readEntry(node: JsonNode, refuse: RefuseNode): WrittenRung {
  if (node.kind === 'null') return undefined;
  if (node.kind !== 'array') return refuse(node, EXPECTED.rung);
  // Ignore items after the two numbers.
  return node.items.slice(0, 2).map((item) => (item.kind === 'null' ? 0 : (readInteger(item, refuse) ?? 0)));
}

/** Reads a 64-bit integer, clamped to the safe integers of JavaScript; no real node count reaches that bound. */
function readInteger(node: JsonNode, refuse: RefuseNode): number | undefined {
  if (node.kind !== 'number' || !/^-?\d+$/.test(node.text)) return refuse(node, EXPECTED.integer);
  const value = node.text.length > MAX_INTEGER_LENGTH ? undefined : BigInt(node.text);
  if (value === undefined || BigInt.asIntN(64, value) !== value) return refuse(node, EXPECTED.range);
  if (value > MAX_EXACT) return Number.MAX_SAFE_INTEGER;
  return value < -MAX_EXACT ? Number.MIN_SAFE_INTEGER : Number(value);
}
