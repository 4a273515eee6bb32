/**
 * The parameters of the autoscaler: the data of its ConfigMap, which has one key, `linear` or `ladder`, whose value is JSON.
 *
 * They are read as in cluster-proportional-autoscaler, with its error messages. Exception: where that program would scale to 0 by
 * mistake, this is an error. This applies to a ladder without rungs and a rung without a replica count.
 */
import { GoJsonError, type JsonNode, parseGoJson } from './go-json.ts';

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
    const read = new FieldReader(mode, parseGoJson(text));
    return mode === 'linear' ? readLinear(read) : readLadder(read);
  } catch (error) {
    if (error instanceof GoJsonError) throw refusal(mode, `could not parse parameters (${error.message})`);
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

const TYPES = { linear: 'linearcontroller.linearParams', ladder: 'laddercontroller.ladderParams' } as const;
/** The largest integer that a number represents exactly. */
const MAX_EXACT = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Reads the fields of an object as Go reads them into a struct: names are case-insensitive, the last of equal names counts, and
 * `null` changes nothing. A value of another type is an error; only the first one is reported.
 */
class FieldReader {
  readonly #struct: string;
  readonly #fields: readonly (readonly [name: string, value: JsonNode])[];
  #firstError: { readonly at: number; readonly words: string } | undefined;

  /** @throws GoJsonError unless it is an object or null */
  constructor(mode: keyof typeof TYPES, node: JsonNode) {
    this.#struct = `${mode}Params`;
    if (node.kind !== 'object' && node.kind !== 'null')
      throw new GoJsonError(`json: cannot unmarshal ${node.kind} into Go value of type ${TYPES[mode]}`);
    this.#fields = node.kind === 'null' ? [] : node.fields;
  }

  float(name: string): number {
    return this.#last(name, 0, (node, refuse) => {
      const value = node.kind === 'number' ? Number(node.text) : Number.NaN;
      return Number.isFinite(value) ? value : refuse(node, 'float64');
    });
  }

  integer(name: string): number {
    return this.#last(name, 0, readInteger);
  }

  flag(name: string): boolean {
    return this.#last(name, false, (node, refuse) =>
      node.kind === 'bool' ? node.value : refuse(node, 'bool'),
    );
  }

  rungs(name: string): readonly WrittenRung[] {
    return this.#last<readonly WrittenRung[]>(
      name,
      [],
      (node, refuse) => {
        if (node.kind !== 'array') return refuse(node, 'laddercontroller.paramEntries');
        return node.items.map((item) => readEntry(item, refuse));
      },
      [],
    );
  }

  /** @throws GoJsonError about the first value of a wrong type */
  finish(): void {
    if (this.#firstError !== undefined) throw new GoJsonError(this.#firstError.words);
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
      const refuse: RefuseNode = (refused, type) => this.#note(at, name, refused, type);
      last = node.kind === 'null' ? (ofNull ?? last) : (read(node, refuse) ?? last);
    }
    return last;
  }

  #note(at: number, field: string, node: JsonNode, type: string): undefined {
    if (this.#firstError !== undefined && this.#firstError.at <= at) return;
    // Go includes the number in the message where it expects a number of another kind.
    const isOfNumbers = type === 'int' || type === 'float64';
    const shown = node.kind === 'number' && isOfNumbers ? `number ${node.text}` : node.kind;
    const words = `json: cannot unmarshal ${shown} into Go struct field ${this.#struct}.${field} of type ${type}`;
    this.#firstError = { at, words };
  }
}

/** Records a value whose type is not the named one. */
type RefuseNode = (node: JsonNode, type: string) => undefined;

function readEntry(node: JsonNode, refuse: RefuseNode): WrittenRung {
  if (node.kind === 'null') return undefined;
  if (node.kind !== 'array') return refuse(node, 'laddercontroller.paramEntry');
  // Ignore items after the two numbers.
  return node.items.slice(0, 2).map((item) => (item.kind === 'null' ? 0 : (readInteger(item, refuse) ?? 0)));
}

/** Reads a 64-bit integer, clamped to the safe integers of JavaScript; no real node count reaches that bound. */
function readInteger(node: JsonNode, refuse: RefuseNode): number | undefined {
  if (node.kind !== 'number' || !/^-?\d+$/.test(node.text)) return refuse(node, 'int');
  const value = BigInt(node.text);
  if (BigInt.asIntN(64, value) !== value) return refuse(node, 'int');
  if (value > MAX_EXACT) return Number.MAX_SAFE_INTEGER;
  return value < -MAX_EXACT ? Number.MIN_SAFE_INTEGER : Number(value);
}
