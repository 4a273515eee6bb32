/**
 * Server-side apply, as far as Portolan uses it: who owns a field is kept in `metadata.managedFields`, a field that its only
 * owner applies no more is removed, and a field of another manager is a conflict unless it is forced.
 *
 * Lists of objects with names are merged by them, as containers are; all other lists are one value.
 */
import type { KubernetesObject } from './object-store.ts';

/** A tree of fields: `f:spec`, `k:{"name":"coredns"}`; a leaf is empty. */
interface FieldSet {
  readonly [field: string]: FieldSet;
}

interface ManagedFields {
  readonly manager: string;
  readonly operation: string;
  readonly fieldsV1: FieldSet;
}

export type Applied =
  | { readonly kind: 'applied'; readonly object: KubernetesObject }
  | { readonly kind: 'conflict'; readonly managers: readonly string[] };

type Fields = Readonly<Record<string, unknown>>;

export function serverSideApply(
  before: KubernetesObject,
  body: Fields,
  manager: string,
  isForced: boolean,
): Applied {
  const wanted = withoutIdentity(body);
  const owned = toFieldSet(wanted);
  const managed = (before.metadata['managedFields'] ?? []) as readonly ManagedFields[];
  const isOwn = (each: ManagedFields) => each.manager === manager && each.operation === 'Apply';
  const others = managed.filter((each) => !isOwn(each));
  const changed = leaves(owned).filter((path) => valueAt(before, path) !== valueAt(wanted, path));
  const rivals = others.filter(({ fieldsV1 }) => changed.some((path) => has(fieldsV1, path)));
  if (rivals.length > 0 && !isForced)
    return { kind: 'conflict', managers: rivals.map((each) => each.manager) };
  const kept = others.map((each) => ({ ...each, fieldsV1: without(each.fieldsV1, changed) }));
  const former = leaves(managed.find(isOwn)?.fieldsV1 ?? {});
  const dropped = former.filter(
    (path) => !has(owned, path) && !kept.some(({ fieldsV1 }) => has(fieldsV1, path)),
  );
  const merged = dropped.reduce(removeAt, merge(before, wanted)) as KubernetesObject;
  const managedFields = [...kept, { manager, operation: 'Apply', fieldsV1: owned }];
  return { kind: 'applied', object: { ...merged, metadata: { ...merged.metadata, managedFields } } };
}

/** Name and namespace of an object belong to nobody. */
function withoutIdentity({ apiVersion: _, kind: _kind, metadata, ...rest }: Fields): Fields {
  const {
    name: _name,
    namespace: _namespace,
    resourceVersion: _version,
    ...own
  } = (metadata ?? {}) as Fields;
  return Object.keys(own).length === 0 ? rest : { ...rest, metadata: own };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isNamed(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => isFields(item) && 'name' in item);
}

const toItemKey = (item: Fields): string => `k:${JSON.stringify({ name: item['name'] })}`;

/** The parts of a value by the names of fields; undefined for a value that has none. */
function listParts(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (isNamed(value)) return value.map((item) => [toItemKey(item), item]);
  if (isFields(value)) return Object.entries(value).map(([name, part]) => [`f:${name}`, part]);
  return undefined;
}

function toFieldSet(value: unknown): FieldSet {
  return Object.fromEntries((listParts(value) ?? []).map(([name, part]) => [name, toFieldSet(part)]));
}

type Path = readonly string[];

function leaves(fields: FieldSet, above: Path = []): readonly Path[] {
  return Object.entries(fields).flatMap(([name, inner]) =>
    Object.keys(inner).length === 0 ? [[...above, name]] : leaves(inner, [...above, name]),
  );
}

function has(fields: FieldSet, [first, ...rest]: Path): boolean {
  if (first === undefined) return true;
  const inner = fields[first];
  return inner !== undefined && has(inner, rest);
}

function without(fields: FieldSet, paths: readonly Path[], above: Path = []): FieldSet {
  const isListed = (path: Path) => paths.some((each) => each.join('\n') === path.join('\n'));
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, inner]) => {
      const path = [...above, name];
      if (isListed(path)) return [];
      const rest = without(inner, paths, path);
      const isEmptied = Object.keys(inner).length > 0 && Object.keys(rest).length === 0;
      return isEmptied ? [] : [[name, rest]];
    }),
  );
}

function valueAt(value: unknown, [first, ...rest]: Path): unknown {
  if (first === undefined) return typeof value === 'object' ? JSON.stringify(value) : value;
  return valueAt(listParts(value)?.find(([name]) => name === first)?.[1], rest);
}

function merge(before: unknown, wanted: unknown): unknown {
  if (isNamed(wanted) && isNamed(before)) {
    const added = wanted.filter((item) => !before.some((each) => toItemKey(each) === toItemKey(item)));
    const changed = before.map((each) =>
      merge(each, wanted.find((item) => toItemKey(item) === toItemKey(each)) ?? {}),
    );
    return [...changed, ...added];
  }
  if (!isFields(wanted) || !isFields(before)) return wanted;
  const merged = Object.entries(wanted).map(([name, part]) => [name, merge(before[name], part)]);
  return { ...before, ...Object.fromEntries(merged) };
}

/** Also removes a map that is left empty, as annotations are. */
function removeAt(value: unknown, [first, ...rest]: Path): unknown {
  if (first === undefined) return undefined;
  if (isNamed(value))
    return value.flatMap((item) => (toItemKey(item) === first ? [removeAt(item, rest) as Fields] : [item]));
  if (!isFields(value)) return value;
  const name = first.slice('f:'.length);
  const { [name]: part, ...others } = value;
  const left = rest.length === 0 ? undefined : removeAt(part, rest);
  const isGone = left === undefined || (isFields(left) && Object.keys(left).length === 0);
  return isGone ? others : { ...value, [name]: left };
}
