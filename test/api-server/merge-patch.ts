/**
 * JSON Merge Patch (RFC 7386 section 2), and the strategic merge patch of Kubernetes, which merges lists of objects too.
 */

/** JSON Merge Patch. */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else merged[field] = mergePatch(merged[field], value);
  }
  return merged;
}

/** The field that identifies an element, by the field that holds the list. All other lists are replaced. */
const MERGE_KEYS: Readonly<Record<string, readonly string[]>> = {
  // Those of containers are identified otherwise than those of a Service.
  ports: ['containerPort', 'port'],
  containers: ['name'],
  volumes: ['name'],
  volumeMounts: ['mountPath'],
  env: ['name'],
};

/**
 * A strategic merge patch, as far as clients of tests send it: `$patch: delete` in lists, `$retainKeys` and `$setElementOrder` left out.
 *
 * Of elements with equal keys, as the two ports 53 of DNS, the first is changed, as in the API server.
 */
export function strategicMerge(target: unknown, patch: unknown, field = ''): unknown {
  if (Array.isArray(patch)) return mergeElements(Array.isArray(target) ? target : [], patch, field);
  if (!isObject(patch)) return patch;
  const merged: Record<string, unknown> = isObject(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (name.startsWith('$')) continue;
    if (value === null) delete merged[name];
    else merged[name] = strategicMerge(merged[name], value, name);
  }
  return merged;
}

function mergeElements(
  target: readonly unknown[],
  patch: readonly unknown[],
  field: string,
): readonly unknown[] {
  const key = MERGE_KEYS[field]?.find((name) =>
    patch.some((element) => isObject(element) && name in element),
  );
  if (key === undefined) return patch;
  let merged = target;
  for (const element of patch) {
    if (!isObject(element)) continue;
    const isSame = (other: unknown) => isObject(other) && other[key] === element[key];
    const at = merged.findIndex(isSame);
    if (element['$patch'] === 'delete') merged = merged.filter((other) => !isSame(other));
    else merged = at === -1 ? [...merged, element] : merged.with(at, strategicMerge(merged[at], element));
  }
  return merged;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
