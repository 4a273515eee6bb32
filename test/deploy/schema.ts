/**
 * Checks an object against the recorded schemas of the Kubernetes API. Supports the part of JSON Schema that they use.
 */
import { readRecording } from '../support/recordings.ts';

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  /** Of numbers and dates: says nothing that matters here. */
  readonly format?: string;
}

interface Definition {
  readonly name: string;
  readonly schema: Schema;
}

/** The oldest that knows every field of the manifests, and the newest. */
export const RELEASES = ['v1.26', 'v1.37'] as const;

export class KubernetesSchemas {
  readonly #definitions: ReadonlyMap<string, Schema>;

  constructor(release: (typeof RELEASES)[number]) {
    const definitions = readRecording<Definition>(`test/deploy/schemas/${release}.jsonl`);
    this.#definitions = new Map(definitions.map(({ name, schema }) => [name, schema]));
  }

  /** @returns what is wrong, each with its path; nothing where all is well */
  complaints(object: { readonly apiVersion: string; readonly kind: string }): readonly string[] {
    const definition = [...this.#definitions.values()].find(
      ({ properties }) =>
        properties?.['apiVersion']?.enum?.includes(object.apiVersion) &&
        properties['kind']?.enum?.includes(object.kind),
    );
    if (definition === undefined) return [`no schema: ${object.apiVersion} ${object.kind}`];
    return [...this.#check(definition, object, object.kind)];
  }

  *#check(schema: Schema, value: unknown, path: string): Generator<string> {
    if (schema.$ref !== undefined) {
      const target = this.#definitions.get(schema.$ref);
      if (target === undefined) yield `${path}: no definition ${schema.$ref}`;
      else yield* this.#check(target, value, path);
      return;
    }
    const types = [schema.type ?? []].flat();
    if (types.length > 0 && !types.some((type) => isOfType(type, value)))
      yield `${path}: not ${types.join(' or ')}: ${JSON.stringify(value)}`;
    else if (schema.enum !== undefined && !schema.enum.includes(value))
      yield `${path}: not one of ${schema.enum.join(', ')}: ${JSON.stringify(value)}`;
    if (schema.oneOf !== undefined && this.#countFitting(schema.oneOf, value, path) !== 1)
      yield `${path}: fits not one of the alternatives: ${JSON.stringify(value)}`;
    if (Array.isArray(value) && schema.items !== undefined)
      for (const [at, item] of value.entries()) yield* this.#check(schema.items, item, `${path}[${at}]`);
    else if (isRecord(value)) yield* this.#checkFields(schema, value, path);
  }

  *#checkFields(schema: Schema, value: Readonly<Record<string, unknown>>, path: string): Generator<string> {
    for (const name of schema.required ?? [])
      if (!Object.hasOwn(value, name)) yield `${path}: ${name} is missing`;
    for (const [name, field] of Object.entries(value)) {
      const known = schema.properties?.[name];
      if (known !== undefined) yield* this.#check(known, field, `${path}.${name}`);
      else if (schema.additionalProperties === false) yield `${path}: no such field: ${name}`;
      else if (typeof schema.additionalProperties === 'object')
        yield* this.#check(schema.additionalProperties, field, `${path}.${name}`);
    }
  }

  #countFitting(alternatives: readonly Schema[], value: unknown, path: string): number {
    return alternatives.filter((each) => [...this.#check(each, value, path)].length === 0).length;
  }
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case 'array':
      return Array.isArray(value);
    case 'null':
      return value === null;
    case 'integer':
      return Number.isInteger(value);
    case 'object':
      return isRecord(value);
    default:
      return typeof value === type;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
