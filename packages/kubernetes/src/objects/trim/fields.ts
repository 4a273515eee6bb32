/**
 * Reads untrusted JSON: each reader accepts any value and returns undefined for another type.
 */
export type JsonRecord = Readonly<Record<string, unknown>>;

export function asRecord(value: unknown): JsonRecord | undefined {
  // An object that is not an array has string keys.
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonRecord)
    : undefined;
}

export function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The object that a text of JSON is; undefined for other texts. */
export function parseRecord(text: string): JsonRecord | undefined {
  try {
    return asRecord(JSON.parse(text));
  } catch {
    return undefined;
  }
}

export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The strings of a list; leaves out all other items. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

/** An object whose values are texts, such as labels or the data of a ConfigMap; other values become their texts. */
export function toTextMap(value: unknown): ReadonlyMap<string, string> {
  return new Map(Object.entries(asRecord(value) ?? {}).map(([key, text]) => [key, String(text)]));
}

/** The objects of a list; leaves out all other items. */
export function asRecords(value: unknown): readonly JsonRecord[] {
  const records: JsonRecord[] = [];
  for (const item of asList(value)) {
    const record = asRecord(item);
    if (record !== undefined) records.push(record);
  }
  return records;
}
